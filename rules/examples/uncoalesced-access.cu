// Neighbouring threads write neighbouring rows: each lane of a warp is in a sector of its own.
__global__ void columns(float *out, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    out[row * width + col] = 0.0f;  // expect: CL101 "16 sectors per request, ideal 4"
}

// Neighbouring threads write neighbouring columns.
__global__ void rows(float *out, int width)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    out[row * width + col] = 0.0f;
}

void clear(float *out)
{
    dim3 block(16, 16), grid(256, 256);
    columns<<<grid, block>>>(out, 4096);
    rows<<<grid, block>>>(out, 4096);
}
