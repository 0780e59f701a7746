
__global__ void k(float *out, const float *in) {
    __shared__ float s[128];
    s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int o = 64; o > 0; o /= 2) { if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o]; __syncthreads(); }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
int main() { float *x, *y; cudaMalloc(&x, 4 << 20); cudaMalloc(&y, 4 << 20); k<<<256, 256>>>(x, y); }
