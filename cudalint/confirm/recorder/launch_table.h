// What a recorder remembers of launches, and how it recognises one that it has seen: no CUDA in here, so that it can be
// compiled and tried on any machine.

#ifndef CUDALINT_LAUNCH_TABLE_H
#define CUDALINT_LAUNCH_TABLE_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hash_table.h"
#include "launch_files.h"

namespace cudalint {

constexpr uint32_t kMostLaunches = 1000000;      // different ones of one process
constexpr size_t kMostRawSlots = 1u << 21;       // half of them in use at most: 1,000,000 keys, 50 MB
constexpr size_t kMostBases = 1u << 16;          // allocations that launches of a generation lead to
constexpr uint32_t kMostStreams = 64;            // programs that make a stream for each request share the last number
constexpr size_t kMostArgumentBytes = 8192;      // of one parameter: 20,000 letters are what the file of launches takes
constexpr size_t kMostParameters = 4096;
constexpr size_t kMostSymbolBytes = 20000;

struct Parameter {
    size_t offset, size;
};

// A kernel, by what it is called and takes: functions of several contexts or modules may be the same one.
struct Kernel {
    uint32_t number = 0;
    bool is_known = false;  // what it takes
    std::string symbol;
    std::vector<Parameter> parameters;
};

// How a kernel is launched, without its arguments. There is no padding in it: it is hashed as it lies there.
struct Launch {
    uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {0, 0, 0};
    uint32_t shared = 0, is_cooperative = 0, unused = 0;
    uint64_t stream = 0;  // the handle
};
static_assert(sizeof(Launch) == 56, "a launch has padding");

// Where the arguments of a launch lie: in one place each, or one after the other.
struct Arguments {
    void *const *each = nullptr;
    const char *packed = nullptr;
    size_t packed_bytes = 0;

    const void *at(size_t number, const Parameter &parameter) const {
        if (each) return each[number];
        if (!packed || parameter.offset > packed_bytes || packed_bytes - parameter.offset < parameter.size) return nullptr;
        return packed + parameter.offset;
    }
};

// What the driver knows. Nothing of it is asked while the recorder's lock is held.
class World {
  public:
    virtual ~World() = default;
    // The name and parameters of a function; false where it has no name.
    virtual bool describe(const void *function, Kernel &kernel) = 0;
    // The allocation that an address lies in.
    virtual bool allocation(uint64_t address, uint64_t &base, uint64_t &bytes) = 0;
    // Whether a word that leads to no allocation is an address all the same.
    virtual bool is_address(uint64_t word) = 0;
};

class SpinLock {
  public:
    void lock() {
        while (flag_.test_and_set(std::memory_order_acquire)) {
        }
    }
    void unlock() { flag_.clear(std::memory_order_release); }

  private:
    std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

class Guard {
  public:
    explicit Guard(SpinLock &lock) : lock_(lock) { lock_.lock(); }
    ~Guard() { lock_.unlock(); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

  private:
    SpinLock &lock_;
};

// All launches of a process. A launch is looked up by the bytes of its arguments first; one that isn't found so is
// written down as the file has it, without addresses, and looked up by that.
//
// Addresses: where memory is freed, the same bytes may lead to another allocation afterwards. So what is found by bytes
// holds for a generation, and freeing an allocation that a launch of this one led to begins the next. Nothing else has
// to be done then: each launch is written down anew once, which takes a few microseconds, and freeing what no launch
// has used costs one look. A word that led nowhere when it was first seen, and to a new allocation later, keeps to be
// taken for the former until memory is freed: no program passes addresses that it hasn't got yet.
class Recorder {
  public:
    bool open(const char *folder) { return files_.open(folder); }

    // Counts a launch and returns its number; 0 where it isn't to be kept.
    uint32_t count(const void *function, const Launch &launch, const Arguments &arguments, World &world) {
        {
            Guard guard(lock_);
            const Kernel *kernel = known(function);
            uint32_t found = kernel ? raw_.find(raw_key(*kernel, launch, arguments), generation_) : 0;
            if (found) {
                files_.count(found);
                return found;
            }
        }
        uint32_t number = add(function, launch, arguments, world);
        Guard guard(lock_);
        number ? files_.count(number) : files_.lose();
        return number;
    }

    // The number of a launch that isn't counted yet; 0 where it isn't to be kept.
    uint32_t add(const void *function, const Launch &launch, const Arguments &arguments, World &world);

    void count_again(const std::vector<uint32_t> &numbers) {
        Guard guard(lock_);
        for (uint32_t number : numbers) number ? files_.count(number) : files_.lose();
    }

    void add_time(uint32_t number, uint64_t nanoseconds) {
        Guard guard(lock_);
        files_.add_time(number, nanoseconds);
    }

    // Of launches of a graph, the one that was timed: CUPTI says which graph it was and what it looked like. Of several
    // that look the same the one that has been timed least.
    uint32_t similar(const std::vector<uint32_t> &numbers, const char *symbol, const uint32_t *grid,
                     const uint32_t *block) {
        Guard guard(lock_);
        uint32_t best = 0;
        for (uint32_t number : numbers) {
            if (!number) continue;
            const Look &look = looks_[number - 1];
            if (memcmp(look.grid, grid, sizeof look.grid) || memcmp(look.block, block, sizeof look.block)) continue;
            if (look.kernel->symbol != symbol) continue;
            if (!best || files_.timed(number) < files_.timed(best)) best = number;
        }
        return best;
    }

    // Memory is freed.
    void forget(uint64_t base) {
        Guard guard(lock_);
        if (bases_.count(base) || bases_.size() >= kMostBases) begin_generation();
    }

    void forget_all_memory() {
        Guard guard(lock_);
        begin_generation();
    }

    // Code is unloaded: other functions may get the same handles.
    void forget_functions() {
        Guard guard(lock_);
        functions_.clear();
        last_function_ = nullptr;
        ++unloaded_;
    }

    void say(const std::string &line) {
        Guard guard(lock_);
        files_.write(line);
    }

    SpinLock &lock() { return lock_; }

  private:
    struct Look {
        uint32_t grid[3], block[3];
        const Kernel *kernel;
    };

    const Kernel *known(const void *function) {
        if (function != last_function_) {
            auto found = functions_.find(function);
            if (found == functions_.end()) return nullptr;
            last_function_ = function;
            last_kernel_ = found->second;
        }
        return last_kernel_;
    }

    static Hash raw_key(const Kernel &kernel, const Launch &launch, const Arguments &arguments) {
        Hash hash;
        hash.words(kernel.number, kernel.parameters.size());
        hash.bytes(&launch, sizeof launch);
        for (size_t i = 0; i < kernel.parameters.size(); ++i) {
            const void *at = arguments.at(i, kernel.parameters[i]);
            if (at) hash.bytes(at, kernel.parameters[i].size);
        }
        return hash;
    }

    void begin_generation() {
        bases_.clear();
        ++generation_;
    }

    const Kernel *described(const void *function, World &world);
    uint32_t stream_number(uint64_t handle);
    bool written(const Kernel &kernel, const Arguments &arguments, World &world, std::string &text,
                 std::vector<uint64_t> &bases) const;

    SpinLock lock_;
    Files files_;
    uint32_t generation_ = 1, unloaded_ = 0;
    const void *last_function_ = nullptr;
    const Kernel *last_kernel_ = nullptr;
    std::unordered_map<const void *, const Kernel *> functions_;
    std::unordered_map<std::string, uint32_t> kernel_numbers_;
    std::deque<Kernel> kernels_;
    std::unordered_map<uint64_t, uint32_t> streams_;
    std::unordered_set<uint64_t> bases_;
    std::vector<Look> looks_;
    Table raw_{kMostRawSlots};
    Table launches_{4 * size_t(kMostLaunches)};
};

// --- what is new -------------------------------------------------------------------------------------------

inline void append_number(std::string &text, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = char('0' + number % 10);
    while (number /= 10);
    text.append(digits + at, sizeof digits - at);
}

inline void append_hexadecimal(std::string &text, const unsigned char *data, size_t size) {
    static const char kDigits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; ++i) {
        text += kDigits[data[i] >> 4];
        text += kDigits[data[i] & 15];
    }
}

// The allocations of a launch, counted as they come.
struct Allocations {
    std::vector<uint64_t> bases, ends;

    size_t number(uint64_t base, uint64_t bytes) {
        for (size_t i = 0; i < bases.size(); ++i)
            if (bases[i] == base) return i;
        bases.push_back(base);
        ends.push_back(base + bytes);
        return bases.size() - 1;
    }
};

// 64-bit addresses of allocations begin here: the driver leaves the first four gigabytes to whatever needs 32 bits, and
// what lies there are numbers of elements.
constexpr uint64_t kLowestAllocation = uint64_t(1) << 32;
constexpr uint64_t kEndOfAddresses = uint64_t(1) << 48;

// Appends what a word is if it is a pointer: allocation, offset and bytes, or a question mark.
inline bool append_pointer(std::string &text, uint64_t word, Allocations &allocations, World &world) {
    if (word < kLowestAllocation || word >= kEndOfAddresses) return false;
    uint64_t base = 0, bytes = 0;
    size_t number = 0;
    bool is_found = world.allocation(word, base, bytes) && word >= base && word - base <= bytes;
    if (is_found) {
        number = allocations.number(base, bytes);
    } else {
        // The end of a range is given as its address, too.
        for (; number < allocations.ends.size() && allocations.ends[number] != word; ++number) {
        }
        if (number < allocations.ends.size()) {
            is_found = true;
            base = allocations.bases[number];
            bytes = word - base;
        }
    }
    if (is_found) {
        append_number(text, number);
        text += '+';
        append_number(text, word - base);
        text += '/';
        append_number(text, bytes);
        return true;
    }
    if (!world.is_address(word)) return false;
    text += '?';
    return true;
}

inline void append_argument(std::string &text, const unsigned char *data, size_t size, Allocations &allocations,
                            World &world) {
    uint64_t word = 0;
    if (size <= sizeof word) {
        memcpy(&word, data, size);
        size_t start = text.size();
        text += 'p';
        if (size == sizeof word && append_pointer(text, word, allocations, world)) return;
        text.resize(start);
        append_number(text, word);
        return;
    }
    text += 'x';
    size_t at = 0;
    for (; size - at >= sizeof word; at += sizeof word) {
        memcpy(&word, data + at, sizeof word);
        size_t start = text.size();
        text += '{';
        if (append_pointer(text, word, allocations, world)) {
            text += '}';
            continue;
        }
        text.resize(start);
        append_hexadecimal(text, data + at, sizeof word);
    }
    append_hexadecimal(text, data + at, size - at);
}

inline uint32_t Recorder::add(const void *function, const Launch &launch, const Arguments &arguments, World &world) {
    const Kernel *kernel = described(function, world);
    if (!kernel) return 0;
    uint32_t generation, stream;
    {
        Guard guard(lock_);
        generation = generation_;
        stream = stream_number(launch.stream);
    }
    std::string text;
    std::vector<uint64_t> bases;
    const uint32_t numbers[] = {launch.grid[0],    launch.grid[1],    launch.grid[2],    launch.block[0],
                                launch.block[1],   launch.block[2],   launch.shared,     launch.cluster[0],
                                launch.cluster[1], launch.cluster[2], launch.is_cooperative, stream};
    append_number(text, kernel->number);
    for (uint32_t number : numbers) {
        text += '\t';
        append_number(text, number);
    }
    if (!written(*kernel, arguments, world, text, bases)) text += "\t-";
    Hash hash;
    hash.bytes(text.data(), text.size());

    Guard guard(lock_);
    uint32_t number = launches_.find(hash, 0);
    if (!number) {
        if (looks_.size() >= kMostLaunches) return 0;
        number = files_.begin("L\t", text);
        if (!number) return 0;
        Look look;
        memcpy(look.grid, launch.grid, sizeof look.grid);
        memcpy(look.block, launch.block, sizeof look.block);
        look.kernel = kernel;
        looks_.push_back(look);
        launches_.put(hash, number, 0);
    }
    if (generation == generation_) {
        for (uint64_t base : bases)
            if (bases_.size() < kMostBases) bases_.insert(base);
        raw_.put(raw_key(*kernel, launch, arguments), number, generation);
    }
    return number;
}

inline bool Recorder::written(const Kernel &kernel, const Arguments &arguments, World &world, std::string &text,
                              std::vector<uint64_t> &bases) const {
    if (!kernel.is_known) return false;
    size_t start = text.size();
    Allocations allocations;
    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
        const Parameter &parameter = kernel.parameters[i];
        auto *data = static_cast<const unsigned char *>(arguments.at(i, parameter));
        if (!data || parameter.size > kMostArgumentBytes) {
            text.resize(start);
            return false;
        }
        text += '\t';
        append_argument(text, data, parameter.size, allocations, world);
    }
    bases.swap(allocations.bases);
    return true;
}

inline const Kernel *Recorder::described(const void *function, World &world) {
    uint32_t unloaded;
    {
        Guard guard(lock_);
        if (const Kernel *kernel = known(function)) return kernel;
        unloaded = unloaded_;
    }
    Kernel kernel;
    if (!world.describe(function, kernel) || kernel.symbol.empty() || kernel.symbol.size() > kMostSymbolBytes)
        return nullptr;
    for (char &letter : kernel.symbol)
        if (static_cast<unsigned char>(letter) <= ' ' || letter == 0x7f) letter = '?';
    std::string text;
    if (!kernel.is_known) text += '-';
    for (const Parameter &parameter : kernel.parameters) {
        if (&parameter != &kernel.parameters[0]) text += ',';
        append_number(text, parameter.size);
    }
    text += '\t';
    text += kernel.symbol;

    Guard guard(lock_);
    uint32_t &number = kernel_numbers_[text];
    if (!number) {
        kernel.number = number = uint32_t(kernels_.size() + 1);
        kernels_.push_back(kernel);
        std::string line = "K\t";
        append_number(line, number);
        files_.write(line + "\t" + text);
    }
    const Kernel *found = &kernels_[number - 1];
    if (unloaded == unloaded_) functions_[function] = found;
    return found;
}

inline uint32_t Recorder::stream_number(uint64_t handle) {
    if (!handle) return 0;
    auto found = streams_.find(handle);
    if (found != streams_.end()) return found->second;
    if (streams_.size() >= kMostStreams) return kMostStreams;
    uint32_t number = uint32_t(streams_.size() + 1);
    streams_[handle] = number;
    return number;
}

}  // namespace cudalint

#endif
