// Stands in for the driver, for CUPTI and for a program that is recorded, by the macro that is set: what the library
// that records does with the calls it is told of. None of this needs a GPU, only CUDA's headers.

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef OF_DRIVER

// Functions are texts: their names. All take a pointer and a number.
extern "C" CUresult cuFuncGetName(const char **name, CUfunction function) {
    *name = reinterpret_cast<const char *>(function);
    return CUDA_SUCCESS;
}
extern "C" CUresult cuFuncGetParamInfo(CUfunction, size_t number, size_t *offset, size_t *size) {
    if (number > 1) return CUDA_ERROR_INVALID_VALUE;
    *offset = 8 * number;
    *size = number ? 4 : 8;
    return CUDA_SUCCESS;
}
extern "C" CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    if (address >> 12 != 0x7f0000000) return CUDA_ERROR_NOT_FOUND;
    *base = 0x7f0000000000;
    *bytes = getenv("DOUBLE_EXTENT") ? 2048 : 4096;
    return CUDA_SUCCESS;
}
extern "C" CUresult cuPointerGetAttribute(void *, CUpointer_attribute, CUdeviceptr) { return CUDA_ERROR_INVALID_VALUE; }
extern "C" CUresult cuCtxGetDevice(CUdevice *device) { return *device = 0, CUDA_SUCCESS; }
extern "C" CUresult cuDeviceGetName(char *name, int size, CUdevice) {
    snprintf(name, size, "A double");
    return CUDA_SUCCESS;
}
extern "C" CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    *status = stream == reinterpret_cast<CUstream>(0x77) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

// A graph of two kernels, one of them in a graph of its own.
extern "C" CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *many) {
    bool is_outer = graph == reinterpret_cast<CUgraph>(1);
    if (nodes) nodes[0] = reinterpret_cast<CUgraphNode>(is_outer ? 10 : 12);
    if (nodes && is_outer) nodes[1] = reinterpret_cast<CUgraphNode>(11);
    *many = is_outer ? 2 : 1;
    return CUDA_SUCCESS;
}
extern "C" CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
    *type = node == reinterpret_cast<CUgraphNode>(11) ? CU_GRAPH_NODE_TYPE_GRAPH : CU_GRAPH_NODE_TYPE_KERNEL;
    return CUDA_SUCCESS;
}
extern "C" CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode, CUgraph *graph) {
    *graph = reinterpret_cast<CUgraph>(2);
    return CUDA_SUCCESS;
}
extern "C" CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *given) {
    static uint64_t pointer = 0x7f0000000008;
    static uint32_t number = 6;
    static void *each[] = {&pointer, &number};
    memset(given, 0, sizeof *given);
    given->func = reinterpret_cast<CUfunction>(const_cast<char *>("node"));
    given->gridDimX = unsigned(reinterpret_cast<uintptr_t>(node));
    given->gridDimY = given->gridDimZ = given->blockDimY = given->blockDimZ = 1;
    given->blockDimX = 32;
    given->kernelParams = each;
    return CUDA_SUCCESS;
}

#elif defined(OF_CUPTI)

static CUpti_CallbackFunc subscribed;
static bool enabled[2048];
static CUpti_BuffersCallbackCompleteFunc take;
static CUpti_BuffersCallbackRequestFunc give;
static uint32_t timed;

extern "C" CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *, CUpti_CallbackFunc callback, void *) {
    if (getenv("DOUBLE_REFUSES")) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    subscribed = callback;
    return CUPTI_SUCCESS;
}
extern "C" CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId call) {
    return enabled[call] = true, CUPTI_SUCCESS;
}
extern "C" CUptiResult cuptiGetResultString(CUptiResult, const char **text) { return *text = "a reason", CUPTI_SUCCESS; }
extern "C" CUptiResult cuptiActivityEnable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
extern "C" CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc one,
                                                      CUpti_BuffersCallbackCompleteFunc other) {
    return give = one, take = other, CUPTI_SUCCESS;
}
// All that was launched takes two microseconds.
extern "C" CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t, CUpti_Activity **record) {
    auto *own = reinterpret_cast<CUpti_ActivityKernel9 *>(buffer);
    if (!timed) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    memset(own, 0, sizeof *own);
    own->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    own->start = 1000, own->end = 3000;
    own->correlationId = timed--;
    own->name = "node";
    own->gridX = 12, own->blockX = 32;
    own->gridY = own->gridZ = own->blockY = own->blockZ = 1;
    *record = reinterpret_cast<CUpti_Activity *>(own);
    return CUPTI_SUCCESS;
}
extern "C" CUptiResult cuptiActivityFlushAll(uint32_t) {
    uint8_t *buffer;
    size_t size, most;
    give(&buffer, &size, &most);
    take(nullptr, 0, buffer, size, size);
    return CUPTI_SUCCESS;
}
extern "C" void double_call(CUpti_CallbackId call, const void *parameters, const char *symbol, CUresult result) {
    if (!enabled[call] || !subscribed) return;
    CUpti_CallbackData data{};
    data.functionParams = parameters;
    data.functionReturnValue = &result;
    data.symbolName = symbol;
    data.correlationId = ++timed;
    data.callbackSite = CUPTI_API_ENTER;
    subscribed(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, call, &data);
    data.callbackSite = CUPTI_API_EXIT;
    subscribed(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, call, &data);
}

#else

#include <sys/wait.h>
#include <unistd.h>

extern "C" void double_call(CUpti_CallbackId call, const void *parameters, const char *symbol, CUresult result);

#define CALL(name, parameters, symbol, result) double_call(CUPTI_DRIVER_TRACE_CBID_##name, parameters, symbol, result)

static uint64_t pointer = 0x7f0000000100;
static uint32_t number = 1000;
static void *each[] = {&pointer, &number};
static const CUstream kCaptured = reinterpret_cast<CUstream>(0x77), kOther = reinterpret_cast<CUstream>(0x99);

static void launch(const char *name, unsigned grid, CUstream stream, CUresult result = CUDA_SUCCESS) {
    cuLaunchKernel_params given{};
    given.f = reinterpret_cast<CUfunction>(const_cast<char *>(name));
    given.gridDimX = grid;
    given.gridDimY = given.gridDimZ = given.blockDimY = given.blockDimZ = 1;
    given.blockDimX = 64;
    given.hStream = stream;
    given.kernelParams = each;
    CALL(cuLaunchKernel, &given, name, result);
}

static void all_kinds() {
    for (int i = 0; i < 3; ++i) launch("plain", 1, nullptr);
    launch("plain", 1, kOther);
    launch("plain", 2, nullptr, CUDA_ERROR_INVALID_VALUE);

    CUlaunchAttribute attributes[2]{};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim.x = 4, attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[1].value.cooperative = 1;
    CUlaunchConfig config{8, 1, 1, 64, 1, 1, 512, nullptr, attributes, 2};
    cuLaunchKernelEx_params extended{};
    extended.config = &config;
    extended.f = reinterpret_cast<CUfunction>(const_cast<char *>("extended"));
    char packed[12];
    size_t size = sizeof packed;
    memcpy(packed, &pointer, 8), memcpy(packed + 8, &number, 4);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    extended.extra = extra;
    CALL(cuLaunchKernelEx, &extended, "extended", CUDA_SUCCESS);

    // A captured launch isn't counted, one into another stream is; the graph is launched twice, and once fails.
    cuStreamBeginCapture_v2_params capture{};
    CALL(cuStreamBeginCapture_v2, &capture, nullptr, CUDA_SUCCESS);
    launch("node", 10, kCaptured);
    launch("beside", 1, kOther);
    CALL(cuStreamEndCapture, &capture, nullptr, CUDA_SUCCESS);
    launch("after", 1, kCaptured);
    CUgraphExec made = reinterpret_cast<CUgraphExec>(5);
    cuGraphInstantiateWithFlags_params instantiate{&made, reinterpret_cast<CUgraph>(1), 0};
    CALL(cuGraphInstantiateWithFlags, &instantiate, nullptr, CUDA_SUCCESS);
    cuGraphLaunch_params run{made, nullptr};
    CALL(cuGraphLaunch, &run, nullptr, CUDA_SUCCESS);
    CALL(cuGraphLaunch, &run, nullptr, CUDA_SUCCESS);
    CALL(cuGraphLaunch, &run, nullptr, CUDA_ERROR_INVALID_VALUE);

    // The same address leads to another allocation once the first is freed.
    setenv("DOUBLE_EXTENT", "2048", 1);
    launch("plain", 1, nullptr);
    cuMemFree_v2_params other{0x7e0000000000}, free{0x7f0000000000};
    CALL(cuMemFree_v2, &other, nullptr, CUDA_SUCCESS);
    launch("plain", 1, nullptr);
    CALL(cuMemFree_v2, &free, nullptr, CUDA_SUCCESS);
    launch("plain", 1, nullptr);
    // Other code gets the same handle.
    cuModuleUnload_params unload{};
    static char name[] = "first!";
    launch(name, 1, nullptr);
    CALL(cuModuleUnload, &unload, nullptr, CUDA_SUCCESS);
    strcpy(name, "second");
    launch(name, 1, nullptr);
}

int main(int count, char **given) {
    void *library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
    auto initialize = library ? reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")) : nullptr;
    if (!initialize || initialize() != 1) return fprintf(stderr, "%s\n", dlerror()), 99;
    all_kinds();
    puts("done");
    fflush(stdout);
    if (count > 1 && !strcmp(given[1], "kill")) kill(getpid(), SIGKILL);
    if (count > 1 && !strcmp(given[1], "fork")) {
        if (fork() == 0) {
            launch("in the child", 1, nullptr);
            exit(0);
        }
        wait(nullptr);
    }
    return 3;
}

#endif
