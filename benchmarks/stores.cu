// How many clocks an SM takes for a request whose lanes store, or load past L1, with a stride, while all SMs do:
// `nvcc -O3 -arch=sm_90 -std=c++17 -o stores benchmarks/stores.cu && ./stores`.
//
// H100, 16 MB that stay in L2, clocks per request of 32 floats and SM (at 1.98 GHz):
//
//   stride in floats          1     2     3     4     5     6     7     8     9    12    16    24    32
//   sectors of a request      4     8    12    16    20    24    28    32    32    32    32    32    32
//   loads, one field       13.2  12.8  14.1  16.1  22.2  26.4  31.4  34.3  34.8  34.8  35.3  47.9  64.7
//   stores, one field      11.5  21.1  30.8  41.0  51.0  61.9  74.9  83.0  84.3  89.8  97.6   116   132
//   stores, all fields     11.4   9.6  11.3  12.9  17.6  25.9  62.5  93.5  92.7  98.1   105   123   137
//
// A sector of a load takes 1.1 clocks, one of a store 2.6, whole or not. Stores of neighbouring fields are put together
// on their way if records have up to 6 floats.
#include <cstdio>
// Every warp stores requests of 32 lanes with a stride, into a region of its own: `whole` writes all elements of records
// of S floats one after the other, else only the first element.
template<int S, bool WHOLE> __global__ void st(float *out, size_t n, int reps) {
    size_t warps = (size_t)gridDim.x * blockDim.x / 32, w = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31; size_t region = 32 * S;
    for (int r = 0; r < reps; r++) {
        size_t base = ((r * warps + w) * region) % n;
        float *p = out + base + lane * S;
        if (WHOLE) {
#pragma unroll
            for (int k = 0; k < S; k++) asm volatile("st.global.f32 [%0], %1;" :: "l"(p + k), "f"((float)k));
        } else asm volatile("st.global.f32 [%0], %1;" :: "l"(p), "f"((float)r));
    }
}
// Random-like loads past L1 from L2: one sector each lane, stride S.
template<int S> __global__ void ld2(const float *in, float *out, size_t n, int reps) {
    size_t warps = (size_t)gridDim.x * blockDim.x / 32, w = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31; size_t region = 32 * S; float s = 0;
    for (int r = 0; r < reps; r++) {
        const float *p = in + ((r * warps + w) * region) % n + lane * S; float v;
        asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(p)); s += v;
    }
    if (s == 1.5f) out[0] = s;
}
template<class F> float ms(F f) { cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); f(); float best = 1e9; for (int r = 0; r < 5; r++) { cudaEventRecord(a); f(); cudaEventRecord(b); cudaEventSynchronize(b); float t; cudaEventElapsedTime(&t, a, b); if (t < best) best = t; } return best; }
float *in, *out; double ghz;
template<int S> void stores(size_t mb) {
    size_t n = mb << 18; n -= n % (32 * S); int blocks = 132 * 8; size_t warps = (size_t)blocks * 8; int reps = (int)(((size_t)512 << 18) / (warps * 32 * S)); if (reps < 4) reps = 4;
    float w = ms([&]{ st<S, true><<<blocks, 256>>>(out, n, reps); }), f = ms([&]{ st<S, false><<<blocks, 256>>>(out, n, reps * 4); }), l = ms([&]{ ld2<S><<<blocks, 256>>>(out, in, n, reps * 4); });
    double req = (double)warps * reps * S, req1 = (double)warps * reps * 4; double clocks = ghz * 1e6;
    printf("%5zu MB stride %2d floats: whole records %.2f clocks/request and SM (%.0f GB/s useful); first element only %.2f; loads from L2 %.2f\n", mb, S, w * clocks * 132 / req, req * 128 / w / 1e6, f * clocks * 132 / req1, l * clocks * 132 / req1);
}
int main() {
    cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); int khz; cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0); ghz = khz / 1e6; printf("%s %.2f GHz\n", p.name, ghz);
    cudaMalloc(&in, 1ul << 30); cudaMalloc(&out, 2ul << 30); cudaMemset(in, 0, 1ul << 30);
    for (size_t mb : {16ul, 1536ul}) { stores<1>(mb); stores<2>(mb); stores<3>(mb); stores<4>(mb); stores<5>(mb); stores<6>(mb); stores<7>(mb); stores<8>(mb); stores<9>(mb); stores<12>(mb); stores<15>(mb); stores<16>(mb); stores<20>(mb); stores<24>(mb); stores<31>(mb); stores<32>(mb); }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
