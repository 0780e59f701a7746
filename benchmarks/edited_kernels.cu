// Kernels that cudalint edits, each with a checksum of its results and the time of a launch.
//
//     cp benchmarks/edited_kernels.cu /tmp/edited.cu
//     cudalint check /tmp/edited.cu --no-config --min-share 0 --fix --unsafe-fixes --exit-zero
//     nvcc -arch=native -o before benchmarks/edited_kernels.cu && nvcc -arch=native -o after /tmp/edited.cu
//     ./before; ./after
//
// The checksums have to be the same bit by bit: no edit changes the order in which anything is computed. That of `turned`
// may differ, as its threads race before.
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void odd_rows(const float *a, const float *v, float *out, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (int j = 1; j < d; j++)
            sum += a[i * d + j] * v[j];
        out[i] = sum;
    }
}

template <typename T>
__global__ void rows_of(const T *a, T *out, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    a += i * d;
    T sum = 0;
    for (int j = 0; j < d; j++) {
        sum += a[j];
    }
    out[i] = sum;
}

__global__ void stored_rows(const float *v, float *b, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int j = 0; j < d - 1; j++)
        b[i * d + j] = i * v[j];
}

template <typename T>
__global__ void pairs(const T *a, T *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T x = a[i];
    b[2 * i] = x;
    b[2 * i + 1] = static_cast<T>(2) * x;
}

__global__ void turned(const float *a, float *out, float most) {
    __shared__ float s[256];
    s[threadIdx.x] = a[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    if (s[255 - threadIdx.x] > most) s[threadIdx.x] = most;
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
}

template <typename Launch>
void measure(const char *name, const void *result, size_t bytes, Launch launch) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    launch();
    cudaEventRecord(begin);
    for (int turn = 0; turn < 20; turn++) launch();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float milliseconds = 0.0f;
    cudaEventElapsedTime(&milliseconds, begin, end);
    std::vector<unsigned char> host(bytes);
    cudaMemcpy(host.data(), result, bytes, cudaMemcpyDeviceToHost);
    unsigned long long sum = 1469598103934665603ull;
    for (unsigned char each : host) sum = (sum ^ each) * 1099511628211ull;
    printf("%-16s checksum %016llx %s\n", name, sum, cudaGetErrorString(cudaGetLastError()));
    printf("%-16s time %.4f ms\n", name, milliseconds / 20);
}

int main() {
    const int n = 200003, d = 129;  // The last warp is not full, and rows begin off sectors.
    const size_t cells = (size_t)n * d;
    std::vector<float> host(cells);
    std::vector<double> wide(cells);
    for (size_t k = 0; k < cells; k++) wide[k] = host[k] = (k * 2654435761u % 1000) / 1000.0f - 0.25f;
    float *a, *b, *v, *out;
    double *c, *e;
    cudaMalloc(&a, cells * sizeof(float));
    cudaMalloc(&b, cells * sizeof(float));
    cudaMalloc(&v, d * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&c, cells * sizeof(double));
    cudaMalloc(&e, n * sizeof(double));
    cudaMemcpy(a, host.data(), cells * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(c, wide.data(), cells * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(v, host.data(), d * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(b, 0, cells * sizeof(float));
    const int blocks = (n + 255) / 256;
    measure("odd_rows", out, n * sizeof(float), [&] { odd_rows<<<blocks, 256>>>(a, v, out, n, d); });
    measure("rows_of<float>", out, n * sizeof(float), [&] { rows_of<<<blocks, 256>>>(a, out, n, d); });
    measure("rows_of<double>", e, n * sizeof(double), [&] { rows_of<<<blocks, 256>>>(c, e, n, d); });
    measure("stored_rows", b, cells * sizeof(float), [&] { stored_rows<<<blocks, 256>>>(v, b, n, d); });
    measure("pairs<float>", b, 2 * n * sizeof(float), [&] { pairs<<<blocks, 256>>>(a, b, n); });
    measure("turned", out, (n / 256) * 256 * sizeof(float), [&] { turned<<<n / 256, 256>>>(a, out, 0.5f); });
    return 0;
}
