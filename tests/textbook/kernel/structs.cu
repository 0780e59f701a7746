// A simulation with records, as a textbook begins it.

struct Body {
    float3 position;
    float mass;
    float3 velocity;
    float radius;
};

__global__ void drag(Body *bodies, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        bodies[i].radius *= factor;  // expect: CL101
}

// The median of 32 numbers: each thread sorts a list of its own.
__global__ void medians(const float *in, float *out, int n)
{
    __shared__ float lists[128][32];
    int tid = threadIdx.x, i = blockIdx.x * 128 + tid;
    for (int k = 0; k < 32; k++)
        lists[tid][k] = in[k * n + i];
    for (int round = 0; round < 31; round++)
        for (int k = 0; k < 31 - round; k++) {
            float a = lists[tid][k], b = lists[tid][k + 1];  // expect: CL201 CL201
            lists[tid][k] = fminf(a, b);  // expect: CL201
            lists[tid][k + 1] = fmaxf(a, b);  // expect: CL201
        }
    out[i] = lists[tid][16];
}
