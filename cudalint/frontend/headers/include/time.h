#pragma once
#pragma clang force_cuda_host_device begin
#include "_cudalint/base.h"
#define CLOCKS_PER_SEC 1000000L
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID 3
#define CLOCK_MONOTONIC_RAW 4
#define TIME_UTC 1
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
struct timespec { time_t tv_sec; long tv_nsec; };
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; };
extern "C" {
clock_t clock();
time_t time(time_t*);
double difftime(time_t, time_t);
time_t mktime(tm*);
tm* localtime(const time_t*);
tm* localtime_r(const time_t*, tm*);
tm* gmtime(const time_t*);
tm* gmtime_r(const time_t*, tm*);
char* ctime(const time_t*);
char* asctime(const tm*);
size_t strftime(char*, size_t, const char*, const tm*);
int clock_gettime(clockid_t, timespec*);
int clock_getres(clockid_t, timespec*);
int nanosleep(const timespec*, timespec*);
int timespec_get(timespec*, int);
}
#pragma clang force_cuda_host_device end
