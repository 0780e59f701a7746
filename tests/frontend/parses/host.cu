#include <algorithm>
#include <chrono>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <cufft.h>
#include <cusparse.h>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <sys/time.h>
#include <thread>
#include <vector>
struct Point { int x; };
std::ostream& operator<<(std::ostream& out, const Point& point) { return out << point.x; }
__constant__ float table[4];
__global__ void k(float* x, int n) {}

void launches(float* x, int n, cudaStream_t stream)
{
    k<<<dim3(n / 32, 2), 32, 16, stream>>>(x, n);
    void* arguments[] = {&x, &n};
    cudaLaunchKernel((void*)k, dim3(1), dim3(32), arguments, 0, stream);
    cudaLaunchCooperativeKernel((const void*)k, 1, 32, arguments);
    cudaLaunchConfig_t config = {};
    config.gridDim = 4;
    cudaLaunchKernelEx(&config, k, x, n);
}

int main(int argc, char** argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1024;
    float* x;
    if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess) std::cerr << "no memory\n";
    cudaMalloc((void**)&x, n);
    cudaMemcpyToSymbol(table, x, 16);
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    launches(x, n, 0);

    std::vector<std::vector<float>> v(n, std::vector<float>(4));
    std::map<std::string, std::vector<int>> m;
    for (auto& entry : m) std::cout << entry.first << std::setw(3) << entry.second.size() << std::endl;
    for (auto& [name, values] : m) std::cout << name << Point{int(values.size())} << std::fixed << '\n';
    auto start = std::chrono::steady_clock::now();
    auto us = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count();
    std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    std::mt19937 engine(std::random_device{}());
    std::uniform_real_distribution<float> uniform(0, 1);
    v[0][1] = uniform(engine) + ms.count();
    std::sort(v[0].begin(), v[0].end(), [](float a, float b) { return a < b; });
    std::thread worker([&] { v[0].push_back(us); });
    worker.join();
    auto owned = std::make_unique<float[]>(n);
    std::ifstream file(argv[1], std::ios::binary);
    std::string line;
    while (std::getline(file, line)) std::stringstream(line) >> owned[0];
    timeval now;
    gettimeofday(&now, NULL);
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, x, x, n, x, n, x, x, n);
    cufftHandle plan;
    cufftPlan1d(&plan, n, CUFFT_C2C, 1);
    CUdevice device;
    cuDeviceGet(&device, 0);
    return 0;
}

// Names that headers of projects use, with what they do with them.
#include <cstddef>
#include <functional>
#include <stdalign.h>
#include <type_traits>
#include <cudaTypedefs.h>
constexpr std::byte low(std::byte b) { return b & std::byte{15}; }
static_assert(std::to_integer<int>(low(std::byte{0x1f}) << 1) == 30);
struct Caught : std::exception { const char* what() const noexcept override { return ""; } };
struct Shared : std::enable_shared_from_this<Shared> { std::shared_ptr<const Shared> self() const { return shared_from_this(); } };
void kept(std::unique_ptr<void, void (*)(void*)>& owner, std::shared_ptr<void> other);
PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
const int narrow_types[] = {CUDA_R_4F_E2M1, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, cudaLaunchAttributeLaunchCompletionEvent};
#if __CUDA_ARCH_HAS_FEATURE__(SM100_ALL)
#error "of another architecture"
#endif
__device__ unsigned packed(unsigned a, unsigned b) { return __vabsss4(a) + __vhaddu2(a, b) + __vsetleu4(a, b); }
