#pragma once
// How libcu++ writes its own declarations, as those do that add to it.
#include "../type_traits"
#define _CCCL_API __host__ __device__
#define _CCCL_HOST_API __host__
#define _CCCL_DEVICE_API __device__
#define _CCCL_HOST_DEVICE __host__ __device__
#define _CCCL_HIDE_FROM_ABI
#define _CCCL_FORCEINLINE __forceinline__
#define _CCCL_TEMPLATE(...) template <__VA_ARGS__
#define _CCCL_REQUIRES(...) , ::std::enable_if_t<(__VA_ARGS__), bool> = true>
#define _CCCL_AND &&
