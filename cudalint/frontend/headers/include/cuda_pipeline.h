#pragma once
#pragma clang force_cuda_host_device begin
void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zero_fill = 0);
void __pipeline_commit();
void __pipeline_wait_prior(size_t);
namespace nvcuda {
namespace experimental {
struct pipeline {
    size_t commit();
    void wait(size_t);
    template <unsigned _N> void wait_prior();
};
template <class _T> void memcpy_async(_T& target, const _T& source, pipeline&);
}  // namespace experimental
}  // namespace nvcuda
#pragma clang force_cuda_host_device end
