#pragma once
#pragma clang force_cuda_host_device begin
#include "_cudalint/base.h"
extern "C" {
void* memcpy(void*, const void*, size_t);
void* memmove(void*, const void*, size_t);
void* memset(void*, int, size_t);
int memcmp(const void*, const void*, size_t);
void* mempcpy(void*, const void*, size_t);
size_t strlen(const char*);
size_t strnlen(const char*, size_t);
int strcmp(const char*, const char*);
int strncmp(const char*, const char*, size_t);
int strcasecmp(const char*, const char*);
int strncasecmp(const char*, const char*, size_t);
int strcoll(const char*, const char*);
char* strcpy(char*, const char*);
char* strncpy(char*, const char*, size_t);
char* stpcpy(char*, const char*);
char* strcat(char*, const char*);
char* strncat(char*, const char*, size_t);
char* strdup(const char*);
char* strndup(const char*, size_t);
char* strtok(char*, const char*);
char* strtok_r(char*, const char*, char**);
char* strsep(char**, const char*);
char* strerror(int);
char* strsignal(int);
size_t strspn(const char*, const char*);
size_t strcspn(const char*, const char*);
size_t strlcpy(char*, const char*, size_t);
size_t strxfrm(char*, const char*, size_t);
void bzero(void*, size_t);
void bcopy(const void*, void*, size_t);
int bcmp(const void*, const void*, size_t);
int ffs(int);
int ffsl(long);
int ffsll(long long);
}
const char* strchr(const char*, int);
char* strchr(char*, int);
const char* strrchr(const char*, int);
char* strrchr(char*, int);
const char* strstr(const char*, const char*);
char* strstr(char*, const char*);
const char* strcasestr(const char*, const char*);
const char* strpbrk(const char*, const char*);
char* strpbrk(char*, const char*);
const void* memchr(const void*, int, size_t);
void* memchr(void*, int, size_t);
#pragma clang force_cuda_host_device end
