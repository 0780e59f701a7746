__global__ void scale(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= 2.0f;
}

void rounded_down(float *data, int n)
{
    scale<<<n / 256, 256>>>(data, n);  // expect: CL108 "`i` = 256"
}

void rounded_up(float *data, int count)
{
    scale<<<(count + 255) / 256, 256>>>(data, count);
}
