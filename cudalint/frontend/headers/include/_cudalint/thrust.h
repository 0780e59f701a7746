#pragma once
#pragma clang force_cuda_host_device begin
// Thrust: containers, pointers, iterators and algorithms, in one piece.
#include "../vector"
#include "../tuple"
#include "../functional"
#include "../complex"
#include "../limits"
#include "../random"
#include "../stdexcept"
#include "../iostream"
#define THRUST_VERSION 200800
#define THRUST_MAJOR_VERSION 2
#define THRUST_MINOR_VERSION 8
#define THRUST_SUBMINOR_VERSION 0
namespace thrust {
using std::addressof;
using std::advance;
using std::distance;
using std::iterator_traits;
using std::get;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::swap;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
using std::bit_and;
using std::bit_or;
using std::bit_xor;
using std::divides;
using std::equal_to;
using std::greater;
using std::greater_equal;
using std::less;
using std::less_equal;
using std::logical_and;
using std::logical_not;
using std::logical_or;
using std::minus;
using std::modulus;
using std::multiplies;
using std::negate;
using std::not_equal_to;
using std::plus;
using std::unary_function;
using std::binary_function;
template <class _T = void> struct maximum { constexpr _T operator()(const _T& a, const _T& b) const { return a < b ? b : a; } };
template <> struct maximum<void> { template <class _T> constexpr _T operator()(const _T& a, const _T& b) const { return a < b ? b : a; } };
template <class _T = void> struct minimum { constexpr _T operator()(const _T& a, const _T& b) const { return b < a ? b : a; } };
template <> struct minimum<void> { template <class _T> constexpr _T operator()(const _T& a, const _T& b) const { return b < a ? b : a; } };
template <class _T = void> struct identity { constexpr const _T& operator()(const _T& a) const { return a; } };
template <class _T = void> struct square { constexpr _T operator()(const _T& a) const { return a * a; } };
template <class _T, class _U> struct project1st { constexpr const _T& operator()(const _T& a, const _U&) const { return a; } };
template <class _T, class _U> struct project2nd { constexpr const _U& operator()(const _T&, const _U& b) const { return b; } };
template <class _F> _F not1(_F);
namespace placeholders {
/// An expression of placeholders: a function of anything.
struct _expression {
    template <class... _A> std::_bound::result operator()(_A&&...) const;
};
extern const _expression _1, _2, _3;
#define _CUDALINT_EXPRESSION(OP)                                                                            \
    template <class _T> _expression operator OP(_expression, _T);                                           \
    template <class _T, class = std::enable_if_t<!std::is_same<_T, _expression>::value>> _expression operator OP(_T, _expression);
_CUDALINT_EXPRESSION(+)
_CUDALINT_EXPRESSION(-)
_CUDALINT_EXPRESSION(*)
_CUDALINT_EXPRESSION(/)
_CUDALINT_EXPRESSION(%)
_CUDALINT_EXPRESSION(<)
_CUDALINT_EXPRESSION(>)
_CUDALINT_EXPRESSION(<=)
_CUDALINT_EXPRESSION(>=)
_CUDALINT_EXPRESSION(==)
_CUDALINT_EXPRESSION(!=)
_CUDALINT_EXPRESSION(&&)
_CUDALINT_EXPRESSION(||)
#undef _CUDALINT_EXPRESSION
_expression operator!(_expression);
_expression operator-(_expression);
}  // namespace placeholders

// Execution policies. `on` gives the policy for one stream.
struct _policy {
    template <class _S> _policy on(_S) const;
    template <class _A> _policy operator()(_A&&) const;
};
struct host_system_tag : _policy {};
struct device_system_tag : _policy {};
typedef device_system_tag any_system_tag;
inline constexpr device_system_tag device{};
inline constexpr host_system_tag host{};
inline constexpr _policy seq{};
template <class _T> struct execution_policy : _policy {};
namespace cuda {
inline constexpr _policy par{};
inline constexpr _policy par_nosync{};
typedef _policy tag;
template <class _T> struct execution_policy : _policy {};
}  // namespace cuda
namespace omp { inline constexpr _policy par{}; }
namespace system { namespace cuda { using thrust::cuda::par; } }
typedef std::runtime_error system_error;
namespace system { typedef std::runtime_error system_error; }

// Pointers and references into device memory.
template <class _T> struct device_reference;
template <class _T> struct device_ptr {
    typedef std::random_access_iterator_tag iterator_category;
    typedef std::remove_cv_t<_T> value_type;
    typedef ptrdiff_t difference_type;
    typedef device_ptr pointer;
    typedef device_reference<_T> reference;
    typedef _T element_type;
    constexpr device_ptr() : raw(nullptr) {}
    constexpr device_ptr(decltype(nullptr)) : raw(nullptr) {}
    template <class _U> constexpr explicit device_ptr(_U* raw) : raw(static_cast<_T*>(raw)) {}
    template <class _U> constexpr device_ptr(const device_ptr<_U>& other) : raw(other.get()) {}
    constexpr _T* get() const { return raw; }
    reference operator*() const { return reference(raw); }
    reference operator[](ptrdiff_t n) const { return reference(raw + n); }
    _T* operator->() const { return raw; }
    device_ptr& operator+=(ptrdiff_t n)
    {
        raw += n;
        return *this;
    }
    device_ptr& operator-=(ptrdiff_t n) { return *this += -n; }
    device_ptr& operator++() { return *this += 1; }
    device_ptr& operator--() { return *this += -1; }
    device_ptr operator++(int)
    {
        device_ptr before(*this);
        *this += 1;
        return before;
    }
    device_ptr operator+(ptrdiff_t n) const { return device_ptr(raw + n); }
    device_ptr operator-(ptrdiff_t n) const { return device_ptr(raw - n); }
    template <class _U> ptrdiff_t operator-(const device_ptr<_U>& other) const { return raw - other.get(); }
    template <class _U> bool operator==(const device_ptr<_U>& other) const { return raw == other.get(); }
    template <class _U> bool operator!=(const device_ptr<_U>& other) const { return raw != other.get(); }
    template <class _U> bool operator<(const device_ptr<_U>& other) const { return raw < other.get(); }
    explicit operator bool() const { return raw != nullptr; }

private:
    _T* raw;
};
template <class _T> struct device_reference {
    _T* _place;
    constexpr explicit device_reference(_T* place) : _place(place) {}
    constexpr device_reference(const device_reference& other) : _place(other._place) {}
    operator _T() const { return *_place; }
    device_ptr<_T> operator&() const { return device_ptr<_T>(_place); }
    template <class _U> device_reference& operator=(const _U& value)
    {
        *_place = value;
        return *this;
    }
    device_reference& operator=(const device_reference& other)
    {
        *_place = *other._place;
        return *this;
    }
    template <class _U> device_reference& operator+=(const _U& value)
    {
        *_place += value;
        return *this;
    }
    template <class _U> device_reference& operator-=(const _U& value)
    {
        *_place -= value;
        return *this;
    }
    template <class _U> device_reference& operator*=(const _U& value)
    {
        *_place *= value;
        return *this;
    }
    device_reference& operator++() { return *this += 1; }
    _T operator++(int) { return (*_place)++; }
};
template <class _C, class _R, class _T> std::basic_ostream<_C, _R>& operator<<(std::basic_ostream<_C, _R>&, const device_reference<_T>&);
template <class _T> constexpr _T* raw_pointer_cast(_T* pointer) { return pointer; }
template <class _T> constexpr _T* raw_pointer_cast(const device_ptr<_T>& pointer) { return pointer.get(); }
template <class _T> _T& raw_reference_cast(device_reference<_T>);
template <class _T> _T& raw_reference_cast(_T&);
template <class _T> constexpr device_ptr<_T> device_pointer_cast(_T* pointer) { return device_ptr<_T>(pointer); }
template <class _T> constexpr device_ptr<_T> device_pointer_cast(const device_ptr<_T>& pointer) { return pointer; }
template <class _T> device_ptr<_T> device_malloc(size_t);
device_ptr<void> device_malloc(size_t);
template <class _T> void device_free(device_ptr<_T>);
template <class _T> device_ptr<_T> device_new(size_t = 1);
template <class _T> void device_delete(device_ptr<_T>, size_t = 1);
template <class _T> struct device_allocator { typedef _T value_type; template <class _U> struct rebind { typedef device_allocator<_U> other; }; };
template <class _T> struct device_malloc_allocator : device_allocator<_T> {};

// Containers. What a vector's elements are reached through is a plain reference on the host side, a proxy on the device side.
template <class _T, class _P, class _R, class _A> struct _vector {
    typedef _T value_type;
    typedef size_t size_type;
    typedef ptrdiff_t difference_type;
    typedef _P pointer;
    typedef _R reference;
    typedef _P iterator;
    typedef _P const_iterator;
    _vector();
    explicit _vector(size_t);
    _vector(size_t, const _T&);
    _vector(const _vector&);
    _vector(_vector&&);
    _vector(std::initializer_list<_T>);
    template <class _Q, class _S, class _B> _vector(const _vector<_T, _Q, _S, _B>&);
    template <class _U, class _B> _vector(const std::vector<_U, _B>&);
    template <class _I, class = typename std::iterator_traits<_I>::value_type> _vector(_I, _I);
    ~_vector();
    _vector& operator=(const _vector&);
    template <class _Q, class _S, class _B> _vector& operator=(const _vector<_T, _Q, _S, _B>&);
    template <class _U, class _B> _vector& operator=(const std::vector<_U, _B>&);
    _P begin() const;
    _P end() const;
    _P cbegin() const;
    _P cend() const;
    std::reverse_iterator<_P> rbegin() const;
    std::reverse_iterator<_P> rend() const;
    _R operator[](size_t) const;
    _R front() const;
    _R back() const;
    _P data() const;
    size_t size() const;
    size_t capacity() const;
    bool empty() const;
    void clear();
    void reserve(size_t);
    void resize(size_t, const _T& = _T());
    void shrink_to_fit();
    void push_back(const _T&);
    void pop_back();
    void assign(size_t, const _T&);
    template <class _I, class = typename std::iterator_traits<_I>::value_type> void assign(_I, _I);
    _P erase(_P);
    _P erase(_P, _P);
    _P insert(_P, const _T&);
    template <class _I> void insert(_P, _I, _I);
    void swap(_vector&);
};
template <class _T, class _A = std::allocator<_T>> struct host_vector : _vector<_T, _T*, _T&, _A> {
    using _vector<_T, _T*, _T&, _A>::_vector;
    using _vector<_T, _T*, _T&, _A>::operator=;
    host_vector() = default;
};
template <class _T, class _A = device_allocator<_T>> struct device_vector : _vector<_T, device_ptr<_T>, device_reference<_T>, _A> {
    using _vector<_T, device_ptr<_T>, device_reference<_T>, _A>::_vector;
    using _vector<_T, device_ptr<_T>, device_reference<_T>, _A>::operator=;
    device_vector() = default;
};
template <class _T> using universal_vector = host_vector<_T>;
template <class _T> using universal_ptr = _T*;

// Iterators.
template <class _V, class _R = _V> struct _iterator {
    typedef std::random_access_iterator_tag iterator_category;
    typedef _V value_type;
    typedef ptrdiff_t difference_type;
    typedef _V* pointer;
    typedef _R reference;
    _R operator*() const;
    _R operator[](ptrdiff_t) const;
    ptrdiff_t operator-(const _iterator&) const;
    bool operator==(const _iterator&) const;
    bool operator!=(const _iterator&) const;
};
#define _CUDALINT_STEPS(NAME)                                                                               \
    NAME operator+(ptrdiff_t) const;                                                                        \
    NAME operator-(ptrdiff_t) const;                                                                        \
    using _base::operator-;                                                                                 \
    NAME& operator++();                                                                                     \
    NAME operator++(int);                                                                                   \
    NAME& operator+=(ptrdiff_t);
/// Those of which kernels are given some: what they give, and how they move, in terms of what moves in them.
#define _CUDALINT_MOVES(NAME, PLACE, VALUE, ELEMENT)                                                        \
    typename _base::reference operator*() const { return VALUE; }                                           \
    typename _base::reference operator[](ptrdiff_t n) const { return ELEMENT; }                             \
    using _base::operator-;                                                                                 \
    NAME operator+(ptrdiff_t n) const                                                                       \
    {                                                                                                       \
        NAME moved(*this);                                                                                  \
        moved.PLACE += n;                                                                                   \
        return moved;                                                                                       \
    }                                                                                                       \
    NAME operator-(ptrdiff_t n) const { return *this + -n; }                                                \
    NAME& operator+=(ptrdiff_t n)                                                                           \
    {                                                                                                       \
        PLACE += n;                                                                                         \
        return *this;                                                                                       \
    }                                                                                                       \
    NAME& operator-=(ptrdiff_t n) { return *this += -n; }                                                   \
    NAME& operator++() { return *this += 1; }                                                               \
    NAME& operator--() { return *this += -1; }                                                              \
    NAME operator++(int)                                                                                    \
    {                                                                                                       \
        NAME before(*this);                                                                                 \
        *this += 1;                                                                                         \
        return before;                                                                                      \
    }
template <class _I> struct iterator_value { typedef typename std::iterator_traits<_I>::value_type type; };
template <class _I> struct iterator_difference { typedef ptrdiff_t type; };
template <class _I> struct iterator_pointer { typedef typename std::iterator_traits<_I>::pointer type; };
template <class _I> struct iterator_reference { typedef typename std::iterator_traits<_I>::reference type; };
template <class _I> struct iterator_system { typedef device_system_tag type; };
template <class _V, class _S = void, class _C = void, class _D = void> struct counting_iterator : _iterator<_V> {
    typedef _iterator<_V> _base;
    _V _value;
    counting_iterator() : _value() {}
    explicit counting_iterator(_V value) : _value(value) {}
    _CUDALINT_MOVES(counting_iterator, _value, _value, _V(_value + n))
};
template <class _V, class _N = void, class _S = void> struct constant_iterator : _iterator<_V> {
    typedef _iterator<_V> _base;
    _V _value;
    ptrdiff_t _place = 0;
    constant_iterator(const _V& value) : _value(value) {}
    _CUDALINT_MOVES(constant_iterator, _place, _value, _value)
};
struct _anything { template <class _T> const _anything& operator=(const _T&) const; };
template <class _S = void> struct discard_iterator : _iterator<_anything> {
    typedef _iterator<_anything> _base;
    discard_iterator();
    _CUDALINT_STEPS(discard_iterator)
};
template <class _F, class _I> using _result = std::decay_t<decltype(std::declval<_F&>()(std::declval<typename std::iterator_traits<_I>::value_type>()))>;
template <class _F, class _I, class _R = void, class _V = void> struct transform_iterator : _iterator<std::conditional_t<std::is_void<_R>::value, _result<_F, _I>, _R>> {
    typedef _iterator<std::conditional_t<std::is_void<_R>::value, _result<_F, _I>, _R>> _base;
    _I _source;
    _F _function;
    transform_iterator();
    transform_iterator(_I source, _F function = _F()) : _source(source), _function(function) {}
    _I base() const { return _source; }
    _F functor() const { return _function; }
    _CUDALINT_MOVES(transform_iterator, _source, _function(*_source), _function(_source[n]))
};
template <class _E, class _I> struct permutation_iterator : _iterator<typename std::iterator_traits<_E>::value_type, typename std::iterator_traits<_E>::reference> {
    typedef _iterator<typename std::iterator_traits<_E>::value_type, typename std::iterator_traits<_E>::reference> _base;
    _E _elements;
    _I _index;
    permutation_iterator();
    permutation_iterator(_E elements, _I index) : _elements(elements), _index(index) {}
    _E base() const { return _elements; }
    _CUDALINT_MOVES(permutation_iterator, _index, _elements[*_index], _elements[_index[n]])
};
template <class> struct _zipped;
template <class... _I> struct _zipped<std::tuple<_I...>> { typedef std::tuple<typename std::iterator_traits<_I>::value_type...> type; };
template <class _T> struct zip_iterator : _iterator<typename _zipped<_T>::type> {
    typedef _iterator<typename _zipped<_T>::type> _base;
    zip_iterator();
    zip_iterator(_T);
    const _T& get_iterator_tuple() const;
    _CUDALINT_STEPS(zip_iterator)
};
#undef _CUDALINT_STEPS
#undef _CUDALINT_MOVES
template <class _I> struct reverse_iterator : std::reverse_iterator<_I> { using std::reverse_iterator<_I>::reverse_iterator; };
template <class _I> reverse_iterator<_I> make_reverse_iterator(_I);
template <class _V> counting_iterator<_V> make_counting_iterator(_V value) { return counting_iterator<_V>(value); }
template <class _V> constant_iterator<_V> make_constant_iterator(_V value) { return constant_iterator<_V>(value); }
discard_iterator<> make_discard_iterator();
template <class _I, class _F> transform_iterator<_F, _I> make_transform_iterator(_I source, _F function)
{
    return transform_iterator<_F, _I>(source, function);
}
template <class _E, class _I> permutation_iterator<_E, _I> make_permutation_iterator(_E elements, _I index)
{
    return permutation_iterator<_E, _I>(elements, index);
}
template <class... _I> zip_iterator<std::tuple<_I...>> make_zip_iterator(std::tuple<_I...>);
template <class... _I> zip_iterator<std::tuple<_I...>> make_zip_iterator(_I...);
template <class _F> struct zip_function { zip_function(_F); template <class _T> std::_bound::result operator()(_T&&) const; };
template <class _F> zip_function<_F> make_zip_function(_F);

// The algorithms take an optional policy first; these name an argument after it.
template <size_t _I, class... _A> struct _argument_at : std::tuple_element<_I, std::tuple<_A...>> {};
template <class... _A> struct _arguments {
    static constexpr size_t skipped = 0;
    static constexpr size_t count = 0;
};
template <class _H, class... _A> struct _arguments<_H, _A...> {
    static constexpr size_t skipped = std::is_base_of<_policy, std::decay_t<_H>>::value;
    static constexpr size_t count = 1 + sizeof...(_A) - skipped;
};
template <size_t _I, class... _A> using _argument = std::decay_t<typename _argument_at<_I + _arguments<_A...>::skipped, _A...>::type>;
template <size_t _I, class... _A> using _value = typename std::iterator_traits<_argument<_I, _A...>>::value_type;
template <class Void, class... _A> struct _reduced { typedef _argument<2, _A...> type; };
template <class... _A> struct _reduced<std::enable_if_t<_arguments<_A...>::count == 2>, _A...> { typedef _value<0, _A...> type; };
#define _CUDALINT_ALGORITHM(NAME, ...) template <class... _A> __VA_ARGS__ NAME(_A&&...);
#define _CUDALINT_AT(_I) _argument<_I, _A...>
_CUDALINT_ALGORITHM(reduce, typename _reduced<void, _A...>::type)
_CUDALINT_ALGORITHM(transform_reduce, _CUDALINT_AT(3))
_CUDALINT_ALGORITHM(inner_product, _CUDALINT_AT(3))
_CUDALINT_ALGORITHM(count, ptrdiff_t)
_CUDALINT_ALGORITHM(count_if, ptrdiff_t)
_CUDALINT_ALGORITHM(all_of, bool)
_CUDALINT_ALGORITHM(any_of, bool)
_CUDALINT_ALGORITHM(none_of, bool)
_CUDALINT_ALGORITHM(equal, bool)
_CUDALINT_ALGORITHM(is_sorted, bool)
_CUDALINT_ALGORITHM(max_element, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(min_element, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(minmax_element, std::pair<_CUDALINT_AT(0), _CUDALINT_AT(0)>)
_CUDALINT_ALGORITHM(find, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(find_if, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(find_if_not, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(remove, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(remove_if, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(unique, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(partition, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(stable_partition, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(lower_bound, std::_bound::result)
_CUDALINT_ALGORITHM(upper_bound, std::_bound::result)
_CUDALINT_ALGORITHM(binary_search, std::_bound::result)
_CUDALINT_ALGORITHM(unique_by_key, std::pair<_CUDALINT_AT(0), _CUDALINT_AT(2)>)
_CUDALINT_ALGORITHM(reduce_by_key, std::pair<_CUDALINT_AT(3), _CUDALINT_AT(4)>)
_CUDALINT_ALGORITHM(unique_by_key_copy, std::pair<_CUDALINT_AT(3), _CUDALINT_AT(4)>)
_CUDALINT_ALGORITHM(copy, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(copy_n, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(copy_if, _argument<(_arguments<_A...>::count == 5 ? 3 : 2), _A...>)
_CUDALINT_ALGORITHM(remove_copy, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(remove_copy_if, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(unique_copy, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(transform, _argument<_arguments<_A...>::count - 2, _A...>)
_CUDALINT_ALGORITHM(transform_if, _argument<_arguments<_A...>::count - 3, _A...>)
_CUDALINT_ALGORITHM(inclusive_scan, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(exclusive_scan, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(transform_inclusive_scan, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(transform_exclusive_scan, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(inclusive_scan_by_key, _CUDALINT_AT(3))
_CUDALINT_ALGORITHM(exclusive_scan_by_key, _CUDALINT_AT(3))
_CUDALINT_ALGORITHM(adjacent_difference, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(gather, _CUDALINT_AT(3))
_CUDALINT_ALGORITHM(gather_if, _CUDALINT_AT(4))
_CUDALINT_ALGORITHM(merge, _CUDALINT_AT(4))
_CUDALINT_ALGORITHM(set_union, _CUDALINT_AT(4))
_CUDALINT_ALGORITHM(set_intersection, _CUDALINT_AT(4))
_CUDALINT_ALGORITHM(set_difference, _CUDALINT_AT(4))
_CUDALINT_ALGORITHM(swap_ranges, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(fill, void)
_CUDALINT_ALGORITHM(fill_n, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(uninitialized_fill, void)
_CUDALINT_ALGORITHM(generate, void)
_CUDALINT_ALGORITHM(generate_n, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(for_each, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(for_each_n, _CUDALINT_AT(0))
_CUDALINT_ALGORITHM(sequence, void)
_CUDALINT_ALGORITHM(tabulate, void)
_CUDALINT_ALGORITHM(sort, void)
_CUDALINT_ALGORITHM(stable_sort, void)
_CUDALINT_ALGORITHM(sort_by_key, void)
_CUDALINT_ALGORITHM(stable_sort_by_key, void)
_CUDALINT_ALGORITHM(merge_by_key, void)
_CUDALINT_ALGORITHM(replace, void)
_CUDALINT_ALGORITHM(replace_if, void)
_CUDALINT_ALGORITHM(replace_copy_if, void)
_CUDALINT_ALGORITHM(reverse, void)
_CUDALINT_ALGORITHM(reverse_copy, _CUDALINT_AT(2))
_CUDALINT_ALGORITHM(scatter, void)
_CUDALINT_ALGORITHM(scatter_if, void)
_CUDALINT_ALGORITHM(shuffle, void)
#undef _CUDALINT_ALGORITHM
#undef _CUDALINT_AT
template <class _T> constexpr const _T& min(const _T& a, const _T& b) { return b < a ? b : a; }
template <class _T> constexpr const _T& max(const _T& a, const _T& b) { return a < b ? b : a; }

_CUDALINT_COMPLEX(alignas(2 * sizeof(_T)))
template <class _T, class _C, class _R> std::basic_ostream<_C, _R>& operator<<(std::basic_ostream<_C, _R>&, const complex<_T>&);
namespace random {
using std::default_random_engine;
using std::minstd_rand;
using std::minstd_rand0;
using std::normal_distribution;
using std::ranlux24;
using std::ranlux48;
using std::uniform_int_distribution;
using std::uniform_real_distribution;
}  // namespace random
using namespace random;
using std::is_same;
using std::is_integral;
using std::remove_cv;
using std::remove_reference;
namespace detail {
using std::enable_if;
using std::is_same;
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end
