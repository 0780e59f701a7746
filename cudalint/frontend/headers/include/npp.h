#pragma once
#pragma clang force_cuda_host_device begin
#define NV_NPPIDEFS_H
typedef unsigned char Npp8u;
typedef signed char Npp8s;
typedef unsigned short Npp16u;
typedef short Npp16s;
typedef unsigned int Npp32u;
typedef int Npp32s;
typedef unsigned long long Npp64u;
typedef long long Npp64s;
typedef float Npp32f;
typedef double Npp64f;
struct NppiSize { int width, height; };
struct NppiPoint { int x, y; };
struct NppiRect { int x, y, width, height; };
enum NppStatus { NPP_NOT_SUPPORTED_MODE_ERROR = -9999, NPP_ERROR = -2, NPP_NO_ERROR = 0, NPP_SUCCESS = 0 };
#pragma clang force_cuda_host_device end
