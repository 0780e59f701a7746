// Particles that move: an array of structs, or a struct of arrays.
#include <cstdlib>

struct Particles {
    float *x, *y, *z, *mass;
    float *vx, *vy, *vz, *charge;
};

__global__ void move(Particles p, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    p.x[i] += p.vx[i] * dt;
}

__global__ void total_mass_of_blocks(Particles p, float *sums)
{
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = p.mass[i];
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (threadIdx.x < width)
            s[threadIdx.x] += s[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = s[0];
}

int main()
{
    const int n = 1 << 20;
    float *sums;
    cudaMalloc(&sums, n / 256 * sizeof(float));
    Particles p;
    cudaMalloc(&p.x, n * sizeof(float));
    cudaMalloc(&p.vx, n * sizeof(float));
    cudaMalloc(&p.mass, n * sizeof(float));
    for (int step = 0; step < 100; step++)
        move<<<(n + 255) / 256, 256>>>(p, n, 0.01f);
    total_mass_of_blocks<<<n / 256, 256>>>(p, sums);
    cudaDeviceSynchronize();
    return 0;
}
