extern __shared__ double buffer[];
__global__ void __launch_bounds__(256, 2) reduce(double* out, const double* in, long long n, const int* next) {
    unsigned t = threadIdx.x;
    double own = 0;
    int at = 0;
    for (long long i = blockIdx.x * 256ll + t; i < n; i += 256ll * gridDim.x) own += in[i];
    while (next[at] > 0) { at = next[at]; if (at == 7) goto done; }
done:
    buffer[t] = own;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) buffer[t] += buffer[t + s];
        __syncthreads();
    }
    double v = __shfl_down_sync(0xffffffff, own, 16);
    asm volatile("st.global.f64 [%0], %1;" ::"l"(out + blockIdx.x), "d"(v));
    if (!t) out[blockIdx.x + at * 4] = buffer[0];
}
void launch(double* out, const double* in, long long n, const int* next) {
    reduce<<<128, 256, 256 * sizeof(double)>>>(out, in, n, next);
}
