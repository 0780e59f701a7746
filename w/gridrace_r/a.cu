
__global__ void k(float *x, int n) {
    int i = threadIdx.x;
    x[i * n] += 1.0f;
}
int main() { float *x; cudaMalloc(&x, 65536); k<<<64, 256>>>(x, 3); }
