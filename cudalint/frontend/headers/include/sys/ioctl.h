#pragma once
#pragma clang force_cuda_host_device begin
extern "C" int ioctl(int, unsigned long, ...);
#pragma clang force_cuda_host_device end
