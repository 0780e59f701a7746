// What a file does not show can be said in comments: here the launch, which is elsewhere, the row length, and that a
// finding is known.

// cudalint: launch(block = dim3(32, 8), grid = dim3(32, 128))
// cudalint: assume(pitch == 1024)
__global__ void pack(const float *in, float *out, int pitch, int rows)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows)
        // cudalint: allow(uncoalesced-access) -- runs once, when the program starts
        out[column * rows + row] = in[row * pitch + column];
}
