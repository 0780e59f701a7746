// Reductions of the first chapters.
#define N_THREADS 256

// Sum, sum of squares, least and largest number at once.
__global__ void reduce_modulo(const float *in, float4 *out)
{
    __shared__ float sum[N_THREADS], squares[N_THREADS], least[N_THREADS], largest[N_THREADS];
    unsigned tid = threadIdx.x;
    float v = in[blockIdx.x * N_THREADS + tid];
    sum[tid] = v;
    squares[tid] = v * v;
    least[tid] = v;
    largest[tid] = v;
    __syncthreads();
    for (unsigned step = N_THREADS / 2; step > 0; step /= 2) {
        if (tid < step) {
            sum[tid] += sum[tid + step];
            squares[tid] += squares[tid + step];
            least[tid] = fminf(least[tid], least[tid + step]);
            largest[tid] = fmaxf(largest[tid], largest[tid + step]);
        }
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = make_float4(sum[0], squares[0], least[0], largest[0]);
}

__global__ void reduce_strided(const float *in, float *out)
{
    __shared__ float s[N_THREADS];
    unsigned tid = threadIdx.x;
    s[tid] = in[blockIdx.x * N_THREADS + tid];
    __syncthreads();
    for (unsigned step = N_THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = s[0];
}

__global__ void reduce_unordered(const float *in, float *out)
{
    __shared__ float s[N_THREADS];
    unsigned tid = threadIdx.x;
    s[tid] = in[blockIdx.x * N_THREADS + tid];
    __syncthreads();
    for (unsigned step = N_THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = s[0];
}

__global__ void reduce_volatile(const float *in, float *out)
{
    __shared__ volatile float s[64];
    unsigned tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 64 + tid];
    __syncthreads();
    if (tid < 32) {
        float sum = s[tid] + s[tid + 32];
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
        s[tid] = sum;
    }
    if (tid == 0)
        out[blockIdx.x] = s[0];
}

__global__ void reduce_by_atomics(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? in[i] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

__global__ void reduce_without_atomics(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += in[i] * in[i];
}
