// Functions of a warp, with masks.

__global__ void half_of_the_warp(const float *in, float *out)
{
    float v = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x % 32 < 16)
        v += __shfl_down_sync(0xffffffffu, v, 8);  // expect: CL304
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void vote_under_a_guard(const int *in, unsigned *votes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned ballot = __ballot_sync(0xffffffffu, in[i] > 0);  // expect: CL304
        if (threadIdx.x % 32 == 0)
            votes[i / 32] = ballot;
    }
}

__global__ void old_shuffle(const float *in, float *out)
{
    float v = in[blockIdx.x * 32 + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_down(v, offset);  // expect: CL304
    if (threadIdx.x == 0)
        out[blockIdx.x] = v;
}

__global__ void barrier_of_some(const float *in, float *out)
{
    __shared__ float s[128];
    int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 128 + tid];
    __syncthreads();
    if (tid < 64) {
        s[tid] += s[tid + 64];
        __syncthreads();  // expect: CL302
    }
    if (tid == 0)
        out[blockIdx.x] = s[0] + s[63];
}

__global__ void left_early(const float *in, float *out, int n)
{
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0.0f;
    if (threadIdx.x == 255)
        return;
    __syncthreads();  // expect: CL302
    if (i < n)
        out[i] = s[threadIdx.x + 1] - s[threadIdx.x];
}
