/* Makes the k-th call of the system on files of one folder fail, or ends the process there. Loaded by LD_PRELOAD.

   Calls that count: open, read, write, fsync, rename, unlink, truncate, mkdir, chmod, close, locks, and their relatives,
   whoever makes them: Python, pyarrow, SQLite. FAULTS_FOLDER is the folder; relative paths count as in it.
   fault_arm(k, code, told) is called by the process itself. The code is an errno, 0 to be killed, or SHORT: a write
   then writes half of what it should, and nothing else fails; or NAMES: nothing fails, and the name of each call is told.
   The name of what failed is written to the descriptor `told`, with a line end. */
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
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define SHORT -2
#define NAMES -3

static atomic_long calls, armed = -1;
static int code, told = -1;
static char inside[65536];

void fault_arm(long k, int failure, int descriptor) { code = failure; told = descriptor; calls = 0; armed = k; }

static int counts(const char *path) {
    const char *folder = getenv("FAULTS_FOLDER");
    if (!folder || !path || armed < 0) return 0;
    return path[0] != '/' || strncmp(path, folder, strlen(folder)) == 0;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define FAILS(counted) fails(__func__, counted, 0)
#define MODE(flags) mode_t mode = 0; if ((flags) & (O_CREAT | __O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

static void tell(const char *name) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (told >= 0 && (real(told, name, strlen(name)), real(told, "\n", 1)) != 1) abort();
}

/* Return 1 where the call is to fail, 2 where a write is to be cut short. */
static int fails(const char *name, int counted, int writes) {
    if (!counted || armed < 0) return 0;
    long k = atomic_fetch_add(&calls, 1) + 1;
    if (code == NAMES) tell(name);
    if (k != armed || (code == SHORT && !writes)) return 0;
    tell(name);
    if (code == SHORT) return 2;
    if (code == 0) { kill(getpid(), SIGKILL); for (;;) pause(); }
    errno = code;
    return 1;
}

static int known(int fd) { return fd >= 0 && fd < (int)sizeof inside && inside[fd]; }
static int opened(int fd, int counted) {
    if (fd >= 0 && fd < (int)sizeof inside) inside[fd] = (char)counted;
    return fd;
}

int open(const char *path, int flags, ...) { REAL(open); MODE(flags); int c = counts(path); return FAILS(c) ? -1 : opened(real(path, flags, mode), c); }
int open64(const char *path, int flags, ...) { REAL(open64); MODE(flags); int c = counts(path); return FAILS(c) ? -1 : opened(real(path, flags, mode), c); }
int openat(int at, const char *path, int flags, ...) { REAL(openat); MODE(flags); int c = at == AT_FDCWD && counts(path); return FAILS(c) ? -1 : opened(real(at, path, flags, mode), c); }
int openat64(int at, const char *path, int flags, ...) { REAL(openat64); MODE(flags); int c = at == AT_FDCWD && counts(path); return FAILS(c) ? -1 : opened(real(at, path, flags, mode), c); }
FILE *fopen(const char *path, const char *mode) { REAL(fopen); return FAILS(counts(path)) ? NULL : real(path, mode); }
FILE *fopen64(const char *path, const char *mode) { REAL(fopen64); return FAILS(counts(path)) ? NULL : real(path, mode); }
/* The descriptor is gone whatever close says, as on Linux. */
int close(int fd) { REAL(close); int f = FAILS(known(fd)); opened(fd, 0); int e = errno, r = real(fd); if (f) errno = e; return f ? -1 : r; }

ssize_t read(int fd, void *b, size_t n) { REAL(read); return FAILS(known(fd)) ? -1 : real(fd, b, n); }
ssize_t pread(int fd, void *b, size_t n, off_t o) { REAL(pread); return FAILS(known(fd)) ? -1 : real(fd, b, n, o); }
ssize_t pread64(int fd, void *b, size_t n, off64_t o) { REAL(pread64); return FAILS(known(fd)) ? -1 : real(fd, b, n, o); }

#define WRITES(n) int f = fails(__func__, known(fd), 1); if (f == 1) return -1; if (f == 2 && n > 1) n /= 2
ssize_t write(int fd, const void *b, size_t n) { REAL(write); WRITES(n); return real(fd, b, n); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { REAL(pwrite); WRITES(n); return real(fd, b, n, o); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) { REAL(pwrite64); WRITES(n); return real(fd, b, n, o); }
ssize_t writev(int fd, const struct iovec *v, int n) { REAL(writev); WRITES(n); return real(fd, v, n); }

int fsync(int fd) { REAL(fsync); return FAILS(known(fd)) ? -1 : real(fd); }
int fdatasync(int fd) { REAL(fdatasync); return FAILS(known(fd)) ? -1 : real(fd); }
int ftruncate(int fd, off_t n) { REAL(ftruncate); return FAILS(known(fd)) ? -1 : real(fd, n); }
int ftruncate64(int fd, off64_t n) { REAL(ftruncate64); return FAILS(known(fd)) ? -1 : real(fd, n); }
int rename(const char *a, const char *b) { REAL(rename); return FAILS(counts(b)) ? -1 : real(a, b); }
int renameat(int x, const char *a, int y, const char *b) { REAL(renameat); return FAILS(counts(b)) ? -1 : real(x, a, y, b); }
int unlink(const char *path) { REAL(unlink); return FAILS(counts(path)) ? -1 : real(path); }
int unlinkat(int at, const char *path, int flags) { REAL(unlinkat); return FAILS(at == AT_FDCWD && counts(path)) ? -1 : real(at, path, flags); }
int mkdir(const char *path, mode_t mode) { REAL(mkdir); return FAILS(counts(path)) ? -1 : real(path, mode); }
int chmod(const char *path, mode_t mode) { REAL(chmod); return FAILS(counts(path)) ? -1 : real(path, mode); }
int fchmod(int fd, mode_t mode) { REAL(fchmod); return FAILS(known(fd)) ? -1 : real(fd, mode); }

static int locks(int fd, int command) { return known(fd) && (command == F_SETLK || command == F_SETLKW); }
int fcntl(int fd, int command, ...) { REAL(fcntl); va_list rest; va_start(rest, command); void *what = va_arg(rest, void *); va_end(rest); return FAILS(locks(fd, command)) ? -1 : real(fd, command, what); }
int fcntl64(int fd, int command, ...) { REAL(fcntl64); va_list rest; va_start(rest, command); void *what = va_arg(rest, void *); va_end(rest); return FAILS(locks(fd, command)) ? -1 : real(fd, command, what); }
