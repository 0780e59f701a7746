#pragma once
#pragma clang force_cuda_host_device begin
struct sysinfo { long uptime; unsigned long totalram, freeram; unsigned mem_unit; };
extern "C" int sysinfo(struct sysinfo*);
extern "C" int get_nprocs();
#pragma clang force_cuda_host_device end
