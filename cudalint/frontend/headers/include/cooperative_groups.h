#pragma once
#pragma clang force_cuda_host_device begin
#define _COOPERATIVE_GROUPS_H_
#include "type_traits"
namespace cooperative_groups {
/// What all groups have in common. Kernels name the concrete groups; the base is for `const auto&`-like use.
struct thread_group {
    void sync() const;
    unsigned long long size() const;
    unsigned long long num_threads() const;
    unsigned long long thread_rank() const;
    bool is_valid() const;
};
struct cluster_group;
struct thread_block : thread_group {
    struct arrival_token {};
    static void sync();
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned thread_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
    arrival_token barrier_arrive() const;
    void barrier_wait(arrival_token&&) const;
};
struct grid_group : thread_group {
    struct arrival_token {};
    void sync() const;
    static unsigned long long size() { return num_blocks() * thread_block::size(); }
    static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
    static unsigned long long block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z); }
    static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return dim3(blockIdx); }
    unsigned cluster_rank() const;
    unsigned num_clusters() const;
    arrival_token barrier_arrive() const;
    void barrier_wait(arrival_token&&) const;
};
struct multi_grid_group : thread_group {
    unsigned grid_rank() const;
    unsigned num_grids() const;
};
struct cluster_group : thread_group {
    struct arrival_token {};
    static void sync();
    static unsigned num_blocks();
    static unsigned num_threads();
    static unsigned size();
    static unsigned thread_rank();
    static unsigned block_rank();
    static dim3 block_index();
    static dim3 thread_index();
    static dim3 dim_blocks();
    static dim3 dim_threads();
    template <class T> static T* map_shared_rank(T* address, int rank);
    template <class T> static unsigned query_shared_rank(const T* address);
    static arrival_token barrier_arrive();
    static void barrier_wait(arrival_token&&);
    static void barrier_wait();
};
/// The warp functions of tiles and coalesced groups.
struct _warp_group : thread_group {
    template <class T> T shfl(T value, int lane) const;
    template <class T> T shfl_up(T value, unsigned delta) const;
    template <class T> T shfl_down(T value, unsigned delta) const;
    template <class T> T shfl_xor(T value, unsigned mask) const;
    int any(int) const;
    int all(int) const;
    unsigned ballot(int) const;
    template <class T> unsigned match_any(T) const;
    template <class T> unsigned match_all(T, int&) const;
    unsigned long long meta_group_rank() const;
    unsigned long long meta_group_size() const;
};
template <unsigned Size, class Parent = void> struct thread_block_tile : _warp_group {
    template <class P> thread_block_tile(const thread_block_tile<Size, P>&);
    thread_block_tile(const thread_block_tile&) = default;
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
    static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
    static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
};
struct coalesced_group : _warp_group {
    unsigned size() const;
    unsigned num_threads() const;
    unsigned thread_rank() const;
    unsigned meta_group_rank() const;
};
template <unsigned MaxBlockSize = 1024> struct alignas(16) block_tile_memory { char bytes[MaxBlockSize <= 32 ? 1 : MaxBlockSize / 32 * 16]; };
thread_block this_thread_block();
template <unsigned N> thread_block this_thread_block(block_tile_memory<N>&);
grid_group this_grid();
multi_grid_group this_multi_grid();
cluster_group this_cluster();
coalesced_group coalesced_threads();
template <unsigned Size, class P> thread_block_tile<Size, P> tiled_partition(const P& parent);
template <class P> thread_group tiled_partition(const P& parent, unsigned size);
template <class P> coalesced_group binary_partition(const P& parent, bool);
template <class L, class P> coalesced_group labeled_partition(const P& parent, L label);
template <class G> void sync(const G&);
template <class G> unsigned thread_rank(const G&);
template <class G> unsigned group_size(const G&);
struct thread_scope {};
namespace details {}
namespace experimental {
using cooperative_groups::block_tile_memory;
using cooperative_groups::this_thread_block;
using cooperative_groups::tiled_partition;
}  // namespace experimental
template <class T> struct plus { constexpr T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { constexpr T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { constexpr T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { constexpr T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { constexpr T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { constexpr T operator()(T a, T b) const { return a ^ b; } };
template <class G, class T, class F> T reduce(const G&, T value, F&&);
template <class G, class T, class F> void reduce_update_async(const G&, T&, _cudalint::same<typename T::value_type>, F&&);
template <class G, class T, class F> auto reduce_store_async(const G&, T*, _cudalint::same<T>, F&&) -> void;
template <class G, class T> T inclusive_scan(const G&, T value);
template <class G, class T, class F> T inclusive_scan(const G&, T value, F&&);
template <class G, class T> T exclusive_scan(const G&, T value);
template <class G, class T, class F> T exclusive_scan(const G&, T value, F&&);
template <class G, class F> void invoke_one(const G&, F&&);
template <class G, class T, class... A> void memcpy_async(const G&, T* target, const void* source, A... bytes);
template <class G> void wait(const G&);
template <unsigned Stages, class G> void wait_prior(const G&);
}  // namespace cooperative_groups
#pragma clang force_cuda_host_device end
