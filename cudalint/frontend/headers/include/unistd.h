#pragma once
#pragma clang force_cuda_host_device begin
#include "sys/types.h"
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4
#define _SC_PAGESIZE 30
#define _SC_PAGE_SIZE 30
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
#define _SC_PHYS_PAGES 85
#define _SC_CLK_TCK 2
extern char* optarg;
extern int optind, opterr, optopt;
extern char** environ;
extern "C" {
int access(const char*, int);
unsigned alarm(unsigned);
int chdir(const char*);
int close(int);
int dup(int);
int dup2(int, int);
int execv(const char*, char* const*);
int execvp(const char*, char* const*);
pid_t fork();
int fsync(int);
int ftruncate(int, off_t);
char* getcwd(char*, size_t);
int gethostname(char*, size_t);
int getopt(int, char* const*, const char*);
int getpagesize();
pid_t getpid();
pid_t getppid();
uid_t getuid();
int isatty(int);
off_t lseek(int, off_t, int);
int pipe(int*);
ssize_t read(int, void*, size_t);
ssize_t write(int, const void*, size_t);
ssize_t pread(int, void*, size_t, off_t);
ssize_t pwrite(int, const void*, size_t, off_t);
ssize_t readlink(const char*, char*, size_t);
int rmdir(const char*);
unsigned sleep(unsigned);
int usleep(useconds_t);
long sysconf(int);
int unlink(const char*);
void sync();
}
#pragma clang force_cuda_host_device end
