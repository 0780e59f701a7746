// Five ways in which a warp reads 32 floats, from the best to the worst.

__global__ void neighbours(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

__global__ void shifted(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + 1];
}

__global__ void every_other(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[2 * i];
}

struct Particle { float x, y, z, vx, vy, vz, mass, charge; };

__global__ void member(const Particle *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i].x;
}

__global__ void by_column(const float *in, float *out, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * width];
}

void run(const float *in, const Particle *particles, float *out)
{
    neighbours<<<4096, 256>>>(in, out);
    shifted<<<4096, 256>>>(in, out);
    every_other<<<4096, 256>>>(in, out);
    member<<<4096, 256>>>(particles, out);
    by_column<<<4096, 256>>>(in, out, 1024);
}
