// PyTorch's side of the CUDA runtime: streams, guards, checks, and what kernels use of it.
#pragma once
#include "tensor.h"
#pragma clang force_cuda_host_device begin
#include <cublas_v2.h>
#include <cusparse.h>

#define C10_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define C10_CUDA_CHECK_WARN(...) ((void)(__VA_ARGS__))
#define C10_CUDA_ERROR_HANDLED(...) (__VA_ARGS__)
#define C10_CUDA_IGNORE_ERROR(...) ((void)(__VA_ARGS__))
#define C10_CUDA_CLEAR_ERROR() ((void)0)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define TORCH_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define AT_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define AT_CUDA_DRIVER_CHECK(...) ((void)(__VA_ARGS__))
#define TORCH_CUDABLAS_CHECK(...) ((void)(__VA_ARGS__))
#define TORCH_CUSPARSE_CHECK(...) ((void)(__VA_ARGS__))
#define THCudaCheck(...) ((void)(__VA_ARGS__))
#define CUDA_KERNEL_ASSERT(...) ((void)0)
#define CUDA_KERNEL_ASSERT2(...) ((void)0)
#define TORCH_DSA_KERNEL_ARGS [[maybe_unused]] void* const assertions_data, [[maybe_unused]] uint32_t assertion_caller_id
#define TORCH_DSA_KERNEL_ARGS_PASS assertions_data, assertion_caller_id
#define TORCH_DSA_KERNEL_LAUNCH(kernel, blocks, threads, bytes, stream, ...) kernel<<<blocks, threads, bytes, stream>>>(__VA_ARGS__, nullptr, 0)
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                                             \
    for (index_type i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)

namespace c10 {
typedef int64_t StreamId;
struct Stream {
    StreamId id() const;
    Device device() const;
};
namespace cuda {
struct CUDAStream {
    operator cudaStream_t() const;
    operator Stream() const;
    cudaStream_t stream() const;
    StreamId id() const;
    DeviceIndex device_index() const;
    Device device() const;
    Stream unwrap() const;
    void synchronize() const;
    bool query() const;
};
CUDAStream getCurrentCUDAStream(DeviceIndex = -1);
CUDAStream getDefaultCUDAStream(DeviceIndex = -1);
CUDAStream getStreamFromPool(bool = false, DeviceIndex = -1);
CUDAStream getStreamFromExternal(cudaStream_t, DeviceIndex);
void setCurrentCUDAStream(CUDAStream);
DeviceIndex current_device();
DeviceIndex device_count();
void set_device(DeviceIndex);
void device_synchronize();
void stream_synchronize(cudaStream_t);
#define _CUDALINT_GUARD(NAME)                                                                               \
    struct NAME {                                                                                           \
        template <class... _A> explicit NAME(_A&&...) {}                                                    \
        template <class... _A> void set_index(_A&&...) {}                                                   \
        template <class... _A> void set_device(_A&&...) {}                                                  \
        template <class... _A> void reset_stream(_A&&...) {}                                                \
    };
_CUDALINT_GUARD(CUDAGuard)
_CUDALINT_GUARD(OptionalCUDAGuard)
_CUDALINT_GUARD(CUDAStreamGuard)
_CUDALINT_GUARD(OptionalCUDAStreamGuard)
_CUDALINT_GUARD(CUDAMultiStreamGuard)
namespace CUDACachingAllocator {
Allocator* get();
void* raw_alloc(size_t);
void* raw_alloc_with_stream(size_t, cudaStream_t);
void raw_delete(void*);
void emptyCache();
void recordStream(const DataPtr&, CUDAStream);
}  // namespace CUDACachingAllocator
}  // namespace cuda
_CUDALINT_GUARD(DeviceGuard)
_CUDALINT_GUARD(OptionalDeviceGuard)
_CUDALINT_GUARD(StreamGuard)
#undef _CUDALINT_GUARD
}  // namespace c10

namespace at {
namespace cuda {
using namespace c10::cuda;
inline cudaDeviceProp* getCurrentDeviceProperties() {
    cudaDeviceProp properties;  // Nothing here is ever run, and the evaluator knows no end of its life.
    cudaGetDeviceProperties(&properties, 0);
    return &properties;
}
inline cudaDeviceProp* getDeviceProperties(int64_t) { return getCurrentDeviceProperties(); }
inline int warp_size() { return 32; }
bool is_available();
int64_t getNumGPUs();
Allocator* getCUDADeviceAllocator();
cublasHandle_t getCurrentCUDABlasHandle();
cusparseHandle_t getCurrentCUDASparseHandle();
template <class _T> inline _T ATenCeilDiv(_T a, _T b) { return (a + b - 1) / b; }
inline dim3 getApplyBlock(int threads = 512) { return dim3(threads); }
struct CUDAEvent {
    CUDAEvent(unsigned = 0);
    void record();
    void record(const CUDAStream&);
    void block(const CUDAStream&);
    float elapsed_time(const CUDAEvent&) const;
    void synchronize() const;
};
namespace detail {
constexpr int CUDA_NUM_THREADS = 1024;
inline int GET_BLOCKS(const int64_t N, const int64_t threads = CUDA_NUM_THREADS) { return (N - 1) / threads + 1; }
bool canUse32BitIndexMath(const Tensor&, int64_t = 0);
const Generator& getDefaultCUDAGenerator(DeviceIndex = -1);
}  // namespace detail
namespace philox {
std::tuple<uint64_t, uint64_t> unpack(PhiloxCudaState);
}
}  // namespace cuda
template <class _T> inline _T ceil_div(_T a, _T b) { return (a + b - 1) / b; }
template <class _T> inline _T ceilDiv(_T a, _T b) { return (a + b - 1) / b; }
}  // namespace at

c10::Half atomicAdd(c10::Half*, c10::Half);
c10::BFloat16 atomicAdd(c10::BFloat16*, c10::BFloat16);
int64_t atomicAdd(int64_t*, int64_t);
int8_t atomicAdd(int8_t*, int8_t);
uint8_t atomicAdd(uint8_t*, uint8_t);
int16_t atomicAdd(int16_t*, int16_t);
bool atomicAdd(bool*, bool);
template <class _T> _T gpuAtomicAdd(_T*, _cudalint::same<_T>);
template <class _T> void gpuAtomicAddNoReturn(_T*, _cudalint::same<_T>);
template <class _T> _T gpuAtomicMul(_T*, _cudalint::same<_T>);
template <class _T> _T gpuAtomicMax(_T*, _cudalint::same<_T>);
template <class _T> _T gpuAtomicMin(_T*, _cudalint::same<_T>);
template <class _T> _T WARP_SHFL(_T value, int lane, int width = 32, unsigned mask = 0xffffffff) {
    return __shfl_sync(mask, value, lane, width);
}
template <class _T> _T WARP_SHFL_XOR(_T value, int lanes, int width = 32, unsigned mask = 0xffffffff) {
    return __shfl_xor_sync(mask, value, lanes, width);
}
template <class _T> _T WARP_SHFL_UP(_T value, unsigned by, int width = 32, unsigned mask = 0xffffffff) {
    return __shfl_up_sync(mask, value, by, width);
}
template <class _T> _T WARP_SHFL_DOWN(_T value, unsigned by, int width = 32, unsigned mask = 0xffffffff) {
    return __shfl_down_sync(mask, value, by, width);
}
inline unsigned WARP_BALLOT(int predicate, unsigned mask = 0xffffffff) { return __ballot_sync(mask, predicate); }
#pragma clang force_cuda_host_device end
