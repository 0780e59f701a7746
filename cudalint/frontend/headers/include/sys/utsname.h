#pragma once
#pragma clang force_cuda_host_device begin
struct utsname { char sysname[65], nodename[65], release[65], version[65], machine[65]; };
extern "C" int uname(utsname*);
#pragma clang force_cuda_host_device end
