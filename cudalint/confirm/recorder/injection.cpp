// Loaded by the CUDA driver into a program that is recorded (CUDA_INJECTION64_PATH): tells the recorder of every kernel
// that the program launches. It needs the headers of CUDA 12.0 or later; functions of the driver are looked up by name,
// so that it can be built without a driver, and runs with older and newer ones.
//
// What is seen:
// - Launches that succeed, at the end of the driver's calls.
// - Kernels of graphs: each is written down where its graph is made executable, and counted as often as that is
//   launched. A launch into a stream that is being captured makes a node of a graph, and isn't counted itself. Changes of
//   an executable graph's nodes, bodies of conditional nodes and what kernels launch themselves aren't followed.
//
// No memory is read but the arguments of launches, and no address is written.

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstdlib>
#include <memory>

#include "launch_table.h"

namespace {

using namespace cudalint;

constexpr char kFolder[] = "CUDALINT_RECORD_FOLDER";
constexpr char kTime[] = "CUDALINT_RECORD_TIME";
constexpr size_t kMostGraphDepth = 16;
constexpr size_t kMostNodes = 1u << 20;
constexpr size_t kBufferBytes = size_t(1) << 20;  // of a buffer of times: some 5,000 launches
constexpr size_t kMostAwaited = 1u << 20;         // launches whose times haven't come yet

// --- what the driver knows ---------------------------------------------------------------------------------

template <typename Type>
Type named(const char *name) {
    static void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return driver ? reinterpret_cast<Type>(dlsym(driver, name)) : nullptr;
}

using ParamInfo = CUresult (*)(const void *, size_t, size_t *, size_t *);
using GetName = CUresult (*)(const char **, const void *);

class Driver : public World {
  public:
    // What the callback calls the kernel that it is about.
    const char *symbol = nullptr;

    bool describe(const void *function, Kernel &kernel) override {
        static const auto of_function = named<GetName>("cuFuncGetName"), of_kernel = named<GetName>("cuKernelGetName");
        const char *name = symbol;
        if (!name && of_function && of_function(&name, function) != CUDA_SUCCESS) name = nullptr;
        if (!name && of_kernel && of_kernel(&name, function) != CUDA_SUCCESS) name = nullptr;
        if (!name) return false;
        kernel.symbol = name;
        // Both since CUDA 12.4. What is launched may be a function or a kernel, which is of no context.
        static const auto first = named<ParamInfo>("cuFuncGetParamInfo"), second = named<ParamInfo>("cuKernelGetParamInfo");
        for (ParamInfo info : {first, second}) {
            if (!info) continue;
            kernel.parameters.clear();
            CUresult result = CUDA_SUCCESS;
            while (kernel.parameters.size() < kMostParameters) {
                Parameter parameter{};
                result = info(function, kernel.parameters.size(), &parameter.offset, &parameter.size);
                if (result != CUDA_SUCCESS) break;
                kernel.parameters.push_back(parameter);
            }
            // A kernel without parameters and a handle of the other kind are told apart by the result.
            kernel.is_known = !kernel.parameters.empty() || result == CUDA_ERROR_INVALID_VALUE;
            if (!kernel.parameters.empty()) break;
        }
        return true;
    }

    bool allocation(uint64_t address, uint64_t &base, uint64_t &bytes) override {
        static const auto range = named<CUresult (*)(CUdeviceptr *, size_t *, CUdeviceptr)>("cuMemGetAddressRange_v2");
        static const auto attribute =
            named<CUresult (*)(void *, CUpointer_attribute, CUdeviceptr)>("cuPointerGetAttribute");
        CUdeviceptr start = 0;
        size_t size = 0;
        bool is_found = range && range(&start, &size, address) == CUDA_SUCCESS && size;
        // Memory of the host that kernels may use.
        if (!is_found && attribute)
            is_found = attribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) == CUDA_SUCCESS &&
                       attribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) == CUDA_SUCCESS && start && size;
        base = start;
        bytes = size;
        return is_found;
    }

    // Two numbers of 32 bits make up a word that looks like an address wherever the upper one is a size of something, so
    // what counts is what is mapped, and where Linux puts programs, libraries and stacks, which may be unmapped by now.
    // The driver keeps ranges of its own below, in which (1000, 256) would be.
    bool is_address(uint64_t word) override {
        constexpr uint64_t kLowest = uint64_t(1) << 44;
        if (word < kLowest) return false;
#if defined(__aarch64__)
        if ((word >> 40) == 0xaa || (word >> 40) == 0xff) return true;
#else
        if (word >> 47) return false;
        if ((word >> 40) == 0x55 || (word >> 40) == 0x56 || (word >> 40) >= 0x7e) return true;
#endif
        static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
        unsigned char is_resident;
        return mincore(reinterpret_cast<void *>(word & ~(page - 1)), page, &is_resident) == 0;
    }
};

// --- the recorder of this process --------------------------------------------------------------------------

using Graph = std::shared_ptr<const std::vector<uint32_t>>;

// What a launch is to be timed as, until its time comes: a launch by its number, or those of a graph.
struct Awaited {
    uint32_t correlation = 0, number = 0;
    Graph graph;
};

struct State {
    Recorder recorder;
    SpinLock lock;  // of what follows
    std::unordered_map<CUgraphExec, Graph> graphs;
    std::vector<Awaited> awaited;
    std::atomic<int> captures{0};
    std::atomic<bool> is_off{false}, is_named{false};
};

// It is never destroyed: the driver may call until the process is gone.
State &state() {
    static State *own = new State;
    return *own;
}

// --- times -------------------------------------------------------------------------------------------------

void await(uint32_t correlation, uint32_t number, const Graph &graph) {
    if (state().awaited.empty()) return;
    Guard guard(state().lock);
    state().awaited[correlation % kMostAwaited] = {correlation, number, graph};
}

void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most) {
    void *made = nullptr;
    *size = posix_memalign(&made, 8, kBufferBytes) == 0 ? kBufferBytes : 0;
    *buffer = static_cast<uint8_t *>(made);
    *most = 0;
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid) {
    CUpti_Activity *record = nullptr;
    while (buffer && !state().is_off && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
        // Later records of this kind begin with the same fields.
        auto *kernel = reinterpret_cast<const CUpti_ActivityKernel9 *>(record);
        Awaited found;
        {
            Guard guard(state().lock);
            found = state().awaited[kernel->correlationId % kMostAwaited];
        }
        if (found.correlation != kernel->correlationId || kernel->end < kernel->start) continue;
        if (found.graph && kernel->name) {
            const uint32_t grid[] = {uint32_t(kernel->gridX), uint32_t(kernel->gridY), uint32_t(kernel->gridZ)};
            const uint32_t block[] = {uint32_t(kernel->blockX), uint32_t(kernel->blockY), uint32_t(kernel->blockZ)};
            found.number = state().recorder.similar(*found.graph, kernel->name, grid, block);
        }
        if (found.number) state().recorder.add_time(found.number, kernel->end - kernel->start);
    }
    free(buffer);
}

void take_all_times() {
    if (!state().is_off) cuptiActivityFlushAll(0);
}

// --- launches ----------------------------------------------------------------------------------------------

bool is_capturing(uint64_t stream) {
    static const auto ask = named<CUresult (*)(CUstream, CUstreamCaptureStatus *)>("cuStreamIsCapturing");
    // The default stream can't be captured, and asking about it is an error where others are.
    if (state().captures <= 0 || !ask || !stream || stream == reinterpret_cast<uint64_t>(CU_STREAM_LEGACY)) return false;
    auto status = CU_STREAM_CAPTURE_STATUS_NONE;
    return ask(reinterpret_cast<CUstream>(stream), &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void name_device() {
    static const auto current = named<CUresult (*)(CUdevice *)>("cuCtxGetDevice");
    static const auto get_name = named<CUresult (*)(char *, int, CUdevice)>("cuDeviceGetName");
    if (state().is_named.exchange(true)) return;
    CUdevice device;
    char name[256] = "";
    if (!current || !get_name || current(&device) != CUDA_SUCCESS ||
        get_name(name, sizeof name - 1, device) != CUDA_SUCCESS)
        return;
    for (char *at = name; *at; ++at)
        if (static_cast<unsigned char>(*at) < ' ') *at = ' ';
    state().recorder.say(std::string("D\t") + name);
}

Arguments arguments_of(void **each, void **extra) {
    Arguments found;
    found.each = each;
    if (each || !extra) return found;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) found.packed = static_cast<const char *>(extra[1]);
        if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) found.packed_bytes = *static_cast<const size_t *>(extra[1]);
    }
    return found;
}

template <typename Parameters>
Launch launch_of(const Parameters &given) {
    Launch launch;
    launch.grid[0] = given.gridDimX, launch.grid[1] = given.gridDimY, launch.grid[2] = given.gridDimZ;
    launch.block[0] = given.blockDimX, launch.block[1] = given.blockDimY, launch.block[2] = given.blockDimZ;
    launch.shared = given.sharedMemBytes;
    return launch;
}

// `own_default` is the default stream where none is named: each thread's in calls that end in _ptsz.
void note(const CUpti_CallbackData *data, const void *function, Launch launch, CUstream stream, CUstream own_default,
          void **each, void **extra) {
    launch.stream = reinterpret_cast<uint64_t>(stream ? stream : own_default);
    if (is_capturing(launch.stream)) return;
    if (launch.stream <= reinterpret_cast<uint64_t>(CU_STREAM_PER_THREAD)) launch.stream = 0;
    Driver driver;
    driver.symbol = data->symbolName;
    uint32_t number = state().recorder.count(function, launch, arguments_of(each, extra), driver);
    if (!state().awaited.empty()) {
        await(data->correlationId, number, nullptr);
        name_device();
    }
}

void note_plain(const CUpti_CallbackData *data, CUstream own_default) {
    auto *given = static_cast<const cuLaunchKernel_params *>(data->functionParams);
    note(data, given->f, launch_of(*given), given->hStream, own_default, given->kernelParams, given->extra);
}

void note_cooperative(const CUpti_CallbackData *data, CUstream own_default) {
    auto *given = static_cast<const cuLaunchCooperativeKernel_params *>(data->functionParams);
    Launch launch = launch_of(*given);
    launch.is_cooperative = 1;
    note(data, given->f, launch, given->hStream, own_default, given->kernelParams, nullptr);
}

void set_attribute(Launch &launch, CUlaunchAttributeID what, const CUlaunchAttributeValue &value) {
    if (what == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) launch.is_cooperative = value.cooperative != 0;
    if (what == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && value.clusterDim.x) {
        launch.cluster[0] = value.clusterDim.x;
        launch.cluster[1] = value.clusterDim.y;
        launch.cluster[2] = value.clusterDim.z;
    }
}

void note_extended(const CUpti_CallbackData *data, CUstream own_default) {
    auto *given = static_cast<const cuLaunchKernelEx_params *>(data->functionParams);
    Launch launch = launch_of(*given->config);
    for (unsigned i = 0; i < given->config->numAttrs; ++i)
        set_attribute(launch, given->config->attrs[i].id, given->config->attrs[i].value);
    note(data, given->f, launch, given->config->hStream, own_default, given->kernelParams, given->extra);
}

// --- graphs ------------------------------------------------------------------------------------------------

void note_node(CUgraphNode node, std::vector<uint32_t> &found) {
    static const auto get = named<CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *)>("cuGraphKernelNodeGetParams_v2");
    static const auto attribute = named<CUresult (*)(CUgraphNode, CUlaunchAttributeID, CUlaunchAttributeValue *)>(
        "cuGraphKernelNodeGetAttribute");
    CUDA_KERNEL_NODE_PARAMS given{};
    if (!get || get(node, &given) != CUDA_SUCCESS) return;
    Launch launch = launch_of(given);
    for (auto what : {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION}) {
        CUlaunchAttributeValue value{};
        if (attribute && attribute(node, what, &value) == CUDA_SUCCESS) set_attribute(launch, what, value);
    }
    Driver driver;
    const void *function = given.func ? static_cast<const void *>(given.func) : given.kern;
    found.push_back(
        state().recorder.add(function, launch, arguments_of(given.kernelParams, given.extra), driver));
}

void note_nodes(CUgraph graph, std::vector<uint32_t> &found, size_t depth) {
    static const auto list = named<CUresult (*)(CUgraph, CUgraphNode *, size_t *)>("cuGraphGetNodes");
    static const auto get_type = named<CUresult (*)(CUgraphNode, CUgraphNodeType *)>("cuGraphNodeGetType");
    static const auto child = named<CUresult (*)(CUgraphNode, CUgraph *)>("cuGraphChildGraphNodeGetGraph");
    size_t many = 0;
    if (!list || !get_type || list(graph, nullptr, &many) != CUDA_SUCCESS || many > kMostNodes) return;
    std::vector<CUgraphNode> nodes(many);
    if (many && list(graph, nodes.data(), &many) != CUDA_SUCCESS) return;
    for (size_t i = 0; i < many && i < nodes.size(); ++i) {
        CUgraphNodeType type;
        CUgraph inner;
        if (get_type(nodes[i], &type) != CUDA_SUCCESS) continue;
        if (type == CU_GRAPH_NODE_TYPE_KERNEL) note_node(nodes[i], found);
        if (type == CU_GRAPH_NODE_TYPE_GRAPH && depth < kMostGraphDepth && child &&
            child(nodes[i], &inner) == CUDA_SUCCESS)
            note_nodes(inner, found, depth + 1);
    }
}

void note_graph(const CUpti_CallbackData *data) {
    // All of these calls begin with the same two parameters.
    auto *given = static_cast<const cuGraphInstantiateWithFlags_params *>(data->functionParams);
    auto found = std::make_shared<std::vector<uint32_t>>();
    note_nodes(given->hGraph, *found, 0);
    Guard guard(state().lock);
    state().graphs[*given->phGraphExec] = found;
}

void note_graph_launch(const CUpti_CallbackData *data) {
    auto *given = static_cast<const cuGraphLaunch_params *>(data->functionParams);
    Graph graph;
    {
        Guard guard(state().lock);
        auto found = state().graphs.find(given->hGraph);
        if (found == state().graphs.end()) return;
        graph = found->second;
    }
    if (is_capturing(reinterpret_cast<uint64_t>(given->hStream))) return;
    state().recorder.count_again(*graph);
    if (!state().awaited.empty()) {
        await(data->correlationId, 0, graph);
        name_device();
    }
}

// --- callbacks ---------------------------------------------------------------------------------------------

#define CALL(name) CUPTI_DRIVER_TRACE_CBID_##name

constexpr CUpti_CallbackId kCalls[] = {
    CALL(cuLaunchKernel), CALL(cuLaunchKernel_ptsz), CALL(cuLaunchKernelEx), CALL(cuLaunchKernelEx_ptsz),
    CALL(cuLaunchCooperativeKernel), CALL(cuLaunchCooperativeKernel_ptsz),
    CALL(cuGraphInstantiate), CALL(cuGraphInstantiate_v2), CALL(cuGraphInstantiateWithFlags),
    CALL(cuGraphInstantiateWithParams), CALL(cuGraphInstantiateWithParams_ptsz),
    CALL(cuGraphLaunch), CALL(cuGraphLaunch_ptsz), CALL(cuGraphExecDestroy),
    CALL(cuStreamBeginCapture), CALL(cuStreamBeginCapture_ptsz), CALL(cuStreamBeginCapture_v2),
    CALL(cuStreamBeginCapture_v2_ptsz), CALL(cuStreamEndCapture), CALL(cuStreamEndCapture_ptsz),
#if CUDA_VERSION >= 12030
    CALL(cuStreamBeginCaptureToGraph), CALL(cuStreamBeginCaptureToGraph_ptsz),
#endif
    CALL(cuMemFree), CALL(cuMemFree_v2), CALL(cuMemFreeAsync), CALL(cuMemFreeAsync_ptsz), CALL(cuMemFreeHost),
    CALL(cuMemHostUnregister), CALL(cuMemUnmap), CALL(cuMemAddressFree), CALL(cuMemPoolDestroy),
    CALL(cuCtxDestroy), CALL(cuCtxDestroy_v2), CALL(cuDevicePrimaryCtxRelease), CALL(cuDevicePrimaryCtxRelease_v2),
    CALL(cuDevicePrimaryCtxReset), CALL(cuDevicePrimaryCtxReset_v2), CALL(cuModuleUnload), CALL(cuLibraryUnload),
};

// Before a call: what it frees must not be recognised once it is gone.
void begin(CUpti_CallbackId call, const CUpti_CallbackData *data) {
    switch (call) {
        case CALL(cuMemFree_v2):
        case CALL(cuMemFreeAsync):
        case CALL(cuMemFreeAsync_ptsz):
        case CALL(cuMemFreeHost):
        case CALL(cuMemHostUnregister):
            // All of them begin with the address.
            state().recorder.forget(*static_cast<const uint64_t *>(data->functionParams));
            break;
        case CALL(cuMemFree):
        case CALL(cuMemUnmap):
        case CALL(cuMemAddressFree):
        case CALL(cuMemPoolDestroy):
            state().recorder.forget_all_memory();
            break;
        case CALL(cuCtxDestroy):
        case CALL(cuCtxDestroy_v2):
        case CALL(cuDevicePrimaryCtxRelease):
        case CALL(cuDevicePrimaryCtxRelease_v2):
        case CALL(cuDevicePrimaryCtxReset):
        case CALL(cuDevicePrimaryCtxReset_v2):
            take_all_times();
            state().recorder.forget_all_memory();
            state().recorder.forget_functions();
            break;
        case CALL(cuModuleUnload):
        case CALL(cuLibraryUnload):
            state().recorder.forget_functions();
            break;
        case CALL(cuGraphExecDestroy): {
            Guard guard(state().lock);
            state().graphs.erase(static_cast<const cuGraphExecDestroy_params *>(data->functionParams)->hGraphExec);
            break;
        }
        default:
            break;
    }
}

// After a call that has done what it should.
void end(CUpti_CallbackId call, const CUpti_CallbackData *data) {
    switch (call) {
        case CALL(cuLaunchKernel): return note_plain(data, nullptr);
        case CALL(cuLaunchKernel_ptsz): return note_plain(data, CU_STREAM_PER_THREAD);
        case CALL(cuLaunchKernelEx): return note_extended(data, nullptr);
        case CALL(cuLaunchKernelEx_ptsz): return note_extended(data, CU_STREAM_PER_THREAD);
        case CALL(cuLaunchCooperativeKernel): return note_cooperative(data, nullptr);
        case CALL(cuLaunchCooperativeKernel_ptsz): return note_cooperative(data, CU_STREAM_PER_THREAD);
        case CALL(cuGraphInstantiate):
        case CALL(cuGraphInstantiate_v2):
        case CALL(cuGraphInstantiateWithFlags):
        case CALL(cuGraphInstantiateWithParams):
        case CALL(cuGraphInstantiateWithParams_ptsz): return note_graph(data);
        case CALL(cuGraphLaunch):
        case CALL(cuGraphLaunch_ptsz): return note_graph_launch(data);
        case CALL(cuStreamBeginCapture):
        case CALL(cuStreamBeginCapture_ptsz):
        case CALL(cuStreamBeginCapture_v2):
        case CALL(cuStreamBeginCapture_v2_ptsz):
#if CUDA_VERSION >= 12030
        case CALL(cuStreamBeginCaptureToGraph):
        case CALL(cuStreamBeginCaptureToGraph_ptsz):
#endif
            ++state().captures;
            break;
        default: break;
    }
}

// A capture that has become invalid has ended, too; one that isn't this thread's goes on.
void end_capture(CUresult result) {
    if (result == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD || result == CUDA_ERROR_ILLEGAL_STATE) return;
    if (--state().captures < 0) state().captures = 0;
}

void CUPTIAPI called(void *, CUpti_CallbackDomain, CUpti_CallbackId call, const void *given) {
    auto *data = static_cast<const CUpti_CallbackData *>(given);
    if (state().is_off.load(std::memory_order_relaxed)) return;
    if (data->callbackSite == CUPTI_API_ENTER) return begin(call, data);
    auto result = *static_cast<const CUresult *>(data->functionReturnValue);
    if (call == CALL(cuStreamEndCapture) || call == CALL(cuStreamEndCapture_ptsz)) return end_capture(result);
    if (result == CUDA_SUCCESS) end(call, data);
}

// CUDA doesn't work in a child of a process that uses it: what shares this one's files is to leave them alone. If it
// becomes another program, that one is recorded like any other.
void be_off() { state().is_off = true; }

bool is_done(CUptiResult result, const char *what) {
    if (result == CUPTI_SUCCESS) return true;
    const char *text = nullptr;
    cuptiGetResultString(result, &text);
    state().recorder.say(std::string("!\t") + what + ": " + (text ? text : "unknown error"));
    return false;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
    const char *folder = getenv(kFolder);
    if (!folder || !state().recorder.open(folder)) return 1;
    CUpti_SubscriberHandle subscriber;
    if (!is_done(cuptiSubscribe(&subscriber, called, nullptr), "cuptiSubscribe")) return 1;
    for (CUpti_CallbackId call : kCalls)
        if (!is_done(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call), "cuptiEnableCallback"))
            return 1;
    pthread_atfork(nullptr, nullptr, be_off);
    if (!getenv(kTime) || !is_done(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "cuptiActivity")) return 1;
    state().awaited.resize(kMostAwaited);
    if (!is_done(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable")) return 1;
    atexit(take_all_times);
    return 1;
}
