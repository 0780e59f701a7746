// Each warp reverses its own 32 numbers, and relies on its lanes running in lock-step.
__global__ void reversed(const float *in, float *out)
{
    __shared__ float s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = in[i];
    out[i] = s[threadIdx.x ^ 31];  // expect: CL304 "thread (31, 0, 0) reads it while thread (0, 0, 0) may still write it"
}

__global__ void with_barrier(const float *in, float *out)
{
    __shared__ float s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = in[i];
    __syncwarp();
    out[i] = s[threadIdx.x ^ 31];
}

void run(const float *in, float *out)
{
    reversed<<<64, 64>>>(in, out);
    with_barrier<<<64, 64>>>(in, out);
}
