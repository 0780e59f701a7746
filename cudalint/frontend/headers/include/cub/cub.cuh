#pragma once
#pragma clang force_cuda_host_device begin
// CUB's collectives. What they compute is opaque; what counts is the type and about the size of their shared storage,
// the barriers, and for reductions, loads and stores by block the memory that they touch (CUB 3.0, as documented and as
// nvcc 13.0 compiles it).
#include "../utility"
#include "../iterator"
#include "../limits"
#define CUB_VERSION 200800
#define CUB_PTX_ARCH 800
#define CUB_MAX(a, b) (((b) > (a)) ? (b) : (a))
#define CUB_MIN(a, b) (((b) < (a)) ? (b) : (a))
#define CUB_QUOTIENT_FLOOR(x, y) ((x) / (y))
#define CUB_QUOTIENT_CEILING(x, y) (((x) + (y) - 1) / (y))
#define CUB_LOG_WARP_THREADS(unused) 5
#define CUB_WARP_THREADS(unused) 32
#define CUB_PTX_WARP_THREADS 32
#define CUB_PTX_LOG_WARP_THREADS 5
#define CUB_RUNTIME_FUNCTION __host__ __device__
#define CUB_NAMESPACE_BEGIN namespace cub {
#define CUB_NAMESPACE_END }
#define CubDebug(e) (e)
#define CubDebugExit(e) (e)
namespace cub {
struct NullType {};
template <int _N> struct Int2Type { static constexpr int VALUE = _N; };
template <bool _C, class _T, class _F> struct If { typedef std::conditional_t<_C, _T, _F> Type; };
template <class _T, class _U> struct Equals { static constexpr bool VALUE = std::is_same<_T, _U>::value; };
template <int _N> struct Log2 { static constexpr int VALUE = 31 - __builtin_clz(_N); };
template <class _K, class _V> struct KeyValuePair {
    typedef _K Key;
    typedef _V Value;
    _K key;
    _V value;
    KeyValuePair() = default;
    constexpr KeyValuePair(const _K& key, const _V& value) : key(key), value(value) {}
    bool operator!=(const KeyValuePair&) const;
};
template <class _T> struct Uninitialized {
    alignas(_T) char storage[sizeof(_T)];
    __host__ __device__ _T& Alias() { return reinterpret_cast<_T&>(storage); }
};
template <class _T, int _N> struct ArrayWrapper { _T array[_N]; };
template <int Bytes> struct _bits;
template <> struct _bits<1> { typedef unsigned char type; };
template <> struct _bits<2> { typedef unsigned short type; };
template <> struct _bits<4> { typedef unsigned int type; };
template <> struct _bits<8> { typedef unsigned long long type; };
enum Category { NOT_A_NUMBER, SIGNED_INTEGER, UNSIGNED_INTEGER, FLOATING_POINT };
template <class _T> struct NumericTraits {
    typedef typename _bits<sizeof(_T)>::type UnsignedBits;
    static constexpr bool PRIMITIVE = std::is_arithmetic<_T>::value;
    static _T Max();
    static _T Lowest();
    static UnsignedBits TwiddleIn(UnsignedBits);
    static UnsignedBits TwiddleOut(UnsignedBits);
};
template <class _T> struct Traits : NumericTraits<_T> {};
template <class _T> struct DoubleBuffer {
    _T* d_buffers[2];
    int selector;
    DoubleBuffer();
    DoubleBuffer(_T* current, _T* alternate);
    _T* Current();
    _T* Alternate();
};

struct Sum { template <class _T, class _U> constexpr auto operator()(const _T& a, const _U& b) const { return a + b; } };
struct Difference { template <class _T, class _U> constexpr auto operator()(const _T& a, const _U& b) const { return a - b; } };
struct Division { template <class _T, class _U> constexpr auto operator()(const _T& a, const _U& b) const { return a / b; } };
struct Max { template <class _T, class _U> constexpr auto operator()(const _T& a, const _U& b) const { return a < b ? b : a; } };
struct Min { template <class _T, class _U> constexpr auto operator()(const _T& a, const _U& b) const { return b < a ? b : a; } };
struct Equality { template <class _T, class _U> constexpr bool operator()(const _T& a, const _U& b) const { return a == b; } };
struct Inequality { template <class _T, class _U> constexpr bool operator()(const _T& a, const _U& b) const { return a != b; } };
struct ArgMax { template <class _T> constexpr _T operator()(const _T& a, const _T& b) const { return b.value > a.value ? b : a; } };
struct ArgMin { template <class _T> constexpr _T operator()(const _T& a, const _T& b) const { return b.value < a.value ? b : a; } };

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED };
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
enum WarpLoadAlgorithm { WARP_LOAD_DIRECT, WARP_LOAD_STRIPED, WARP_LOAD_VECTORIZE, WARP_LOAD_TRANSPOSE };
enum WarpStoreAlgorithm { WARP_STORE_DIRECT, WARP_STORE_STRIPED, WARP_STORE_VECTORIZE, WARP_STORE_TRANSPOSE };
enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };
enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

/// Shared storage of N elements; a collective is made from it and a kernel makes one from its own name.
template <class _T, int _N> struct alignas(16) _storage { _T elements[_N < 1 ? 1 : _N]; };
/// How collectives lay a block's partial results out: each thread of one warp at most walks along a segment of them,
/// which has an element more where segments of a power of two would begin in the same banks.
template <class _T, int _N> struct BlockRakingLayout {
    static constexpr int SHARED_ELEMENTS = _N;
    static constexpr int SEGMENT_LENGTH = (_N + 31) / 32;
    static constexpr int RAKING_THREADS = (_N + SEGMENT_LENGTH - 1) / SEGMENT_LENGTH;
    static constexpr bool USE_SEGMENT_PADDING = SEGMENT_LENGTH % 2 == 0;
    static constexpr bool UNGUARDED = _N % RAKING_THREADS == 0;
    static constexpr int GRID_ELEMENTS = RAKING_THREADS * (SEGMENT_LENGTH + USE_SEGMENT_PADDING);
    struct TempStorage : _storage<_T, GRID_ELEMENTS> {};
    static _T* PlacementPtr(TempStorage& storage, unsigned int thread) { return storage.elements + thread + (USE_SEGMENT_PADDING ? thread / SEGMENT_LENGTH : 0); }
    static _T* RakingPtr(TempStorage& storage, unsigned int thread) { return storage.elements + thread * (SEGMENT_LENGTH + USE_SEGMENT_PADDING); }
};
template <int Lanes> unsigned int WarpMask(unsigned int warp);
template <int Lanes, class _T> _T ShuffleUp(_T input, int offset, int first, unsigned int mask);
template <int Lanes, class _T> _T ShuffleDown(_T input, int offset, int last, unsigned int mask);
template <int Lanes, class _T> _T ShuffleIndex(_T input, int lane, unsigned int mask);
#define _CUDALINT_COLLECTIVE(NAME, COUNT)                                                                   \
    struct TempStorage : _storage<_T, COUNT> {};                                                            \
    NAME();                                                                                                 \
    explicit NAME(TempStorage&);
namespace _results {
/// Without bodies, so that what they return is nobody's guess.
template <class _T> _T reduction(const _T& mine, const _T& others);
}
template <int _X, int _Y, int _Z> inline int _number_of_thread() {
    return (_Z == 1 ? 0 : threadIdx.z * _X * _Y) + (_Y == 1 ? 0 : threadIdx.y * _X) + threadIdx.x;
}
/// By warp reductions the first lane of each warp writes what its warp has, and after a barrier the first thread reads
/// what the other warps have. That is there until the next barrier.
template <class _T, int _X, BlockReduceAlgorithm Algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int _Y = 1, int _Z = 1, int Arch = 0> struct BlockReduce {
    static constexpr int _warps = (_X * _Y * _Z + 31) / 32;
    /// One byte for each warp's reduction, which needs no storage, comes first.
    struct TempStorage { char _reductions[_warps]; _T elements[_warps]; _T prefix; };
    BlockReduce() : _aggregates(nullptr), _is_listed(false) {}
    explicit BlockReduce(TempStorage& storage) : _aggregates(storage.elements), _is_listed(Algorithm == BLOCK_REDUCE_WARP_REDUCTIONS) {}
    template <class _F> _T Reduce(_T input, _F op) { return _reduced(input); }
    template <class _F> _T Reduce(_T input, _F op, int valid) { return _reduced(input, true); }
    template <int _N, class _F> _T Reduce(_T (&inputs)[_N], _F op) { return _reduced(inputs[0]); }
    _T Sum(_T input) { return _reduced(input); }
    _T Sum(_T input, int valid) { return _reduced(input, true); }
    template <int _N> _T Sum(_T (&inputs)[_N]) { return _reduced(inputs[0]); }

    _T* _aggregates;
    bool _is_listed;
    void _wait();
    /// Fewer threads than the block has may have something to add.
    void _wait_for_some();
    void _write_aggregate(int warp, const _T& mine) { _aggregates[warp] = mine; }
    static _T _read_aggregate(const _T* aggregates, int warp) { return aggregates[warp]; }
    /// A template for each warp's, as in CUB: no loop is left.
    template <int _W> static _T _read_aggregates(const _T* aggregates, const _T& before) {
        if constexpr (_W < _warps) return _read_aggregates<_W + 1>(aggregates, _read_aggregate(aggregates, _W));
        else return before;
    }
    _T _reduced(const _T& mine, bool some = false) {
        const int thread = _number_of_thread<_X, _Y, _Z>();
        _T others = mine;
        if (_is_listed && thread % 32 == 0) _write_aggregate(thread / 32, mine);
        if (some) _wait_for_some();
        else _wait();
        if (_is_listed && thread == 0) others = _read_aggregates<1>(_aggregates, others);
        return _results::reduction(mine, others);
    }
};
template <class _T, int _X, BlockScanAlgorithm Algorithm = BLOCK_SCAN_RAKING, int _Y = 1, int _Z = 1, int Arch = 0> struct BlockScan {
    _CUDALINT_COLLECTIVE(BlockScan, Algorithm == BLOCK_SCAN_WARP_SCANS ? (_X * _Y * _Z + 31) / 32 + 1 : _X * _Y * _Z + _X * _Y * _Z / 32 + 1)
    template <class _I, class _O> void InclusiveSum(_I&& input, _O&& output);
    template <class _I, class _O, class _P> void InclusiveSum(_I&& input, _O&& output, _P&& aggregate_or_prefix);
    template <class _I, class _O> void ExclusiveSum(_I&& input, _O&& output);
    template <class _I, class _O, class _P> void ExclusiveSum(_I&& input, _O&& output, _P&& aggregate_or_prefix);
    template <class _I, class _O, class... _F> void InclusiveScan(_I&& input, _O&& output, _F&&... rest);
    template <class _I, class _O, class... _F> void ExclusiveScan(_I&& input, _O&& output, _F&&... rest);
};
/// The place of a thread's item among those of its block. Loads and stores have the same algorithms.
static_assert(int(BLOCK_STORE_VECTORIZE) == BLOCK_LOAD_VECTORIZE && int(BLOCK_STORE_WARP_TRANSPOSE) == BLOCK_LOAD_WARP_TRANSPOSE);
template <int Algorithm, int _X, int _Y, int _Z, int Items> inline int _place_of_item(int item) {
    const int thread = _number_of_thread<_X, _Y, _Z>();
    if constexpr (Algorithm == BLOCK_LOAD_DIRECT || Algorithm == BLOCK_LOAD_VECTORIZE) return thread * Items + item;
    else if constexpr (Algorithm < BLOCK_LOAD_WARP_TRANSPOSE) return thread + item * _X * _Y * _Z;
    else return thread / 32 * 32 * Items + thread % 32 + item * 32;
}
template <class _T, int _N> struct alignas(sizeof(_T) * _N) _vector { _T elements[_N]; };
template <class _T, int _X, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int _Y = 1, int _Z = 1, int Arch = 0> struct BlockLoad {
    _CUDALINT_COLLECTIVE(BlockLoad, Algorithm >= BLOCK_LOAD_TRANSPOSE ? _X * _Y * _Z * Items : 1)
    template <class _I> void Load(_I source, _T (&items)[Items]) {
        if constexpr (Algorithm == BLOCK_LOAD_VECTORIZE && std::is_pointer<_I>::value) _load_vectors(source, items);
        else for (int i = 0; i < Items; ++i) items[i] = source[_place(i)];
        _exchange();
    }
    template <class _I> void Load(_I source, _T (&items)[Items], int valid) {
        for (int i = 0; i < Items; ++i) if (_place(i) < valid) items[i] = source[_place(i)];
        _exchange();
    }
    template <class _I, class _D> void Load(_I source, _T (&items)[Items], int valid, _D missing) {
        for (int i = 0; i < Items; ++i) { items[i] = missing; if (_place(i) < valid) items[i] = source[_place(i)]; }
        _exchange();
    }

    void _wait();
    void _exchange() { if constexpr (Algorithm == BLOCK_LOAD_TRANSPOSE) _wait(); }
    int _place(int item) { return _place_of_item<Algorithm, _X, _Y, _Z, Items>(item); }
    template <class _I> void _load_vectors(_I source, _T (&items)[Items]) {
        constexpr int width = Items % 4 == 0 ? 4 : Items % 2 == 0 ? 2 : 1;
        for (int i = 0; i < Items / width; ++i) {
            const _vector<_T, width> found = reinterpret_cast<const _vector<_T, width>*>(source + _place(0))[i];
            for (int j = 0; j < width; ++j) items[i * width + j] = found.elements[j];
        }
    }
};
template <class _T, int _X, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int _Y = 1, int _Z = 1, int Arch = 0> struct BlockStore {
    _CUDALINT_COLLECTIVE(BlockStore, Algorithm >= BLOCK_STORE_TRANSPOSE ? _X * _Y * _Z * Items : 1)
    template <class _I> void Store(_I target, _T (&items)[Items]) {
        _exchange();
        if constexpr (Algorithm == BLOCK_STORE_VECTORIZE && std::is_pointer<_I>::value) _store_vectors(target, items);
        else for (int i = 0; i < Items; ++i) target[_place(i)] = items[i];
    }
    template <class _I> void Store(_I target, _T (&items)[Items], int valid) {
        _exchange();
        for (int i = 0; i < Items; ++i) if (_place(i) < valid) target[_place(i)] = items[i];
    }

    void _wait();
    void _exchange() { if constexpr (Algorithm == BLOCK_STORE_TRANSPOSE) _wait(); }
    int _place(int item) { return _place_of_item<Algorithm, _X, _Y, _Z, Items>(item); }
    template <class _I> void _store_vectors(_I target, _T (&items)[Items]) {
        constexpr int width = Items % 4 == 0 ? 4 : Items % 2 == 0 ? 2 : 1;
        for (int i = 0; i < Items / width; ++i) {
            _vector<_T, width> made;
            for (int j = 0; j < width; ++j) made.elements[j] = items[i * width + j];
            reinterpret_cast<_vector<_T, width>*>(target + _place(0))[i] = made;
        }
    }
};
template <class _T, int _X, int Items, bool TimeSliced = false, int _Y = 1, int _Z = 1, int Arch = 0> struct BlockExchange {
    _CUDALINT_COLLECTIVE(BlockExchange, _X * _Y * _Z * Items)
    void StripedToBlocked(_T (&items)[Items]);
    void BlockedToStriped(_T (&items)[Items]);
    void WarpStripedToBlocked(_T (&items)[Items]);
    void BlockedToWarpStriped(_T (&items)[Items]);
    template <class _U> void StripedToBlocked(const _T (&items)[Items], _U (&output)[Items]);
    template <class _U> void BlockedToStriped(const _T (&items)[Items], _U (&output)[Items]);
    template <class _R> void ScatterToBlocked(_T (&items)[Items], _R (&ranks)[Items]);
    template <class _R> void ScatterToStriped(_T (&items)[Items], _R (&ranks)[Items]);
};
template <class _T, int _X, int Items, class _V = NullType, int Bits = 4, bool Memoize = true, BlockScanAlgorithm Scan = BLOCK_SCAN_WARP_SCANS, int Config = 0, int _Y = 1, int _Z = 1>
struct BlockRadixSort {
    _CUDALINT_COLLECTIVE(BlockRadixSort, _X * _Y * _Z * Items)
    template <class... _A> void Sort(_T (&keys)[Items], _A&&... rest);
    template <class... _A> void SortDescending(_T (&keys)[Items], _A&&... rest);
    template <class... _A> void SortBlockedToStriped(_T (&keys)[Items], _A&&... rest);
    template <class... _A> void SortDescendingBlockedToStriped(_T (&keys)[Items], _A&&... rest);
};
template <class _T, int _X, int Items, class _V = NullType, int _Y = 1, int _Z = 1> struct BlockMergeSort {
    _CUDALINT_COLLECTIVE(BlockMergeSort, _X * _Y * _Z * Items + 1)
    template <class... _A> void Sort(_T (&keys)[Items], _A&&... rest);
    template <class... _A> void StableSort(_T (&keys)[Items], _A&&... rest);
};
template <class _T, int _X, int Items, int Bins, BlockHistogramAlgorithm Algorithm = BLOCK_HISTO_SORT, int _Y = 1, int _Z = 1> struct BlockHistogram {
    _CUDALINT_COLLECTIVE(BlockHistogram, Algorithm == BLOCK_HISTO_SORT ? _X * _Y * _Z * Items : 1)
    template <class _C> void InitHistogram(_C (&histogram)[Bins]);
    template <class _C> void Histogram(_T (&items)[Items], _C (&histogram)[Bins]);
    template <class _C> void Composite(_T (&items)[Items], _C (&histogram)[Bins]);
};
template <class _T, int _X, int _Y = 1, int _Z = 1> struct BlockAdjacentDifference {
    _CUDALINT_COLLECTIVE(BlockAdjacentDifference, 2 * _X * _Y * _Z)
    template <int _N, class _U, class _F, class... _P> void SubtractLeft(_T (&items)[_N], _U (&output)[_N], _F op, _P... predecessor);
    template <int _N, class _U, class _F, class... _P> void SubtractRight(_T (&items)[_N], _U (&output)[_N], _F op, _P... successor);
};
template <class _T, int _X, int _Y = 1, int _Z = 1> struct BlockDiscontinuity {
    _CUDALINT_COLLECTIVE(BlockDiscontinuity, 2 * _X * _Y * _Z)
    template <class _U, int _N, class _F, class... _P> void FlagHeads(_U (&flags)[_N], _T (&items)[_N], _F op, _P... predecessor);
    template <class _U, int _N, class _F, class... _P> void FlagTails(_U (&flags)[_N], _T (&items)[_N], _F op, _P... successor);
};
template <class _T, int _X, int _Y = 1, int _Z = 1> struct BlockShuffle {
    _CUDALINT_COLLECTIVE(BlockShuffle, _X * _Y * _Z)
    void Offset(_T input, _T& output, int distance = 1);
    void Rotate(_T input, _T& output, unsigned distance = 1);
    template <int _N, class... _A> void Up(_T (&items)[_N], _T (&output)[_N], _A&&... suffix);
    template <int _N, class... _A> void Down(_T (&items)[_N], _T (&output)[_N], _A&&... prefix);
};
template <class _T, int Threads = 32, int Arch = 0> struct WarpReduce {
    _CUDALINT_COLLECTIVE(WarpReduce, 1)
    _T Sum(_T input);
    _T Sum(_T input, int valid);
    template <class _F> _T Reduce(_T input, _F op);
    template <class _F> _T Reduce(_T input, _F op, int valid);
    template <class _H, class _F> _T HeadSegmentedReduce(_T input, _H head, _F op);
    template <class _H, class _F> _T TailSegmentedReduce(_T input, _H tail, _F op);
    template <class _H> _T HeadSegmentedSum(_T input, _H head);
    template <class _H> _T TailSegmentedSum(_T input, _H tail);
};
template <class _T, int Threads = 32, int Arch = 0> struct WarpScan {
    _CUDALINT_COLLECTIVE(WarpScan, Threads + Threads / 2)
    void InclusiveSum(_T input, _T& output);
    void InclusiveSum(_T input, _T& output, _T& aggregate);
    void ExclusiveSum(_T input, _T& output);
    void ExclusiveSum(_T input, _T& output, _T& aggregate);
    template <class... _F> void InclusiveScan(_T input, _T& output, _F&&... rest);
    template <class... _F> void ExclusiveScan(_T input, _T& output, _F&&... rest);
    _T Broadcast(_T input, unsigned lane);
};
template <class _T, int Items, int Threads = 32, int Arch = 0, WarpExchangeAlgorithm Algorithm = WARP_EXCHANGE_SMEM> struct WarpExchange {
    _CUDALINT_COLLECTIVE(WarpExchange, Items * Threads)
    template <class _U> void StripedToBlocked(const _T (&items)[Items], _U (&output)[Items]);
    template <class _U> void BlockedToStriped(const _T (&items)[Items], _U (&output)[Items]);
    template <class _R> void ScatterToStriped(_T (&items)[Items], _R (&ranks)[Items]);
};
template <class _T, int Items, WarpLoadAlgorithm Algorithm = WARP_LOAD_DIRECT, int Threads = 32, int Arch = 0> struct WarpLoad {
    _CUDALINT_COLLECTIVE(WarpLoad, Algorithm == WARP_LOAD_TRANSPOSE ? Items * Threads : 1)
    template <class _I, class... _A> void Load(_I source, _T (&items)[Items], _A... rest);
};
template <class _T, int Items, WarpStoreAlgorithm Algorithm = WARP_STORE_DIRECT, int Threads = 32, int Arch = 0> struct WarpStore {
    _CUDALINT_COLLECTIVE(WarpStore, Algorithm == WARP_STORE_TRANSPOSE ? Items * Threads : 1)
    template <class _I, class... _A> void Store(_I target, _T (&items)[Items], _A... rest);
};
template <class _T, int Items, int Threads = 32, class _V = NullType> struct WarpMergeSort {
    _CUDALINT_COLLECTIVE(WarpMergeSort, Items * Threads + 1)
    template <class... _A> void Sort(_T (&keys)[Items], _A&&... rest);
};
#undef _CUDALINT_COLLECTIVE

template <int Threads, class _I, class _T, int _N, class... _A> void LoadDirectStriped(int thread, _I source, _T (&items)[_N], _A... rest);
template <class _T, int _N, class _I, class... _A> void LoadDirectBlocked(int thread, _I source, _T (&items)[_N], _A... rest);
template <class _T, int _N, class _I, class... _A> void LoadDirectWarpStriped(int thread, _I source, _T (&items)[_N], _A... rest);
template <int Threads, class _I, class _T, int _N, class... _A> void StoreDirectStriped(int thread, _I target, _T (&items)[_N], _A... rest);
template <class _T, int _N, class _I, class... _A> void StoreDirectBlocked(int thread, _I target, _T (&items)[_N], _A... rest);
template <CacheLoadModifier _M, class _I> typename std::iterator_traits<_I>::value_type ThreadLoad(_I source);
template <CacheStoreModifier _M, class _I, class _T> void ThreadStore(_I target, _T value);
template <int _N, class _T, class _F> _T ThreadReduce(_T* items, _F op);
template <class _T, class _U> _T ShuffleIndex(_T value, int lane, int width, _U mask);
unsigned LaneId();
unsigned WarpId();
int RowMajorTid(int x, int y, int z);
template <class _T> unsigned BFE(_T value, unsigned start, unsigned bits);
template <class _V, class _I, class _D = ptrdiff_t> struct _wrapped_iterator {
    typedef std::random_access_iterator_tag iterator_category;
    typedef _V value_type;
    typedef _D difference_type;
    typedef _V* pointer;
    typedef _V reference;
    _V operator*() const;
    _V operator[](_D) const;
    _wrapped_iterator operator+(_D) const;
    _wrapped_iterator& operator++();
};
template <class _V, class _F, class _I, class _D = ptrdiff_t> struct TransformInputIterator : _wrapped_iterator<_V, _I, _D> { TransformInputIterator(_I, _F); };
template <class _V, class _D = ptrdiff_t> struct CountingInputIterator : _wrapped_iterator<_V, _V, _D> { CountingInputIterator(_V); };
template <class _V, class _D = ptrdiff_t> struct ConstantInputIterator : _wrapped_iterator<_V, _V, _D> { ConstantInputIterator(_V); };
template <class _I, class _D = ptrdiff_t> struct ArgIndexInputIterator : _wrapped_iterator<KeyValuePair<_D, typename std::iterator_traits<_I>::value_type>, _I, _D> { ArgIndexInputIterator(_I); };
template <CacheLoadModifier _M, class _V, class _D = ptrdiff_t> struct CacheModifiedInputIterator : _wrapped_iterator<_V, _V*, _D> { CacheModifiedInputIterator(_V*); };

struct CachingDeviceAllocator {
    CachingDeviceAllocator(bool skip_cleanup = false, bool debug = false);
    CachingDeviceAllocator(unsigned growth, unsigned least = 1, unsigned most = ~0u, size_t cached = ~size_t(0), bool skip_cleanup = false, bool debug = false);
    cudaError_t DeviceAllocate(void** pointer, size_t bytes, cudaStream_t stream = 0);
    cudaError_t DeviceFree(void* pointer);
    cudaError_t FreeAllCached();
};
#define _CUDALINT_DEVICE_WIDE(_F) template <class... _A> static cudaError_t _F(void* storage, size_t& bytes, _A&&... arguments);
struct DeviceReduce {
    _CUDALINT_DEVICE_WIDE(Reduce)
    _CUDALINT_DEVICE_WIDE(Sum)
    _CUDALINT_DEVICE_WIDE(Min)
    _CUDALINT_DEVICE_WIDE(Max)
    _CUDALINT_DEVICE_WIDE(ArgMin)
    _CUDALINT_DEVICE_WIDE(ArgMax)
    _CUDALINT_DEVICE_WIDE(ReduceByKey)
    _CUDALINT_DEVICE_WIDE(TransformReduce)
};
struct DeviceSegmentedReduce {
    _CUDALINT_DEVICE_WIDE(Reduce)
    _CUDALINT_DEVICE_WIDE(Sum)
    _CUDALINT_DEVICE_WIDE(Min)
    _CUDALINT_DEVICE_WIDE(Max)
    _CUDALINT_DEVICE_WIDE(ArgMin)
    _CUDALINT_DEVICE_WIDE(ArgMax)
};
struct DeviceScan {
    _CUDALINT_DEVICE_WIDE(InclusiveSum)
    _CUDALINT_DEVICE_WIDE(ExclusiveSum)
    _CUDALINT_DEVICE_WIDE(InclusiveScan)
    _CUDALINT_DEVICE_WIDE(ExclusiveScan)
    _CUDALINT_DEVICE_WIDE(InclusiveSumByKey)
    _CUDALINT_DEVICE_WIDE(ExclusiveSumByKey)
};
struct DeviceSelect {
    _CUDALINT_DEVICE_WIDE(Flagged)
    _CUDALINT_DEVICE_WIDE(If)
    _CUDALINT_DEVICE_WIDE(Unique)
    _CUDALINT_DEVICE_WIDE(UniqueByKey)
};
struct DevicePartition {
    _CUDALINT_DEVICE_WIDE(Flagged)
    _CUDALINT_DEVICE_WIDE(If)
};
struct DeviceRadixSort {
    _CUDALINT_DEVICE_WIDE(SortKeys)
    _CUDALINT_DEVICE_WIDE(SortKeysDescending)
    _CUDALINT_DEVICE_WIDE(SortPairs)
    _CUDALINT_DEVICE_WIDE(SortPairsDescending)
};
struct DeviceMergeSort {
    _CUDALINT_DEVICE_WIDE(SortKeys)
    _CUDALINT_DEVICE_WIDE(SortPairs)
    _CUDALINT_DEVICE_WIDE(StableSortKeys)
    _CUDALINT_DEVICE_WIDE(StableSortPairs)
};
struct DeviceSegmentedRadixSort : DeviceRadixSort {};
struct DeviceSegmentedSort : DeviceRadixSort {};
struct DeviceHistogram {
    _CUDALINT_DEVICE_WIDE(HistogramEven)
    _CUDALINT_DEVICE_WIDE(HistogramRange)
    template <int Channels, int Active, class... _A> static cudaError_t MultiHistogramEven(void* storage, size_t& bytes, _A&&... arguments);
};
struct DeviceRunLengthEncode {
    _CUDALINT_DEVICE_WIDE(Encode)
    _CUDALINT_DEVICE_WIDE(NonTrivialRuns)
};
struct DeviceSpmv { template <class _T, class... _A> static cudaError_t CsrMV(void* storage, size_t& bytes, _A&&... arguments); };
struct DeviceFor { template <class... _A> static cudaError_t Bulk(_A&&...); template <class... _A> static cudaError_t ForEachN(_A&&...); };
struct DeviceTransform { template <class... _A> static cudaError_t Transform(_A&&...); };
#undef _CUDALINT_DEVICE_WIDE
}  // namespace cub
#pragma clang force_cuda_host_device end
