#pragma once
#pragma clang force_cuda_host_device begin
#include "sys/types.h"
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define MB_CUR_MAX 6
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
struct drand48_data { unsigned short x[3]; };
struct random_data { int* state; };
extern "C" {
void* malloc(size_t);
void* calloc(size_t, size_t);
void* realloc(void*, size_t);
void* reallocarray(void*, size_t, size_t);
void free(void*);
void* aligned_alloc(size_t, size_t);
void* memalign(size_t, size_t);
void* valloc(size_t);
int posix_memalign(void**, size_t, size_t);
void* alloca(size_t);
void exit(int) __attribute__((noreturn));
void _exit(int) __attribute__((noreturn));
void abort() __attribute__((noreturn));
int atexit(void (*)());
int atoi(const char*);
long atol(const char*);
long long atoll(const char*);
double atof(const char*);
double strtod(const char*, char**);
float strtof(const char*, char**);
long double strtold(const char*, char**);
long strtol(const char*, char**, int);
long long strtoll(const char*, char**, int);
unsigned long strtoul(const char*, char**, int);
unsigned long long strtoull(const char*, char**, int);
int rand();
void srand(unsigned);
int rand_r(unsigned*);
long random();
void srandom(unsigned);
int random_r(random_data*, int*);
int initstate_r(unsigned, char*, size_t, random_data*);
double drand48();
double erand48(unsigned short*);
long lrand48();
long nrand48(unsigned short*);
long mrand48();
void srand48(long);
int drand48_r(drand48_data*, double*);
int lrand48_r(drand48_data*, long*);
int srand48_r(long, drand48_data*);
char* getenv(const char*);
int setenv(const char*, const char*, int);
int unsetenv(const char*);
int putenv(char*);
int system(const char*);
int mkstemp(char*);
char* mktemp(char*);
char* realpath(const char*, char*);
void qsort(void*, size_t, size_t, int (*)(const void*, const void*));
void* bsearch(const void*, const void*, size_t, size_t, int (*)(const void*, const void*));
div_t div(int, int);
ldiv_t ldiv(long, long);
lldiv_t lldiv(long long, long long);
int mblen(const char*, size_t);
int abs(int) noexcept;
long labs(long) noexcept;
long long llabs(long long) noexcept;
int getloadavg(double*, int);
}
#define alloca(n) __builtin_alloca(n)
#pragma clang force_cuda_host_device end
