// cudalint: assume(n < 0x1.fffffffffffffp+9999, m < 0x1p+4)
__global__ void scaled(float *x, int n, int m)
{
    if (threadIdx.x < n) x[threadIdx.x * m] = 1.0f;
}
