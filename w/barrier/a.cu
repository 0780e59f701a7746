
__global__ void k(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __shared__ float s[256];
    s[threadIdx.x] = x[i];
    __syncthreads();
    x[i] = s[255 - threadIdx.x];
}
int main() { float *x; cudaMalloc(&x, 4 << 20); k<<<4, 256>>>(x, 1000); }
