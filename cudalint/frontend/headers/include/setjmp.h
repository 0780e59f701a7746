#pragma once
#pragma clang force_cuda_host_device begin
struct _cudalint_jump { long registers[25]; };
typedef _cudalint_jump jmp_buf[1];
extern "C" int setjmp(jmp_buf);
extern "C" void longjmp(jmp_buf, int) __attribute__((noreturn));
#pragma clang force_cuda_host_device end
