#pragma once
#pragma clang force_cuda_host_device begin
#include "sched.h"
#include "time.h"
typedef unsigned long pthread_t;
typedef unsigned pthread_key_t;
typedef int pthread_once_t;
struct pthread_attr_t { long opaque[7]; };
struct pthread_mutex_t { long opaque[5]; };
struct pthread_mutexattr_t { int opaque; };
struct pthread_cond_t { long opaque[6]; };
struct pthread_condattr_t { int opaque; };
struct pthread_barrier_t { long opaque[4]; };
struct pthread_barrierattr_t { int opaque; };
struct pthread_rwlock_t { long opaque[7]; };
struct pthread_rwlockattr_t { long opaque; };
typedef volatile int pthread_spinlock_t;
#define PTHREAD_MUTEX_INITIALIZER {}
#define PTHREAD_COND_INITIALIZER {}
#define PTHREAD_ONCE_INIT 0
#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_SCOPE_SYSTEM 0
#define PTHREAD_PROCESS_SHARED 1
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
extern "C" {
int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int pthread_join(pthread_t, void**);
int pthread_detach(pthread_t);
int pthread_cancel(pthread_t);
void pthread_exit(void*) __attribute__((noreturn));
pthread_t pthread_self();
int pthread_equal(pthread_t, pthread_t);
int pthread_once(pthread_once_t*, void (*)());
int pthread_attr_init(pthread_attr_t*);
int pthread_attr_destroy(pthread_attr_t*);
int pthread_attr_setdetachstate(pthread_attr_t*, int);
int pthread_attr_setscope(pthread_attr_t*, int);
int pthread_attr_setstacksize(pthread_attr_t*, size_t);
int pthread_mutex_init(pthread_mutex_t*, const pthread_mutexattr_t*);
int pthread_mutex_lock(pthread_mutex_t*);
int pthread_mutex_trylock(pthread_mutex_t*);
int pthread_mutex_unlock(pthread_mutex_t*);
int pthread_mutex_destroy(pthread_mutex_t*);
int pthread_mutexattr_init(pthread_mutexattr_t*);
int pthread_mutexattr_settype(pthread_mutexattr_t*, int);
int pthread_mutexattr_setpshared(pthread_mutexattr_t*, int);
int pthread_cond_init(pthread_cond_t*, const pthread_condattr_t*);
int pthread_cond_wait(pthread_cond_t*, pthread_mutex_t*);
int pthread_cond_signal(pthread_cond_t*);
int pthread_cond_broadcast(pthread_cond_t*);
int pthread_cond_destroy(pthread_cond_t*);
int pthread_barrier_init(pthread_barrier_t*, const pthread_barrierattr_t*, unsigned);
int pthread_barrier_wait(pthread_barrier_t*);
int pthread_barrier_destroy(pthread_barrier_t*);
int pthread_barrierattr_init(pthread_barrierattr_t*);
int pthread_barrierattr_setpshared(pthread_barrierattr_t*, int);
int pthread_setaffinity_np(pthread_t, size_t, const cpu_set_t*);
int pthread_getaffinity_np(pthread_t, size_t, cpu_set_t*);
}
#pragma clang force_cuda_host_device end
