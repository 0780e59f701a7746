
__global__ void k(float *out, const float *in, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) { out[i] = in[i]; out[i+1] = in[i+1]; out[i+2] = in[i+2]; out[i+3] = in[i+3]; }
}
int main() { float *x, *y; cudaMalloc(&x, 4 << 20); cudaMalloc(&y, 4 << 20); k<<<1024, 256>>>(x, y, 1 << 20); }
