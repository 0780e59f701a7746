#pragma once
#pragma clang force_cuda_host_device begin
// One interface for sets and maps, ordered or not: they differ in nothing that a kernel's types depend on.
#include "../memory"
#include "../functional"
namespace _cudalint {
template <class _K, class _V, bool Multi> class associative {
public:
    typedef _K key_type;
    typedef _V value_type;
    typedef size_t size_type;
    typedef node_iterator<_V> iterator;
    typedef node_iterator<const _V> const_iterator;
    typedef std::reverse_iterator<iterator> reverse_iterator;
    typedef std::conditional_t<Multi, iterator, std::pair<iterator, bool>> inserted;
    associative();
    template <class _C, class = decltype(std::declval<_C>()(std::declval<_K>(), std::declval<_K>()))> explicit associative(const _C&);
    explicit associative(size_t);
    template <class _I> associative(_I, _I);
    associative(std::initializer_list<_V>);
    iterator begin();
    iterator end();
    const_iterator begin() const;
    const_iterator end() const;
    const_iterator cbegin() const;
    const_iterator cend() const;
    reverse_iterator rbegin();
    reverse_iterator rend();
    size_t size() const;
    bool empty() const;
    void clear();
    void reserve(size_t);
    inserted insert(const _V&);
    iterator insert(const_iterator, const _V&);
    template <class _P, class = std::enable_if_t<std::is_constructible<_V, _P&&>::value>> inserted insert(_P&&);
    template <class _I> void insert(_I, _I);
    void insert(std::initializer_list<_V>);
    template <class... _P> inserted emplace(_P&&...);
    template <class... _P> inserted try_emplace(const _K&, _P&&...);
    template <class _M> inserted insert_or_assign(const _K&, _M&&);
    size_t erase(const _K&);
    iterator erase(const_iterator);
    iterator erase(const_iterator, const_iterator);
    size_t count(const _K&) const;
    bool contains(const _K&) const;
    iterator find(const _K&);
    const_iterator find(const _K&) const;
    iterator lower_bound(const _K&);
    const_iterator lower_bound(const _K&) const;
    iterator upper_bound(const _K&);
    const_iterator upper_bound(const _K&) const;
    std::pair<iterator, iterator> equal_range(const _K&);
    std::pair<const_iterator, const_iterator> equal_range(const _K&) const;
    void swap(associative&);
    bool operator==(const associative&) const;
    bool operator!=(const associative&) const;
};
template <class _K, class _V> class unique_map : public associative<_K, std::pair<const _K, _V>, false> {
public:
    typedef _V mapped_type;
    using associative<_K, std::pair<const _K, _V>, false>::associative;
    unique_map();
    _V& operator[](const _K&);
    _V& at(const _K&);
    const _V& at(const _K&) const;
};
template <class _K, class _V> class multiple_map : public associative<_K, std::pair<const _K, _V>, true> {
public:
    typedef _V mapped_type;
    using associative<_K, std::pair<const _K, _V>, true>::associative;
    multiple_map();
};
}  // namespace _cudalint
#pragma clang force_cuda_host_device end
