// Stops a program, or fails its call, at the N-th call that changes something in the file system.
//
//     cc -shared -fPIC -O1 -o shim.so shim.c -ldl
//     LD_PRELOAD=./shim.so SHIM_N=12 SHIM_MODE=KILL blosc append x.bcolz rows.npy
//
// SHIM_N     the number of the call, 1 for the first; none where it is not set
// SHIM_MODE  KILL, or the error that the call returns: ENOSPC, EIO
// SHIM_LOG   a file to which each call adds a line
// Calls on the descriptors 0 to 2 do not count. Programs that call the kernel themselves are not seen.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int calls;

// Whether this call fails.
static int hit(const char *name, int fd) {
    if (fd >= 0 && fd <= 2) return 0;
    const char *n = getenv("SHIM_N"), *mode = getenv("SHIM_MODE"), *log = getenv("SHIM_LOG");
    int k = __sync_add_and_fetch(&calls, 1);
    if (log) {
        char line[64];
        int len = snprintf(line, sizeof line, "%d %s\n", k, name);
        int to = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0644);
        syscall(SYS_write, to, line, len);
        syscall(SYS_close, to);
    }
    if (!n || !mode || k != atoi(n)) return 0;
    if (!strcmp(mode, "KILL")) kill(getpid(), SIGKILL);
    errno = strcmp(mode, "EIO") ? ENOSPC : EIO;
    return 1;
}

#define CALL(type, name, params, args, fd)                                  \
    type name params {                                                      \
        static type(*real) params;                                          \
        if (!real) real = (type(*) params)dlsym(RTLD_NEXT, #name);          \
        return hit(#name, fd) ? -1 : real args;                             \
    }

CALL(ssize_t, write, (int fd, const void *b, size_t n), (fd, b, n), fd)
CALL(ssize_t, pwrite, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o), fd)
CALL(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o), fd)
CALL(ssize_t, copy_file_range, (int a, off64_t *ao, int b, off64_t *bo, size_t n, unsigned f), (a, ao, b, bo, n, f), b)
CALL(int, fsync, (int fd), (fd), fd)
CALL(int, fdatasync, (int fd), (fd), fd)
CALL(int, ftruncate, (int fd, off_t n), (fd, n), fd)
CALL(int, ftruncate64, (int fd, off64_t n), (fd, n), fd)
CALL(int, fchmod, (int fd, mode_t m), (fd, m), fd)
CALL(int, rename, (const char *a, const char *b), (a, b), -1)
CALL(int, link, (const char *a, const char *b), (a, b), -1)
CALL(int, linkat, (int x, const char *a, int y, const char *b, int f), (x, a, y, b, f), -1)
CALL(int, unlink, (const char *p), (p), -1)
CALL(int, unlinkat, (int d, const char *p, int f), (d, p, f), -1)
CALL(int, rmdir, (const char *p), (p), -1)
CALL(int, mkdir, (const char *p, mode_t m), (p, m), -1)

#define OPEN(name)                                                          \
    int name(const char *p, int f, ...) {                                   \
        static int (*real)(const char *, int, ...);                         \
        if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
        va_list list;                                                       \
        va_start(list, f);                                                  \
        mode_t m = f & O_CREAT ? va_arg(list, mode_t) : 0;                  \
        va_end(list);                                                       \
        return (f & O_CREAT) && hit("create", -1) ? -1 : real(p, f, m);     \
    }
OPEN(open)
OPEN(open64)
