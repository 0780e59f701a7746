__global__ void sums(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = in[2 * i]  // expect: CL103 "2 neighbouring elements of `in` one by one, 8 bytes", CL101 "stride 2"
           + in[2 * i + 1];  // expect: CL101 "stride 2"
}

__global__ void sums_of_pairs(const float2 *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float2 v = in[i];
    out[i] = v.x + v.y;
}

void run(const float *in, float *out)
{
    sums<<<1024, 256>>>(in, out);
    sums_of_pairs<<<1024, 256>>>((const float2 *)in, out);
}
