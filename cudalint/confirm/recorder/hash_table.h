// Hashes of what launches look like, and a table of them that allocates nothing to find one.

#ifndef CUDALINT_HASH_TABLE_H
#define CUDALINT_HASH_TABLE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cudalint {

// 128 bits of whatever it is given, sixteen bytes a step. Nobody is to be kept from making two texts collide: whoever
// writes launches that do so loses a line of a statistic.
class Hash {
  public:
    void words(uint64_t first, uint64_t second) {
        a_ = mixed(first ^ a_, second ^ 0x9e3779b97f4a7c15u);
        b_ = mixed(second ^ b_, first ^ 0xc2b2ae3d27d4eb4fu) + a_;
    }

    void bytes(const void *data, size_t size) {
        auto *at = static_cast<const unsigned char *>(data);
        uint64_t pair[2];
        for (; size >= sizeof pair; at += sizeof pair, size -= sizeof pair) {
            memcpy(pair, at, sizeof pair);
            words(pair[0], pair[1]);
        }
        if (size == 8) {  // what most parameters are
            memcpy(pair, at, 8);
            words(pair[0], 8);
        } else if (size == 4) {
            uint32_t half;
            memcpy(&half, at, 4);
            words(half, 4);
        } else if (size) {
            pair[0] = pair[1] = 0;
            memcpy(pair, at, size);
            words(pair[0], pair[1] ^ (uint64_t(size) << 56));
        }
    }

    uint64_t first() const { return a_; }
    uint64_t second() const { return b_; }

  private:
    static uint64_t mixed(uint64_t x, uint64_t y) {
        unsigned __int128 product = static_cast<unsigned __int128>(x) * y;
        return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    }

    uint64_t a_ = 0x243f6a8885a308d3u, b_ = 0x13198a2e03707344u;
};

// Open addressing from hashes to numbers above 0, each with the generation in which it was put there.
class Table {
  public:
    explicit Table(size_t most) : most_(most), slots_(kFirstSlots) {}

    uint32_t find(const Hash &key, uint32_t generation) const {
        const Slot &slot = slots_[place(key)];
        return slot.number && slot.generation == generation ? slot.number : 0;
    }

    void put(const Hash &key, uint32_t number, uint32_t generation) {
        if (2 * (used_ + 1) > slots_.size()) make_room(generation);
        Slot &slot = slots_[place(key)];
        used_ += !slot.number;
        slot = {key.first(), key.second(), number, generation};
    }

  private:
    struct Slot {
        uint64_t first = 0, second = 0;
        uint32_t number = 0, generation = 0;
    };
    static constexpr size_t kFirstSlots = 4096;

    size_t place(const Hash &key) const {
        size_t mask = slots_.size() - 1, at = key.first() & mask;
        while (slots_[at].number && (slots_[at].first != key.first() || slots_[at].second != key.second()))
            at = (at + 1) & mask;
        return at;
    }

    // Keys of earlier generations are dropped; where that isn't enough all are, and are put there again as they come.
    void make_room(uint32_t generation) {
        std::vector<Slot> old;
        old.swap(slots_);
        size_t live = 0;
        for (const Slot &slot : old) live += slot.number && slot.generation == generation;
        size_t size = old.size();
        if (4 * live > size) size *= 2;
        if (size > most_) size = most_, live = 0;
        slots_.resize(size);
        used_ = 0;
        if (!live) return;
        for (const Slot &slot : old) {
            if (!slot.number || slot.generation != generation) continue;
            size_t mask = size - 1, at = slot.first & mask;
            while (slots_[at].number) at = (at + 1) & mask;
            slots_[at] = slot;
            ++used_;
        }
    }

    size_t most_, used_ = 0;
    std::vector<Slot> slots_;
};

}  // namespace cudalint

#endif
