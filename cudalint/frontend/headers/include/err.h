#pragma once
#pragma clang force_cuda_host_device begin
extern "C" {
void err(int, const char*, ...) __attribute__((noreturn));
void errx(int, const char*, ...) __attribute__((noreturn));
void warn(const char*, ...);
void warnx(const char*, ...);
}
#pragma clang force_cuda_host_device end
