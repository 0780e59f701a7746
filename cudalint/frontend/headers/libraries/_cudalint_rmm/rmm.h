// RAPIDS' memory manager: streams, and memory on the device that containers hold.
#pragma once
#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#pragma clang force_cuda_host_device begin
namespace rmm {
struct cuda_stream_view {
    cudaStream_t _stream;
    constexpr cuda_stream_view() : _stream(nullptr) {}
    constexpr cuda_stream_view(cudaStream_t stream) : _stream(stream) {}
    constexpr cudaStream_t value() const { return _stream; }
    constexpr operator cudaStream_t() const { return _stream; }
    bool is_per_thread_default() const;
    bool is_default() const;
    void synchronize() const;
    void synchronize_no_throw() const;
    bool operator==(cuda_stream_view) const;
    bool operator!=(cuda_stream_view) const;
};
inline const cuda_stream_view cuda_stream_default{};
inline const cuda_stream_view cuda_stream_legacy{};
inline const cuda_stream_view cuda_stream_per_thread{};
struct cuda_stream {
    template <class... _A> explicit cuda_stream(const _A&...) {}
    bool is_valid() const;
    cudaStream_t value() const;
    cuda_stream_view view() const;
    operator cudaStream_t() const;
    operator cuda_stream_view() const;
    void synchronize() const;
    void synchronize_no_throw() const;
};
struct cuda_stream_pool {
    static constexpr size_t default_size = 16;
    template <class... _A> explicit cuda_stream_pool(const _A&...) {}
    cuda_stream_view get_stream() const;
    cuda_stream_view get_stream(size_t) const;
    size_t get_pool_size() const;
};
struct cuda_device_id {
    int _id;
    constexpr explicit cuda_device_id(int id) : _id(id) {}
    constexpr int value() const { return _id; }
};
struct cuda_set_device_raii { explicit cuda_set_device_raii(cuda_device_id) {} };
cuda_device_id get_current_cuda_device();
int get_num_cuda_devices();
std::pair<size_t, size_t> available_device_memory();
size_t percent_of_free_device_memory(int);
inline constexpr size_t CUDA_ALLOCATION_ALIGNMENT = 256;
constexpr size_t align_up(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }
constexpr size_t align_down(size_t value, size_t alignment) { return value / alignment * alignment; }
template <class... _A> void prefetch(const _A&...);

/// Whatever gives memory; what is asked of it is asked of containers here.
struct _any_resource {
    template <class... _A> _any_resource(const _A&...) {}
    template <class... _A> void* allocate(const _A&...) const;
    template <class... _A> void deallocate(const _A&...) const;
    template <class... _A> void* allocate_async(const _A&...) const;
    template <class... _A> void deallocate_async(const _A&...) const;
    template <class... _A> void* allocate_sync(const _A&...) const;
    template <class... _A> void deallocate_sync(const _A&...) const;
};
typedef _any_resource device_async_resource_ref;
typedef _any_resource device_resource_ref;
typedef _any_resource host_async_resource_ref;
typedef _any_resource host_resource_ref;
typedef _any_resource host_device_async_resource_ref;
typedef _any_resource host_device_resource_ref;
namespace mr {
#define _CUDALINT_RESOURCE(NAME) struct NAME : device_memory_resource { using device_memory_resource::device_memory_resource; };
#define _CUDALINT_ADAPTOR(NAME)                                                                             \
    template <class _U = device_memory_resource> struct NAME : device_memory_resource {                     \
        using device_memory_resource::device_memory_resource;                                               \
    };
struct device_memory_resource {
    template <class... _A> explicit device_memory_resource(const _A&...) {}
    template <class... _A> void* allocate(const _A&...);
    template <class... _A> void deallocate(const _A&...);
};
_CUDALINT_RESOURCE(cuda_memory_resource)
_CUDALINT_RESOURCE(cuda_async_memory_resource)
_CUDALINT_RESOURCE(managed_memory_resource)
_CUDALINT_RESOURCE(pinned_memory_resource)
_CUDALINT_RESOURCE(pinned_host_memory_resource)
_CUDALINT_ADAPTOR(pool_memory_resource)
_CUDALINT_ADAPTOR(binning_memory_resource)
_CUDALINT_ADAPTOR(limiting_resource_adaptor)
_CUDALINT_ADAPTOR(statistics_resource_adaptor)
_CUDALINT_ADAPTOR(logging_resource_adaptor)
#undef _CUDALINT_RESOURCE
#undef _CUDALINT_ADAPTOR
device_async_resource_ref get_current_device_resource_ref();
device_memory_resource* get_current_device_resource();
template <class... _A> device_async_resource_ref set_current_device_resource(const _A&...);
template <class... _A> device_async_resource_ref set_current_device_resource_ref(const _A&...);
template <class... _A> device_async_resource_ref set_per_device_resource(const _A&...);
template <class... _A> device_async_resource_ref get_per_device_resource_ref(const _A&...);
template <class... _A> void reset_per_device_resource(const _A&...);
template <class _T> struct polymorphic_allocator {
    typedef _T value_type;
    template <class... _A> polymorphic_allocator(const _A&...) {}
    _T* allocate(size_t, cuda_stream_view = {});
    void deallocate(_T*, size_t, cuda_stream_view = {});
};
template <class _T> struct thrust_allocator : thrust::device_allocator<_T> {
    template <class... _A> thrust_allocator(const _A&...) {}
};
}  // namespace mr

template <class _T> struct device_uvector {
    typedef _T value_type;
    typedef size_t size_type;
    typedef _T& reference;
    typedef const _T& const_reference;
    typedef _T* pointer;
    typedef const _T* const_pointer;
    typedef _T* iterator;
    typedef const _T* const_iterator;
    _T* _data;
    size_t _size;
    device_uvector(size_t size, cuda_stream_view, _any_resource = {}) : _size(size) { cudaMalloc(&_data, size * sizeof(_T)); }
    device_uvector(const device_uvector& other, cuda_stream_view, _any_resource = {}) : _size(other._size)
    {
        cudaMalloc(&_data, _size * sizeof(_T));
    }
    device_uvector(device_uvector&& other) noexcept : _data(other._data), _size(other._size) {}
    device_uvector& operator=(device_uvector&& other) noexcept
    {
        _data = other._data;
        _size = other._size;
        return *this;
    }
    void resize(size_t size, cuda_stream_view)
    {
        _size = size;
        cudaMalloc(&_data, size * sizeof(_T));
    }
    void reserve(size_t, cuda_stream_view) {}
    void shrink_to_fit(cuda_stream_view) {}
    pointer element_ptr(size_t index) { return _data + index; }
    const_pointer element_ptr(size_t index) const { return _data + index; }
    template <class _V> void set_element(size_t, const _V&, cuda_stream_view) {}
    template <class _V> void set_element_async(size_t, const _V&, cuda_stream_view) {}
    void set_element_to_zero_async(size_t, cuda_stream_view) {}
    _T element(size_t, cuda_stream_view) const;
    _T front_element(cuda_stream_view) const;
    _T back_element(cuda_stream_view) const;
    size_t capacity() const { return _size; }
    size_t size() const { return _size; }
    int64_t ssize() const { return _size; }
    bool is_empty() const { return _size == 0; }
    pointer data() { return _data; }
    const_pointer data() const { return _data; }
    iterator begin() { return _data; }
    iterator end() { return _data + _size; }
    const_iterator begin() const { return _data; }
    const_iterator end() const { return _data + _size; }
    const_iterator cbegin() const { return _data; }
    const_iterator cend() const { return _data + _size; }
    std::reverse_iterator<iterator> rbegin();
    std::reverse_iterator<iterator> rend();
    _any_resource memory_resource() const;
    cuda_stream_view stream() const;
    void set_stream(cuda_stream_view) {}
};
template <class _T> struct device_scalar {
    typedef _T value_type;
    _T* _data;
    explicit device_scalar(cuda_stream_view = {}, _any_resource = {}) { cudaMalloc(&_data, sizeof(_T)); }
    device_scalar(const _T&, cuda_stream_view, _any_resource = {}) { cudaMalloc(&_data, sizeof(_T)); }
    device_scalar(const device_scalar&, cuda_stream_view, _any_resource = {}) { cudaMalloc(&_data, sizeof(_T)); }
    device_scalar(device_scalar&& other) noexcept : _data(other._data) {}
    device_scalar& operator=(device_scalar&&) noexcept;
    _T value(cuda_stream_view) const;
    void set_value_async(const _T&, cuda_stream_view) {}
    void set_value_to_zero_async(cuda_stream_view) {}
    _T* data() { return _data; }
    const _T* data() const { return _data; }
    size_t size() const { return 1; }
    cuda_stream_view stream() const;
};
struct device_buffer {
    void* _data;
    size_t _size;
    device_buffer() : _data(nullptr), _size(0) {}
    explicit device_buffer(size_t size, cuda_stream_view, _any_resource = {}) : _size(size) { cudaMalloc(&_data, size); }
    device_buffer(const void*, size_t size, cuda_stream_view, _any_resource = {}) : _size(size) { cudaMalloc(&_data, size); }
    device_buffer(const device_buffer& other, cuda_stream_view, _any_resource = {}) : _size(other._size) { cudaMalloc(&_data, _size); }
    device_buffer(device_buffer&& other) noexcept : _data(other._data), _size(other._size) {}
    device_buffer& operator=(device_buffer&&) noexcept;
    void reserve(size_t, cuda_stream_view) {}
    void resize(size_t size, cuda_stream_view)
    {
        _size = size;
        cudaMalloc(&_data, size);
    }
    void shrink_to_fit(cuda_stream_view) {}
    void* data() { return _data; }
    const void* data() const { return _data; }
    size_t size() const { return _size; }
    int64_t ssize() const { return _size; }
    size_t capacity() const { return _size; }
    bool is_empty() const { return _size == 0; }
    cuda_stream_view stream() const;
    void set_stream(cuda_stream_view) {}
};
template <class _T> using device_vector = thrust::device_vector<_T>;
struct exec_policy : decltype(thrust::device) { template <class... _A> exec_policy(const _A&...) {} };
struct exec_policy_nosync : exec_policy { using exec_policy::exec_policy; };
#define _CUDALINT_ERROR(NAME) struct NAME : std::runtime_error { using std::runtime_error::runtime_error; };
_CUDALINT_ERROR(logic_error)
_CUDALINT_ERROR(cuda_error)
_CUDALINT_ERROR(bad_alloc)
_CUDALINT_ERROR(out_of_memory)
_CUDALINT_ERROR(out_of_range)
#undef _CUDALINT_ERROR
}  // namespace rmm
#pragma clang force_cuda_host_device end
#define RMM_CUDA_TRY(...) ((void)(__VA_ARGS__))
#define RMM_CUDA_TRY_ALLOC(...) ((void)(__VA_ARGS__))
#define RMM_ASSERT_CUDA_SUCCESS(...) ((void)(__VA_ARGS__))
#define RMM_EXPECTS(...) ((void)0)
#define RMM_FAIL(...) ((void)0)
#define RMM_FUNC_RANGE() ((void)0)
