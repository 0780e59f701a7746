#pragma once
#pragma clang force_cuda_host_device begin
#include "sys/types.h"
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 64
#define O_EXCL 128
#define O_TRUNC 512
#define O_APPEND 1024
#define O_NONBLOCK 2048
#define O_SYNC 1052672
#define O_DIRECT 16384
#define O_CLOEXEC 524288
#define F_GETFL 3
#define F_SETFL 4
extern "C" int open(const char*, int, ...);
extern "C" int creat(const char*, mode_t);
extern "C" int fcntl(int, int, ...);
extern "C" int posix_fallocate(int, off_t, off_t);
#pragma clang force_cuda_host_device end
