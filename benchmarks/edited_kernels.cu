// Kernels that cudalint edits, each with a checksum of its results and the time of a launch.
//
//     cp benchmarks/edited_kernels.cu /tmp/edited.cu
//     cudalint check /tmp/edited.cu --no-config --extend-select CL103,CL603,CL605 --min-share 0 --fix --unsafe-fixes --exit-zero
//     nvcc -arch=native -o before benchmarks/edited_kernels.cu && nvcc -arch=native -o after /tmp/edited.cu
//     ./before; ./after
//
// The checksums have to be the same bit by bit: no edit changes the order in which anything is computed. That of `turned`
// may differ, as its threads race before, as do those of `counted` and `mirrored`, which say whether they are right
// (before, they are by chance); and those of `powers`, `quotients`, `waves` and `exponentials`, whose arithmetic
// rounds otherwise: their means are the same to six digits.
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

__global__ void weighted(const float *a, const float *w, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i];
    float sum = 0.0f;
    for (int k = 0; k < 1024; k += 4) {
        sum += x * w[k];
        sum -= x * x * w[k + 1];
        sum += w[k + 2];
        sum = sum * 0.5f + w[k + 3];
    }
    out[i] = sum;
}

__global__ void short_runs(const float *a, const float *w, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = a[i];
    for (int k = 0; k < 256; k++)
        for (int c = 0; c < 4; c++)
            sum = sum * w[4 * k + c] + 1.0f;
    out[i] = sum;
}

__global__ void powers(const float *a, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i];
    float sum = 0.0f;
    for (int k = 0; k < 200; k++) {
        sum += powf(x + k, 2.0f);
        sum -= pow(sum, 0.5f);
    }
    out[i] = sum;
}

__global__ void quotients(const float *a, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    for (int k = 0; k < 200; k++)
        x = (x + k) / 3.0f;
    out[i] = x;
}

__global__ void waves(const float *a, float *re, float *im, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float step = 0.01f * a[i];
    float x = 0.0f, y = 0.0f;
    for (int k = 0; k < 200; k++) {
        x += cosf(step * k);
        y -= sinf(step * k);
    }
    re[i] = x;
    im[i] = y;
}

__global__ void exponentials(const float *a, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = a[i];
    float sum = 0.0f;
    for (int k = 0; k < 200; k++)
        sum += expf(-x * k);
    out[i] = sum;
}

__global__ void asked_by_launches(const float *a, float *out, int width) {
    extern __shared__ float t[];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    t[threadIdx.y * blockDim.x + threadIdx.x] = a[y * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    out[y * width + x] = t[threadIdx.x * blockDim.x + threadIdx.y];
}

#define SIDE 16

__global__ void named_rows(const float *a, float *out, int width) {
    __shared__ float t [SIDE * SIDE];
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    t[threadIdx.y * SIDE + threadIdx.x] = a[y * width + x];
    __syncthreads();
    x = blockIdx.y * SIDE + threadIdx.x, y = blockIdx.x * SIDE + threadIdx.y;
    out[y * width + x] = t[threadIdx.x * SIDE + threadIdx.y];
}

__global__ void counted(const int *a, int *total, int n) {
    __shared__ int count[64];
    if (threadIdx.x < 64) count[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) count[a[i] & 63]++;
    __syncthreads();
    if (threadIdx.x < 64) total[threadIdx.x] += count[threadIdx.x];
}

__global__ void mirrored(int *a) {
    int base = blockIdx.x * 256;
    int v = a[base + 255 - threadIdx.x];
    a[base + threadIdx.x] = v;
}

void say_whether_right(const char *name, const int *result, const std::vector<int> &expected) {
    std::vector<int> host(expected.size());
    cudaMemcpy(host.data(), result, host.size() * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%-16s %s\n", name, host == expected ? "right" : "wrong");
}

template <typename T, typename Launch>
void measure(const char *name, const T *result, size_t count, Launch launch) {
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
    std::vector<T> host(count);
    cudaMemcpy(host.data(), result, count * sizeof(T), cudaMemcpyDeviceToHost);
    const unsigned char *bytes = reinterpret_cast<const unsigned char *>(host.data());
    unsigned long long sum = 1469598103934665603ull;
    double mean = 0.0;
    for (size_t k = 0; k < count * sizeof(T); k++) sum = (sum ^ bytes[k]) * 1099511628211ull;
    for (T each : host) mean += each / (double)count;
    printf("%-18s checksum %016llx mean %.6g %s\n", name, sum, mean, cudaGetErrorString(cudaGetLastError()));
    printf("%-18s time %.4f ms\n", name, milliseconds / 20);
}

int main() {
    const int n = 200003, d = 129;  // The last warp is not full, and rows begin off sectors.
    const size_t cells = (size_t)n * d;
    std::vector<float> host(cells);
    std::vector<double> wide(cells);
    for (size_t k = 0; k < cells; k++) wide[k] = host[k] = (k * 2654435761u % 1000) / 1000.0f - 0.25f;
    float *a, *b, *v, *w, *out;
    double *c, *e;
    cudaMalloc(&a, cells * sizeof(float));
    cudaMalloc(&b, cells * sizeof(float));
    cudaMalloc(&v, d * sizeof(float));
    cudaMalloc(&w, 1024 * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&c, cells * sizeof(double));
    cudaMalloc(&e, n * sizeof(double));
    cudaMemcpy(a, host.data(), cells * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(c, wide.data(), cells * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(v, host.data(), d * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(w, host.data(), 1024 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(b, 0, cells * sizeof(float));
    const int blocks = (n + 255) / 256;
    measure("odd_rows", out, n, [&] { odd_rows<<<blocks, 256>>>(a, v, out, n, d); });
    measure("rows_of<float>", out, n, [&] { rows_of<<<blocks, 256>>>(a, out, n, d); });
    measure("rows_of<double>", e, n, [&] { rows_of<<<blocks, 256>>>(c, e, n, d); });
    measure("stored_rows", b, cells, [&] { stored_rows<<<blocks, 256>>>(v, b, n, d); });
    measure("pairs<float>", b, 2 * n, [&] { pairs<<<blocks, 256>>>(a, b, n); });
    measure("turned", out, (n / 256) * 256, [&] { turned<<<n / 256, 256>>>(a, out, 0.5f); });
    measure("weighted", out, n, [&] { weighted<<<blocks, 256>>>(a, w, out, n); });
    measure("short_runs", out, n, [&] { short_runs<<<blocks, 256>>>(a, w, out, n); });
    measure("powers", out, n, [&] { powers<<<blocks, 256>>>(a, out, n); });
    measure("quotients", out, n, [&] { quotients<<<blocks, 256>>>(a, out, n); });
    measure("waves", b, n, [&] { waves<<<blocks, 256>>>(a, b, out, n); });
    measure("waves", out, n, [&] { waves<<<blocks, 256>>>(a, b, out, n); });
    measure("exponentials", out, n, [&] { exponentials<<<blocks, 256>>>(a, out, n); });
    const int side = 32, square = 4096;
    const dim3 tiles(square / side, square / side), halves(square / SIDE, square / SIDE);
    measure("asked_by_launches", b, square * square, [&] {
        asked_by_launches<<<tiles, dim3(side, side), side * side * sizeof(float)>>>(a, b, square);
    });
    measure("named_rows", b, square * square, [&] { named_rows<<<halves, dim3(SIDE, SIDE)>>>(a, b, square); });

    const int whole = n / 256 * 256;
    std::vector<int> numbers(n), counts(64, 0), turned_round(whole);
    for (int k = 0; k < n; k++) counts[(numbers[k] = k * 2654435761u >> 7) & 63]++;
    for (int k = 0; k < whole; k++) turned_round[k] = numbers[k / 256 * 256 + 255 - k % 256];
    int *in, *total;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&total, 64 * sizeof(int));
    cudaMemcpy(in, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    measure("counted", total, 64, [&] {
        cudaMemset(total, 0, 64 * sizeof(int));
        counted<<<blocks, 256>>>(in, total, n);
    });
    say_whether_right("counted", total, counts);
    measure("mirrored", in, whole, [&] { mirrored<<<n / 256, 256>>>(in); });  // An odd number of times.
    say_whether_right("mirrored", in, turned_round);
    return 0;
}
