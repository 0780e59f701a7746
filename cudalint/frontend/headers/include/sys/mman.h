#pragma once
#pragma clang force_cuda_host_device begin
#include "types.h"
#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 16
#define MAP_ANONYMOUS 32
#define MAP_ANON 32
#define MAP_NORESERVE 16384
#define MAP_HUGETLB 262144
#define MAP_FAILED ((void*)-1)
#define MADV_HUGEPAGE 14
extern "C" {
void* mmap(void*, size_t, int, int, int, off_t);
int munmap(void*, size_t);
int mprotect(void*, size_t, int);
int madvise(void*, size_t, int);
int mlock(const void*, size_t);
int munlock(const void*, size_t);
int shm_open(const char*, int, mode_t);
int shm_unlink(const char*);
}
#pragma clang force_cuda_host_device end
