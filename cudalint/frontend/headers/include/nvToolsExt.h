#pragma once
#pragma clang force_cuda_host_device begin
typedef unsigned long long nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;
#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE sizeof(nvtxEventAttributes_t)
enum nvtxColorType_t { NVTX_COLOR_UNKNOWN, NVTX_COLOR_ARGB };
enum nvtxMessageType_t { NVTX_MESSAGE_UNKNOWN, NVTX_MESSAGE_TYPE_ASCII };
struct nvtxEventAttributes_t {
    unsigned short version, size;
    unsigned category;
    int colorType;
    unsigned color;
    int payloadType, reserved0;
    union { unsigned long long ullValue; double dValue; } payload;
    int messageType;
    union { const char* ascii; } message;
};
extern "C" {
int nvtxRangePushA(const char*);
int nvtxRangePush(const char*);
int nvtxRangePushEx(const nvtxEventAttributes_t*);
int nvtxRangePop();
nvtxRangeId_t nvtxRangeStartA(const char*);
nvtxRangeId_t nvtxRangeStart(const char*);
void nvtxRangeEnd(nvtxRangeId_t);
void nvtxMark(const char*);
void nvtxMarkA(const char*);
void nvtxNameCudaStreamA(cudaStream_t, const char*);
void nvtxNameCudaEventA(cudaEvent_t, const char*);
}
#pragma clang force_cuda_host_device end
