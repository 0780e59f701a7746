// The rows of a matrix begin at multiples of 16 bytes only if their length is a multiple of four.
__global__ void sums(const float *A, float *out, int K)
{
    float4 v = reinterpret_cast<const float4 *>(&A[blockIdx.x * K])[threadIdx.x];  // expect: CL102 "needs `K % 4 == 0`: with K = "
    out[blockIdx.x * blockDim.x + threadIdx.x] = v.x + v.y + v.z + v.w;
}

// cudalint: assume(K % 4 == 0)
__global__ void promised(const float *A, float *out, int K)
{
    float4 v = reinterpret_cast<const float4 *>(&A[blockIdx.x * K])[threadIdx.x];
    out[blockIdx.x * blockDim.x + threadIdx.x] = v.x + v.y + v.z + v.w;
}

void run(const float *A, float *out, int rows, int K)
{
    sums<<<rows, 64>>>(A, out, K);
    promised<<<rows, 64>>>(A, out, K);
}
