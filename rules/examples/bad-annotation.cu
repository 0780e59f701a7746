__global__ void copy(const float *in, float *out)
{
    // cudalint: allow(uncoalesced-access)
    out[threadIdx.x] = in[2 * threadIdx.x];  // expect: CL101
}

// cudalint: launch(block = dim3(32, 8))
__global__ void described(const float *in, float *out)
{
    int i = threadIdx.y * 32 + threadIdx.x;
    out[i] = in[2 * i];  // cudalint: allow(uncoalesced-access) -- runs once, when the program starts
}

void run(const float *in, float *out)
{
    copy<<<1, 256>>>(in, out);
}
