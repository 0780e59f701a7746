#pragma once
#pragma clang force_cuda_host_device begin
#include "sys/types.h"
typedef int sig_atomic_t;
typedef void (*sighandler_t)(int);
#define SIG_DFL ((sighandler_t)0)
#define SIG_IGN ((sighandler_t)1)
#define SIG_ERR ((sighandler_t)-1)
#define SIGINT 2
#define SIGILL 4
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
struct sigset_t { unsigned long bits[16]; };
struct siginfo_t { int si_signo, si_code; void* si_addr; };
struct sigaction { sighandler_t sa_handler; void (*sa_sigaction)(int, siginfo_t*, void*); sigset_t sa_mask; int sa_flags; };
extern "C" {
sighandler_t signal(int, sighandler_t);
int sigaction(int, const struct sigaction*, struct sigaction*);
int sigemptyset(sigset_t*);
int raise(int);
int kill(pid_t, int);
}
#pragma clang force_cuda_host_device end
