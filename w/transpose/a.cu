
__global__ void k(float *out, const float *in, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[x * h + y] = in[y * w + x];
}
int main() { float *x, *y; cudaMalloc(&x, 4 << 20); cudaMalloc(&y, 4 << 20); k<<<dim3(32, 64), dim3(32, 16)>>>(x, y, 1024, 1024); }
