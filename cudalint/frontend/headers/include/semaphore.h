#pragma once
#pragma clang force_cuda_host_device begin
struct sem_t { long opaque[4]; };
extern "C" int sem_init(sem_t*, int, unsigned);
extern "C" int sem_wait(sem_t*);
extern "C" int sem_post(sem_t*);
extern "C" int sem_destroy(sem_t*);
#pragma clang force_cuda_host_device end
