#pragma once
#pragma clang force_cuda_host_device begin
extern "C" char* basename(char*);
extern "C" char* dirname(char*);
#pragma clang force_cuda_host_device end
