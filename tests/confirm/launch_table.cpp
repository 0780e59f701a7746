// Tries the recorder's table without CUDA: launches that a made-up driver knows, into the folder that is the first
// argument. Prints `name value` for what the tests look at.

#include <ctime>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "launch_table.h"

using namespace cudalint;

struct Made : World {
    std::map<uint64_t, uint64_t> allocations;  // bases and bytes
    std::map<const void *, Kernel> kernels;
    long asked = 0;

    bool describe(const void *function, Kernel &kernel) override {
        auto found = kernels.find(function);
        if (found == kernels.end()) return false;
        kernel = found->second;
        return true;
    }
    bool allocation(uint64_t address, uint64_t &base, uint64_t &bytes) override {
        ++asked;
        auto after = allocations.upper_bound(address);
        if (after == allocations.begin()) return false;
        --after;
        if (address - after->first >= after->second) return false;
        base = after->first;
        bytes = after->second;
        return true;
    }
    bool is_address(uint64_t word) override { return word >> 40 == 0x7f; }
};

static Kernel kernel_of(const char *symbol, std::vector<size_t> sizes) {
    Kernel kernel;
    kernel.symbol = symbol;
    kernel.is_known = true;
    size_t offset = 0;
    for (size_t size : sizes) {
        size_t unit = size >= 8 ? 8 : size;
        offset = (offset + unit - 1) / unit * unit;
        kernel.parameters.push_back({offset, size});
        offset += size;
    }
    return kernel;
}

static Launch launch_of(uint32_t grid, uint32_t block) {
    Launch launch;
    launch.grid[0] = grid;
    launch.block[0] = block;
    return launch;
}

constexpr uint64_t kFirst = 0x7f0000000000, kSecond = 0x7f0000100000, kThird = 0x302000000, kGone = 0x7fffdeadbee8;

static void check(Recorder &recorder, Made &world) {
    const void *scale = "scale", *structure = "structure", *none = "none", *unknown = "unknown", *large = "large";
    world.kernels[scale] = kernel_of("_Z5scalePfif", {8, 4, 4});
    world.kernels[structure] = kernel_of("_Z9structure4Both", {48});
    world.kernels[none] = kernel_of("_Z4nonev", {});
    world.kernels[unknown] = kernel_of("_Z7unknownv", {});
    world.kernels[unknown].is_known = false;
    world.kernels[large] = kernel_of("_Z5large4Many", {16384});
    world.allocations = {{kFirst, 4096}, {kSecond, 8192}, {kThird, 512}};

    // The same arguments at two places, and packed.
    uint64_t pointer = kFirst + 256;
    uint32_t n = 1000;
    float factor = 1;
    void *each[] = {&pointer, &n, &factor};
    Arguments arguments;
    arguments.each = each;
    for (int i = 0; i < 5; ++i) recorder.count(scale, launch_of(4, 256), arguments, world);
    pointer = kSecond + 256;
    recorder.count(scale, launch_of(4, 256), arguments, world);  // an allocation of another size
    world.allocations[kSecond] = 4096;
    recorder.forget(kSecond);
    recorder.count(scale, launch_of(4, 256), arguments, world);  // one like the first
    char packed[16];
    memcpy(packed, &pointer, 8), memcpy(packed + 8, &n, 4), memcpy(packed + 12, &factor, 4);
    Arguments together;
    together.packed = packed;
    together.packed_bytes = sizeof packed;
    recorder.count(scale, launch_of(4, 256), together, world);
    together.packed_bytes = 12;
    recorder.count(scale, launch_of(4, 256), together, world);  // without its last argument

    // A structure: two allocations, the end of one, what is gone, two numbers, and a pointer again.
    uint64_t words[] = {kThird + 8, kFirst, kFirst + 4096, kGone, uint64_t(1080) << 32 | 1920, kThird};
    void *one[] = {words};
    arguments.each = one;
    Launch launch = launch_of(1, 32);
    launch.cluster[0] = 2, launch.cluster[1] = launch.cluster[2] = 1;
    launch.shared = 1024;
    launch.is_cooperative = 1;
    launch.stream = 0x5555;
    recorder.count(structure, launch, arguments, world);
    Arguments nothing;
    recorder.count(none, launch_of(2, 64), nothing, world);
    recorder.count(unknown, launch_of(2, 64), nothing, world);
    static char many[16384];
    void *huge[] = {many};
    arguments.each = huge;
    recorder.count(large, launch_of(2, 64), arguments, world);
    recorder.count("nobody", launch_of(2, 64), nothing, world);  // of which nothing is known

    // Of a graph: known before it is launched, and twice.
    std::vector<uint32_t> graph = {recorder.add(none, launch_of(3, 64), nothing, world),
                                   recorder.add(none, launch_of(5, 64), nothing, world)};
    recorder.add(none, launch_of(7, 64), nothing, world);  // never launched
    recorder.count_again(graph);
    recorder.count_again(graph);
    uint32_t grid[] = {5, 1, 1}, block[] = {64, 1, 1};
    recorder.add_time(recorder.similar(graph, "_Z4nonev", grid, block), 2500);
}

// Of this thread, which other programs don't make longer.
static double nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * double(now.tv_sec) + double(now.tv_nsec);
}

// Nanoseconds of a launch that was seen, of several kernels in turn.
static double seen(Recorder &recorder, Made &world, size_t kernels, size_t bytes) {
    std::vector<uint64_t> names(kernels);
    std::vector<std::vector<char>> data(kernels, std::vector<char>(bytes, 7));
    for (size_t i = 0; i < kernels; ++i)
        world.kernels[&names[i]] = kernel_of(("seen" + std::to_string(i) + "_" + std::to_string(bytes)).c_str(), {8, 4, bytes});
    uint64_t pointer = kFirst;
    uint32_t n = 5;
    auto once = [&](size_t i) {
        void *each[] = {&pointer, &n, data[i].data()};
        Arguments arguments;
        arguments.each = each;
        recorder.count(&names[i], launch_of(4, 256), arguments, world);
    };
    for (size_t i = 0; i < kernels; ++i) once(i);
    constexpr size_t kTimes = 200000;
    double start = nanoseconds();
    for (size_t i = 0; i < kTimes; ++i) once(i % kernels);
    return (nanoseconds() - start) / kTimes;
}

// Each launch is new by its bytes, and most of them are the same without addresses.
static void moving(Recorder &recorder, Made &world, uint64_t places) {
    const void *move = "move";
    world.kernels[move] = kernel_of("move", {8});
    for (uint64_t i = 0; i < places; ++i) world.allocations[0x7e0000000000 + i * 0x10000] = 4096;
    uint64_t pointer;
    void *each[] = {&pointer};
    Arguments arguments;
    arguments.each = each;
    for (uint64_t i = 0; i < places; ++i) {
        pointer = 0x7e0000000000 + i * 0x10000 + i % 3;
        recorder.count(move, launch_of(4, 256), arguments, world);
    }
}

int main(int count, char **given) {
    static Recorder recorder;
    Made world;
    if (count < 3 || !recorder.open(given[1])) return 1;
    if (!strcmp(given[2], "check")) check(recorder, world);
    if (!strcmp(given[2], "moving")) moving(recorder, world, strtoull(given[3], nullptr, 10));
    if (!strcmp(given[2], "killed")) {
        check(recorder, world);
        abort();
    }
    if (!strcmp(given[2], "speed")) {
        world.allocations = {{kFirst, 4096}};
        printf("one %.1f\n", seen(recorder, world, 1, 16));
        long asked = world.asked;
        printf("several %.1f\n", seen(recorder, world, 50, 16));
        printf("large %.1f\n", seen(recorder, world, 10, 1024));
        printf("largest %.1f\n", seen(recorder, world, 2, 4000));
        printf("asked %ld\n", world.asked - asked);
    }
}
