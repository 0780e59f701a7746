// Four floats at a time, behind a header of one float; then the header has a place of its own.

__global__ void behind_one(float *out, const float *in)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    const float4 *rows = reinterpret_cast<const float4 *>(in + 1);
    float4 row = rows[i];
    out[i] = row.x + row.y + row.z + row.w;
}

__global__ void from_the_start(float *out, const float *in)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    const float4 *rows = reinterpret_cast<const float4 *>(in);
    float4 row = rows[i];
    out[i] = row.x + row.y + row.z + row.w;
}

void run(float *out, const float *in)
{
    behind_one<<<4096, 256>>>(out, in);
    from_the_start<<<4096, 256>>>(out, in);
}
