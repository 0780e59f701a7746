// Reversing the elements of each block, with the barrier missing, in the wrong place, and right.

constexpr int THREADS = 256;

__global__ void missing(const float *in, float *out)
{
    __shared__ float s[THREADS];
    int t = threadIdx.x, first = blockIdx.x * THREADS;
    s[t] = in[first + t];
    out[first + t] = s[THREADS - 1 - t];
}

__global__ void conditional(const float *in, float *out)
{
    __shared__ float s[THREADS];
    int t = threadIdx.x, first = blockIdx.x * THREADS;
    if (t < 200) {
        s[t] = in[first + t];
        __syncthreads();
        out[first + t] = s[199 - t];
    }
}

__global__ void right(const float *in, float *out)
{
    __shared__ float s[THREADS];
    int t = threadIdx.x, first = blockIdx.x * THREADS;
    s[t] = in[first + t];
    __syncthreads();
    out[first + t] = s[THREADS - 1 - t];
}

void run(const float *in, float *out)
{
    missing<<<64, THREADS>>>(in, out);
    conditional<<<64, THREADS>>>(in, out);
    right<<<64, THREADS>>>(in, out);
}
