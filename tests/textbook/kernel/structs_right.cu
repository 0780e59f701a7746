// A simulation with records, as a textbook begins it.

struct Bodies {
    float *x, *y, *z, *mass;
    float *vx, *vy, *vz, *radius;
};

__global__ void drag(Bodies bodies, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        bodies.radius[i] *= factor;
}

// The median of 32 numbers: each thread sorts a list of its own.
__global__ void medians(const float *in, float *out, int n)
{
    __shared__ float lists[32][128];
    int tid = threadIdx.x, i = blockIdx.x * 128 + tid;
    for (int k = 0; k < 32; k++)
        lists[k][tid] = in[k * n + i];
    for (int round = 0; round < 31; round++)
        for (int k = 0; k < 31 - round; k++) {
            float a = lists[k][tid], b = lists[k + 1][tid];
            lists[k][tid] = fminf(a, b);
            lists[k + 1][tid] = fmaxf(a, b);
        }
    out[i] = lists[16][tid];
}
