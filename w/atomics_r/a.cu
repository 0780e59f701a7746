
__global__ void k(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(x, 1);
}
int main() { int *x; cudaMalloc(&x, 4); k<<<4096, 256>>>(x, 1 << 20); }
