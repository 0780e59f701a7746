// How long a kernel takes that loads or stores records field by field, one record for each thread, beside one that does
// the same with an array for each field: `nvcc -O3 -arch=sm_90 -o records benchmarks/records.cu && ./records`.
//
// H100, 1.5 GiB each way, best of 8, times of records over times of arrays:
//
//   floats   2    3    4    5    6    7    9    12   15   20   24    32
//   loads   0.95 0.99 0.99 0.99 1.00 0.98 0.98 0.99 0.97 0.97  1.16  2.97
//   stores  1.00 1.00 1.00 1.63 2.53 3.20 5.12 8.93 5.18 5.98 11.54 15.29
#include <cstdio>
template<int S> __global__ void loads(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
    float s = 0;
#pragma unroll
    for (int k = 0; k < S; k++) s += in[S * i + k];
    if (s == 12345.678f) out[i] = s;
}
template<int S> __global__ void stores(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
#pragma unroll
    for (int k = 0; k < S; k++) out[S * i + k] = i + k;
}
// the same bytes, coalesced
template<int S> __global__ void loads_c(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
    float s = 0;
#pragma unroll
    for (int k = 0; k < S; k++) s += in[k * n + i];
    if (s == 12345.678f) out[i] = s;
}
template<int S> __global__ void stores_c(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
#pragma unroll
    for (int k = 0; k < S; k++) out[k * n + i] = i + k;
}
template<class F> float ms(F f) { cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); f(); float best = 1e9; for (int r = 0; r < 8; r++) { cudaEventRecord(a); f(); cudaEventRecord(b); cudaEventSynchronize(b); float t; cudaEventElapsedTime(&t, a, b); if (t < best) best = t; } return best; }
template<int S> void go(float *in, float *out, long total) {
    int n = total / S; int g = (n + 255) / 256;
    float l = ms([&]{ loads<S><<<g, 256>>>(in, out, n); }), lc = ms([&]{ loads_c<S><<<g, 256>>>(in, out, n); });
    float s = ms([&]{ stores<S><<<g, 256>>>(in, out, n); }), sc = ms([&]{ stores_c<S><<<g, 256>>>(in, out, n); });
    printf("record of %2d floats: loads %.3f ms vs soa %.3f (%.2fx); stores %.3f vs %.3f (%.2fx)\n", S, l, lc, l / lc, s, sc, s / sc);
}
int main() { long t = 3l << 27; float *in, *out; cudaMalloc(&in, t * 4); cudaMalloc(&out, t * 4); cudaMemset(in, 0, t * 4);
 go<2>(in,out,t); go<3>(in,out,t); go<4>(in,out,t); go<5>(in,out,t); go<6>(in,out,t); go<7>(in,out,t); go<9>(in,out,t); go<12>(in,out,t); go<15>(in,out,t); go<20>(in,out,t); go<24>(in,out,t); go<32>(in,out,t); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize())); }
