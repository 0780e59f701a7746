#include <cstdio>
#define TILE 32
struct Particle { float x, y, z; int kind; };
__constant__ float weights[9];

template <typename T, int N>
__device__ T sum(const T* values) {
    T total = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) total += values[i];
    return total;
}

// cudalint: assume(width % 32 == 0)
__global__ void transpose(float* out, const float* in, int width) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    out[x * width + y] = tile[threadIdx.x][threadIdx.y];
}

__global__ void move(Particle* all, const int* order, int n, float dt) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    if (threadIdx.x % 2 == 0) all[order[i]].x += dt * weights[i % 9];
    else all[i].y = sum<float, 3>(&all[i].x);
    switch (all[i].kind) { case 0: atomicAdd(&all[0].kind, 1); break; default: __syncwarp(); }
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
    float *a, *b;
    Particle* p;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&p, n * sizeof(*p));
    transpose<<<dim3(32, 32), dim3(TILE, TILE)>>>(a, b, 1024);
    for (int step = 0; step < 10; step++) move<<<(n + 255) / 256, 256>>>(p, (int*)a, n, 0.1f);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
