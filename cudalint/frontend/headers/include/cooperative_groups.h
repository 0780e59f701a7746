#pragma once
#pragma clang force_cuda_host_device begin
#define _COOPERATIVE_GROUPS_H_
#define _CG_ASM_PTR_CONSTRAINT "l"
#include "type_traits"
namespace cooperative_groups {
/// What all groups have in common. Kernels name the concrete groups; the base is for `const auto&`-like use.
struct thread_group {
    thread_group() = default;
    thread_group(const thread_group&) = default;
    /// A group of any kind that is passed as one of this type keeps its size and who is asking.
    template <class _G> thread_group(const _G& group) : count(group.size()), rank(group.thread_rank()) {}
    void sync() const;
    unsigned long long size() const { return count; }
    unsigned long long num_threads() const { return count; }
    unsigned long long thread_rank() const { return rank; }
    bool is_valid() const;

private:
    thread_group(unsigned long long count, unsigned long long rank) : count(count), rank(rank) {}
    template <class _P> friend thread_group tiled_partition(const _P& parent, unsigned size);
    unsigned long long count, rank;
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
/// Known to the analysis: the number of the block in its cluster, and how many blocks that has.
unsigned _cudalint_cluster_rank();
unsigned _cudalint_cluster_blocks();
struct cluster_group : thread_group {
    struct arrival_token {};
    static void sync();
    static unsigned num_blocks() { return _cudalint_cluster_blocks(); }
    static unsigned num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned size() { return num_threads(); }
    static unsigned thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
    static unsigned block_rank() { return _cudalint_cluster_rank(); }
    static dim3 block_index();
    static dim3 thread_index();
    static dim3 dim_blocks();
    static dim3 dim_threads();
    template <class _T> static _T* map_shared_rank(_T* address, int rank);
    template <class _T> static unsigned query_shared_rank(const _T* address);
    static arrival_token barrier_arrive();
    static void barrier_wait(arrival_token&&);
    static void barrier_wait();
};
/// The warp functions of tiles and coalesced groups.
struct _warp_group : thread_group {
    template <class _T> _T shfl(_T value, int lane) const;
    template <class _T> _T shfl_up(_T value, unsigned delta) const;
    template <class _T> _T shfl_down(_T value, unsigned delta) const;
    template <class _T> _T shfl_xor(_T value, unsigned mask) const;
    int any(int) const;
    int all(int) const;
    unsigned ballot(int) const;
    template <class _T> unsigned match_any(_T) const;
    template <class _T> unsigned match_all(_T, int&) const;
    unsigned long long meta_group_rank() const;
    unsigned long long meta_group_size() const;
};
template <unsigned Size, class Parent = void> struct thread_block_tile : _warp_group {
    template <class _P> thread_block_tile(const thread_block_tile<Size, _P>&);
    thread_block_tile(const thread_block_tile&) = default;
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
    static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
    static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
};
/// Known to the analysis: the lanes of the warp that come here before the caller's own, and a value of the lane that has
/// a rank among them.
unsigned _cudalint_rank();
template <class _T> _T _cudalint_of_rank(_T value, unsigned rank);
struct coalesced_group : _warp_group {
    coalesced_group(const coalesced_group&) = default;
    unsigned size() const;
    unsigned num_threads() const;
    unsigned thread_rank() const { return place; }
    template <class _T> _T shfl(_T value, unsigned rank) const { return _cudalint_of_rank(value, rank); }
    unsigned meta_group_rank() const;

private:
    explicit coalesced_group(unsigned place) : place(place) {}
    friend coalesced_group coalesced_threads();
    unsigned place;
};
template <unsigned MaxBlockSize = 1024> struct alignas(16) block_tile_memory { char bytes[MaxBlockSize <= 32 ? 1 : MaxBlockSize / 32 * 16]; };
thread_block this_thread_block();
template <unsigned _N> thread_block this_thread_block(block_tile_memory<_N>&);
grid_group this_grid();
multi_grid_group this_multi_grid();
cluster_group this_cluster();
inline coalesced_group coalesced_threads() { return coalesced_group(_cudalint_rank()); }
template <unsigned Size, class _P> thread_block_tile<Size, _P> tiled_partition(const _P& parent);
template <class _P> thread_group tiled_partition(const _P& parent, unsigned size) { return thread_group(size, parent.thread_rank() % size); }
template <class _P> coalesced_group binary_partition(const _P& parent, bool);
template <class _L, class _P> coalesced_group labeled_partition(const _P& parent, _L label);
template <class _G> void sync(const _G&);
template <class _G> void synchronize(const _G&);
template <class _G> unsigned thread_rank(const _G&);
template <class _G> unsigned group_size(const _G&);
struct thread_scope {};
namespace details {}
namespace experimental {
using cooperative_groups::block_tile_memory;
using cooperative_groups::this_thread_block;
using cooperative_groups::tiled_partition;
}  // namespace experimental
template <class _T> struct plus { constexpr _T operator()(_T a, _T b) const { return a + b; } };
template <class _T> struct less { constexpr _T operator()(_T a, _T b) const { return b < a ? b : a; } };
template <class _T> struct greater { constexpr _T operator()(_T a, _T b) const { return a < b ? b : a; } };
template <class _T> struct bit_and { constexpr _T operator()(_T a, _T b) const { return a & b; } };
template <class _T> struct bit_or { constexpr _T operator()(_T a, _T b) const { return a | b; } };
template <class _T> struct bit_xor { constexpr _T operator()(_T a, _T b) const { return a ^ b; } };
template <class _G, class _T, class _F> _T reduce(const _G&, _T value, _F&&);
template <class _G, class _T, class _F> void reduce_update_async(const _G&, _T&, _cudalint::same<typename _T::value_type>, _F&&);
template <class _G, class _T, class _F> auto reduce_store_async(const _G&, _T*, _cudalint::same<_T>, _F&&) -> void;
template <class _G, class _T> _T inclusive_scan(const _G&, _T value);
template <class _G, class _T, class _F> _T inclusive_scan(const _G&, _T value, _F&&);
template <class _G, class _T> _T exclusive_scan(const _G&, _T value);
template <class _G, class _T, class _F> _T exclusive_scan(const _G&, _T value, _F&&);
template <class _G, class _F> void invoke_one(const _G&, _F&&);
template <class _G, class _T, class... _A> void memcpy_async(const _G&, _T* target, const void* source, _A... bytes);
template <class _G> void wait(const _G&);
/// Known to the analysis: all copies of the thread but those of the latest groups are waited for.
void _cudalint_copies_awaited(unsigned groups);
template <unsigned Stages, class _G> void wait_prior(const _G& group) { _cudalint_copies_awaited(Stages); group.sync(); }
}  // namespace cooperative_groups
#pragma clang force_cuda_host_device end
