#pragma once
#pragma clang force_cuda_host_device begin
// One interface for sets and maps, ordered or not: they differ in nothing that a kernel's types depend on.
#include "../memory"
#include "../functional"
namespace _cudalint {
template <class K, class V, bool Multi> class associative {
public:
    typedef K key_type;
    typedef V value_type;
    typedef size_t size_type;
    typedef node_iterator<V> iterator;
    typedef node_iterator<const V> const_iterator;
    typedef std::reverse_iterator<iterator> reverse_iterator;
    typedef std::conditional_t<Multi, iterator, std::pair<iterator, bool>> inserted;
    associative();
    template <class C, class = decltype(std::declval<C>()(std::declval<K>(), std::declval<K>()))> explicit associative(const C&);
    explicit associative(size_t);
    template <class I> associative(I, I);
    associative(std::initializer_list<V>);
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
    inserted insert(const V&);
    iterator insert(const_iterator, const V&);
    template <class P, class = std::enable_if_t<std::is_constructible<V, P&&>::value>> inserted insert(P&&);
    template <class I> void insert(I, I);
    void insert(std::initializer_list<V>);
    template <class... P> inserted emplace(P&&...);
    template <class... P> inserted try_emplace(const K&, P&&...);
    template <class M> inserted insert_or_assign(const K&, M&&);
    size_t erase(const K&);
    iterator erase(const_iterator);
    iterator erase(const_iterator, const_iterator);
    size_t count(const K&) const;
    bool contains(const K&) const;
    iterator find(const K&);
    const_iterator find(const K&) const;
    iterator lower_bound(const K&);
    const_iterator lower_bound(const K&) const;
    iterator upper_bound(const K&);
    const_iterator upper_bound(const K&) const;
    std::pair<iterator, iterator> equal_range(const K&);
    std::pair<const_iterator, const_iterator> equal_range(const K&) const;
    void swap(associative&);
    bool operator==(const associative&) const;
    bool operator!=(const associative&) const;
};
template <class K, class V> class unique_map : public associative<K, std::pair<const K, V>, false> {
public:
    typedef V mapped_type;
    using associative<K, std::pair<const K, V>, false>::associative;
    unique_map();
    V& operator[](const K&);
    V& at(const K&);
    const V& at(const K&) const;
};
template <class K, class V> class multiple_map : public associative<K, std::pair<const K, V>, true> {
public:
    typedef V mapped_type;
    using associative<K, std::pair<const K, V>, true>::associative;
    multiple_map();
};
}  // namespace _cudalint
#pragma clang force_cuda_host_device end
