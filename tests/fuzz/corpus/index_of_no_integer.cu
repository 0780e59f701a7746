__shared__ float tile[unknown][unknown];
__global__ void k(const float *a, float *b, int n) {
    for (int i = (undeclared(n), threadIdx.x * --9223372036854775807LL - 0.0 / 0); i < unknown; ++i)
        b += a[n * unknown + i] * tile[i][n];
}
