#pragma once
#pragma clang force_cuda_host_device begin
#include "stdarg.h"
#include "_cudalint/base.h"
typedef struct _cudalint_file FILE;
typedef long fpos_t;
typedef long ssize_t;
typedef long off_t;
extern FILE* stdin;
extern FILE* stdout;
extern FILE* stderr;
#define EOF (-1)
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define BUFSIZ 8192
#define FILENAME_MAX 4096
#define L_tmpnam 20
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
#define stdin stdin
#define stdout stdout
#define stderr stderr
extern "C" {
int printf(const char*, ...);
int fprintf(FILE*, const char*, ...);
int sprintf(char*, const char*, ...);
int snprintf(char*, size_t, const char*, ...);
int dprintf(int, const char*, ...);
int asprintf(char**, const char*, ...);
int vprintf(const char*, va_list);
int vfprintf(FILE*, const char*, va_list);
int vsprintf(char*, const char*, va_list);
int vsnprintf(char*, size_t, const char*, va_list);
int vasprintf(char**, const char*, va_list);
int scanf(const char*, ...);
int fscanf(FILE*, const char*, ...);
int sscanf(const char*, const char*, ...);
int vsscanf(const char*, const char*, va_list);
FILE* fopen(const char*, const char*);
FILE* freopen(const char*, const char*, FILE*);
FILE* fdopen(int, const char*);
FILE* popen(const char*, const char*);
FILE* tmpfile();
int pclose(FILE*);
int fclose(FILE*);
int fflush(FILE*);
int feof(FILE*);
int ferror(FILE*);
void clearerr(FILE*);
int fileno(FILE*);
size_t fread(void*, size_t, size_t, FILE*);
size_t fwrite(const void*, size_t, size_t, FILE*);
int fseek(FILE*, long, int);
int fseeko(FILE*, off_t, int);
long ftell(FILE*);
off_t ftello(FILE*);
void rewind(FILE*);
int fgetpos(FILE*, fpos_t*);
int fsetpos(FILE*, const fpos_t*);
int fgetc(FILE*);
int getc(FILE*);
int getchar();
int ungetc(int, FILE*);
int fputc(int, FILE*);
int putc(int, FILE*);
int putchar(int);
char* fgets(char*, int, FILE*);
char* gets(char*);
int fputs(const char*, FILE*);
int puts(const char*);
ssize_t getline(char**, size_t*, FILE*);
ssize_t getdelim(char**, size_t*, int, FILE*);
void perror(const char*);
int remove(const char*);
int rename(const char*, const char*);
int setvbuf(FILE*, char*, int, size_t);
void setbuf(FILE*, char*);
void setlinebuf(FILE*);
char* tmpnam(char*);
}
#pragma clang force_cuda_host_device end
