__global__ void scale(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] *= 2;  // expect: CL106 "n % 256 == 0"
}

__global__ void guarded(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] *= 2;
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    float *a;
    cudaMalloc(&a, n * sizeof(float));
    scale<<<(n + 255) / 256, 256>>>(a);
    guarded<<<(n + 255) / 256, 256>>>(a, n);
}
