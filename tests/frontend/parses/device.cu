// What device code may use without any #include.
__global__ void atomics(float* x, unsigned* u, unsigned long long* ull)
{
    atomicAdd(u, 1);
    atomicAdd(x, 2);
    atomicCAS(ull, 0, 1);
    atomicMax_block(u, 3);
    atomicExch(&x[1], 1);
    atomicMin((int*)u, threadIdx.x);
}
__device__ double atomicAdd(double* address, double value);  // a file's own overload is no error

__global__ void warp(float* x, int i)
{
    float f = __shfl_down_sync(~0u, x[i], 1) + __shfl_xor_sync(0xffffffff, 1.0f, 16, 8);
    i = __ballot_sync(~0u, i > 3) + __any_sync(~0u, 1) + __match_any_sync(~0u, i) + __reduce_add_sync(~0u, i);
    __syncwarp();
    x[__activemask() & 31] = f;
}

__global__ void barriers(int* x)
{
    __syncthreads();
    x[0] = __syncthreads_count(x[1]) + __syncthreads_or(x[2]);
    __threadfence();
    __nanosleep(20);
}

__global__ void hints(float* x)
{
    float f = __ldg(x + 1);
    float4 v = __ldcs((const float4*)x);
    __stcs((float4*)x, v);
    __stwt(x, f);
}

__global__ void math(float* x, double* y, int i)
{
    float f = sinf(x[0]) + sqrt(i) + pow(x[1], 2) + fmaxf(x[2], 1) + rsqrtf(x[3]) + __expf(x[4]) + fma(x[5], x[6], x[7]);
    double d = exp(y[0]) + erfinv(y[1]) + std::sqrt(y[2]) + std::pow(y[3], 2) + fabs(y[4]);
    x[0] = abs(f) + std::abs(f) + __fdividef(f, 2) + __fmaf_rn(f, f, f);
    y[0] = isnan(d) ? INFINITY : d;
}

__global__ void integers(unsigned* x, int i)
{
    x[0] = __popc(x[1]) + __clz(i) + __ffs(i) + __brev(x[2]) + __byte_perm(x[3], x[4], 0x3210);
    x[1] = __dp4a(i, i, i) + __funnelshift_l(x[5], x[6], 1) + __umulhi(x[7], 3) + __umul24(x[8], 2);
    x[2] = min(i, 3) + max(x[9], 3u) + std::max(i, 3) + std::min({i, 1, 2});
    std::swap(x[3], x[4]);
}

__global__ void casts(float* x, double* y)
{
    int i = __float_as_int(x[0]);
    x[1] = __int_as_float(i) + __uint2float_rn(3);
    y[0] = __longlong_as_double(__double_as_longlong(y[1])) + __hiloint2double(1, 2);
}

__global__ void shared(float* x)
{
    extern __shared__ __align__(16) char raw[];
    __shared__ alignas(32) float tile[32];
    __shared__ alignas(alignof(float4)) float other[32];
    tile[threadIdx.x] = raw[0];
    other[threadIdx.x] = x[threadIdx.x];
    assert(tile[0] < 3);
    printf("%d\n", warpSize);
}

__global__ void __launch_bounds__(256, 2) __cluster_dims__(2, 1, 1) bounded(const __grid_constant__ int n) {}

__global__ void parent(float* x) { hints<<<1, 32>>>(x); }
