#pragma once
#pragma clang force_cuda_host_device begin
typedef struct _nvrtcProgram* nvrtcProgram;
typedef enum { NVRTC_SUCCESS, NVRTC_ERROR_OUT_OF_MEMORY, NVRTC_ERROR_COMPILATION = 6 } nvrtcResult;
extern "C" {
const char* nvrtcGetErrorString(nvrtcResult);
nvrtcResult nvrtcCompileProgram(...);
nvrtcResult nvrtcCreateProgram(...);
nvrtcResult nvrtcDestroyProgram(...);
nvrtcResult nvrtcGetCUBIN(...);
nvrtcResult nvrtcGetCUBINSize(...);
nvrtcResult nvrtcGetPTX(...);
nvrtcResult nvrtcGetPTXSize(...);
nvrtcResult nvrtcGetProgramLog(...);
nvrtcResult nvrtcGetProgramLogSize(...);
nvrtcResult nvrtcVersion(...);
nvrtcResult nvrtcAddNameExpression(...);
nvrtcResult nvrtcGetLoweredName(...);
}
#pragma clang force_cuda_host_device end
