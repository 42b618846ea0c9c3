/* Makes the k-th call of the system on files of one folder fail, or ends the process there. Loaded by LD_PRELOAD.

   Calls that count: open, write, fsync, rename, unlink, truncate and their relatives, whoever makes them: Python,
   pyarrow, SQLite. FAULTS_FOLDER is the folder; relative paths count as in it. fault_arm(k, code) is called by the
   process itself: code is an errno, or 0 to be killed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls, armed = -1;
static int code;
static char inside[65536];

void fault_arm(long k, int failure) { code = failure; calls = 0; armed = k; }
long fault_calls(void) { return calls; }

static int counts(const char *path) {
    const char *folder = getenv("FAULTS_FOLDER");
    if (!folder || !path || armed < 0) return 0;
    return path[0] != '/' || strncmp(path, folder, strlen(folder)) == 0;
}

static int fails(int counted) {
    if (!counted || armed < 0) return 0;
    long k = atomic_fetch_add(&calls, 1) + 1;
    if (k != armed) return 0;
    if (code == 0) { kill(getpid(), SIGKILL); for (;;) pause(); }
    errno = code;
    return 1;
}

static int known(int fd) { return fd >= 0 && fd < (int)sizeof inside && inside[fd]; }
static int opened(int fd, int counted) {
    if (fd >= 0 && fd < (int)sizeof inside) inside[fd] = (char)counted;
    return fd;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define MODE(flags) mode_t mode = 0; if ((flags) & (O_CREAT | __O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { REAL(open); MODE(flags); int c = counts(path); return fails(c) ? -1 : opened(real(path, flags, mode), c); }
int open64(const char *path, int flags, ...) { REAL(open64); MODE(flags); int c = counts(path); return fails(c) ? -1 : opened(real(path, flags, mode), c); }
int openat(int at, const char *path, int flags, ...) { REAL(openat); MODE(flags); int c = at == AT_FDCWD && counts(path); return fails(c) ? -1 : opened(real(at, path, flags, mode), c); }
int openat64(int at, const char *path, int flags, ...) { REAL(openat64); MODE(flags); int c = at == AT_FDCWD && counts(path); return fails(c) ? -1 : opened(real(at, path, flags, mode), c); }
FILE *fopen(const char *path, const char *mode) { REAL(fopen); return fails(counts(path)) ? NULL : real(path, mode); }
FILE *fopen64(const char *path, const char *mode) { REAL(fopen64); return fails(counts(path)) ? NULL : real(path, mode); }
int close(int fd) { REAL(close); if (known(fd)) inside[fd] = 0; return real(fd); }
ssize_t write(int fd, const void *b, size_t n) { REAL(write); return fails(known(fd)) ? -1 : real(fd, b, n); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { REAL(pwrite); return fails(known(fd)) ? -1 : real(fd, b, n, o); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) { REAL(pwrite64); return fails(known(fd)) ? -1 : real(fd, b, n, o); }
ssize_t writev(int fd, const struct iovec *v, int n) { REAL(writev); return fails(known(fd)) ? -1 : real(fd, v, n); }
int fsync(int fd) { REAL(fsync); return fails(known(fd)) ? -1 : real(fd); }
int fdatasync(int fd) { REAL(fdatasync); return fails(known(fd)) ? -1 : real(fd); }
int ftruncate(int fd, off_t n) { REAL(ftruncate); return fails(known(fd)) ? -1 : real(fd, n); }
int ftruncate64(int fd, off64_t n) { REAL(ftruncate64); return fails(known(fd)) ? -1 : real(fd, n); }
int rename(const char *a, const char *b) { REAL(rename); return fails(counts(b)) ? -1 : real(a, b); }
int renameat(int x, const char *a, int y, const char *b) { REAL(renameat); return fails(counts(b)) ? -1 : real(x, a, y, b); }
int unlink(const char *path) { REAL(unlink); return fails(counts(path)) ? -1 : real(path); }
int unlinkat(int at, const char *path, int flags) { REAL(unlinkat); return fails(at == AT_FDCWD && counts(path)) ? -1 : real(at, path, flags); }
