// Loads of four floats, and sizes that no block divides.
#include <cstdio>

__global__ void shifted(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 4 < n) {
        float4 v = *reinterpret_cast<const float4 *>(x + 4 * i + 1);  // expect: CL102
        y[i] = v.x + v.y + v.z + v.w;
    }
}

__global__ void square(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = x[i] * x[i];  // expect: CL107
}

int main()
{
    const int n = 1 << 20, odd = 1000;
    float *x, *y, *z;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n / 4 * sizeof(float));
    cudaMalloc(&z, odd * sizeof(float));
    shifted<<<n / 4 / 256, 256>>>(x, y, n);
    square<<<(odd + 255) / 256, 256>>>(z, odd);
    cudaDeviceSynchronize();
    return 0;
}
