// The source of registers_sm80.cubin: nvcc -cubin -arch=sm_80 -o registers_sm80.cubin registers.cu (CUDA 13.0), and of
// registers_sm90.cubin likewise. `-Xptxas -v` said what test_cubin.py expects.
template <int N>
__global__ void tiled(float *a) {
    __shared__ float s[N];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[N - 1 - threadIdx.x] * sinf(a[threadIdx.x + 5]);
}

namespace {
__global__ void hidden(double *a) { a[0] = exp(a[1]); }
}

static __global__ void internal(int *a) { a[0] = 1; }

extern "C" __global__ void plain(int *a) { a[0] = 1; }

namespace ns {
struct S { int x; };
__global__ void __launch_bounds__(256, 3) bounded(S *a, const float *__restrict__ b) { a[0].x = b[1]; }
}

void launch(float *a) {
    tiled<128><<<1, 128>>>(a);
    hidden<<<1, 32>>>(nullptr);
    internal<<<1, 32>>>(nullptr);
}
