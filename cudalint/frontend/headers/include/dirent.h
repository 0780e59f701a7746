#pragma once
#pragma clang force_cuda_host_device begin
#include "sys/types.h"
#define DT_DIR 4
#define DT_REG 8
typedef struct _cudalint_dir DIR;
struct dirent { ino_t d_ino; unsigned char d_type; char d_name[256]; };
extern "C" DIR* opendir(const char*);
extern "C" dirent* readdir(DIR*);
extern "C" int closedir(DIR*);
#pragma clang force_cuda_host_device end
