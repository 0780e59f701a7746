#pragma once
#pragma clang force_cuda_host_device begin
#include "types.h"
#include "../time.h"
struct stat {
    dev_t st_dev;
    ino_t st_ino;
    mode_t st_mode;
    nlink_t st_nlink;
    uid_t st_uid;
    gid_t st_gid;
    off_t st_size;
    blksize_t st_blksize;
    time_t st_atime, st_mtime, st_ctime;
};
#define S_IRWXU 0700
#define S_IRUSR 0400
#define S_IWUSR 0200
#define S_IXUSR 0100
#define S_IRWXG 070
#define S_IRGRP 040
#define S_IWGRP 020
#define S_IXGRP 010
#define S_IRWXO 07
#define S_IROTH 04
#define S_IXOTH 01
#define S_IFMT 0170000
#define S_ISDIR(m) (((m) & S_IFMT) == 0040000)
#define S_ISREG(m) (((m) & S_IFMT) == 0100000)
extern "C" {
int stat(const char*, struct stat*);
int fstat(int, struct stat*);
int lstat(const char*, struct stat*);
int mkdir(const char*, mode_t);
int chmod(const char*, mode_t);
int mkfifo(const char*, mode_t);
mode_t umask(mode_t);
}
#pragma clang force_cuda_host_device end
