// LD_PRELOAD: records each change of files below DISK_ROOT, and makes the faults that a control page names.
// DISK_ROOT: the folder. DISK_TRACE: file that all processes append to. DISK_PLAN: control page, mapped by all of them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OP_CREATE = 1, OP_WRITE, OP_TRUNC, OP_SYNC, OP_RENAME, OP_UNLINK, OP_MKDIR, OP_RMDIR, OP_MARK, OP_OPEN, OP_READ, OP_LINK, OP_SYNCDIR };
#define BIT(op) (1u << (op))
typedef struct { // 128 bytes
  _Atomic uint32_t ops;        // mask of BIT(op); 0: rule is off
  int32_t err;                 // errno; 0: only delay. -1: short (half of the bytes)
  uint32_t delay_ms, ppm;      // ppm 1000000: always
  _Atomic int64_t skip, count; // first `skip` hits pass; then `count` hits fail (-1: all)
  _Atomic uint64_t hits;
  char part[80];               // part of the path; empty: all
} Rule;
typedef struct { _Atomic uint64_t unused; _Atomic uint32_t dns_hang_ms; uint32_t pad; _Atomic uint64_t seed; _Atomic uint64_t seq; char pad2[96]; Rule rules[16]; } Plan;
typedef struct { uint32_t magic; uint8_t op, flags; uint16_t pathlen; uint64_t ino, off; uint32_t len, tid; } Head; // 32 bytes

static char root[PATH_MAX]; static size_t rootlen; static int trace = -1; static Plan *plan; static int ready;
#define MAXFD 65536
typedef struct { char *path; uint64_t ino; int dir; } Fd;
static Fd fds[MAXFD];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define REAL(name) ({ static __typeof__(&name) f; if (!f) f = (__typeof__(&name))dlsym(RTLD_NEXT, #name); f; })

__attribute__((constructor)) static void init(void) {
  const char *r = getenv("DISK_ROOT"), *t = getenv("DISK_TRACE"), *p = getenv("DISK_PLAN");
  if (r && realpath(r, root)) rootlen = strlen(root);
  if (t) { int fd = REAL(open64)(t, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600); trace = fcntl(fd, F_DUPFD_CLOEXEC, 900); REAL(close)(fd); }
  if (p) { int fd = REAL(open64)(p, O_RDWR | O_CREAT | O_CLOEXEC, 0600); REAL(ftruncate64)(fd, sizeof(Plan));
    plan = mmap(0, sizeof(Plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); REAL(close)(fd); if (plan == MAP_FAILED) plan = 0; }
  ready = 1;
}
static uint64_t rnd(void) { uint64_t z = atomic_fetch_add(&plan->seed, 0x9e3779b97f4a7c15ull) + 0x9e3779b97f4a7c15ull; z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull; z = (z ^ (z >> 27)) * 0x94d049bb133111ebull; return z ^ (z >> 31); }
static int tracked(const char *p) { return ready && rootlen && p && !strncmp(p, root, rootlen) && (p[rootlen] == '/' || !p[rootlen]); }
static char *absolute(int at, const char *p, char *buf) {
  if (!p) return 0;
  if (p[0] == '/') return strncpy(buf, p, PATH_MAX - 1);
  if (at == AT_FDCWD) { if (!getcwd(buf, PATH_MAX)) return 0; }
  else { char l[64]; snprintf(l, 64, "/proc/self/fd/%d", at); ssize_t n = readlink(l, buf, PATH_MAX - 1); if (n < 0) return 0; buf[n] = 0; }
  size_t n = strlen(buf); snprintf(buf + n, PATH_MAX - n, "/%s", p); return buf;
}
// 0: go on; >0: errno; -1: short
static int fault(int op, const char *path) {
  if (!plan) return 0;
  for (int i = 0; i < 16; i++) { Rule *r = &plan->rules[i]; uint32_t ops = atomic_load(&r->ops);
    if (!(ops & BIT(op)) || (r->part[0] && !strstr(path, r->part))) continue;
    if (r->ppm < 1000000 && rnd() % 1000000 >= r->ppm) continue;
    if (atomic_load(&r->skip) > 0 && atomic_fetch_sub(&r->skip, 1) > 0) continue;
    int64_t c = atomic_load(&r->count); if (c == 0) continue; if (c > 0 && atomic_fetch_sub(&r->count, 1) <= 0) continue;
    atomic_fetch_add(&r->hits, 1);
    if (r->delay_ms) { struct timespec ts = { r->delay_ms / 1000, (r->delay_ms % 1000) * 1000000l }; nanosleep(&ts, 0); }
    if (r->err) return r->err;
  }
  return 0;
}
static void rec(int op, const char *path, uint64_t ino, uint64_t off, const void *data, uint32_t len, int flags) {
  if (trace < 0) return;
  const char *rel = path ? path + rootlen : ""; Head h = { 0x4b534944, op, flags, strlen(rel), ino, off, len, (uint32_t)gettid() };
  struct iovec v[3] = { { &h, sizeof h }, { (void *)rel, h.pathlen }, { (void *)data, len } };
  int e = errno; REAL(writev)(trace, v, len ? 3 : 2); errno = e;
}
static void forget(int fd) { if (fd >= 0 && fd < MAXFD && fds[fd].path) { pthread_mutex_lock(&lock); free(fds[fd].path); fds[fd].path = 0; pthread_mutex_unlock(&lock); } }
static Fd *of(int fd) { return fd >= 0 && fd < MAXFD && fds[fd].path ? &fds[fd] : 0; }
static void note(int fd, const char *path, int flags, int existed) {
  if (fd < 0 || fd >= MAXFD) return;
  struct stat s; if (fstat(fd, &s) || (!S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))) return;
  pthread_mutex_lock(&lock); free(fds[fd].path); fds[fd] = (Fd){ strdup(path), s.st_ino, S_ISDIR(s.st_mode) }; pthread_mutex_unlock(&lock);
  if (!existed && (flags & O_CREAT)) rec(OP_CREATE, path, s.st_ino, s.st_mode & 0777, 0, 0, 0);
  else if ((flags & O_TRUNC) && S_ISREG(s.st_mode)) rec(OP_TRUNC, path, s.st_ino, 0, 0, 0, 0);
}
static int open_(int at, const char *p, int flags, mode_t mode, int (*real)(int, const char *, int, mode_t)) {
  char b[PATH_MAX]; char *a = absolute(at, p, b);
  if (!tracked(a)) return real(at, p, flags, mode);
  struct stat s; int existed = !(flags & O_CREAT) || !stat(a, &s);
  int f = fault(existed ? OP_OPEN : OP_CREATE, a); if (f > 0) { errno = f; return -1; }
  int fd = real(at, p, flags, mode); if (fd >= 0) note(fd, a, flags, existed);
  return fd;
}
static int r_open(int at, const char *p, int f, mode_t m) { (void)at; return REAL(open64)(p, f, m); }
static int r_openat(int at, const char *p, int f, mode_t m) { return REAL(openat)(at, p, f, m); }
#define MODE mode_t m = 0; if (flags & (O_CREAT | __O_TMPFILE)) { va_list v; va_start(v, flags); m = va_arg(v, int); va_end(v); }
int open(const char *p, int flags, ...) { MODE return open_(AT_FDCWD, p, flags, m, r_open); }
int open64(const char *p, int flags, ...) { MODE return open_(AT_FDCWD, p, flags, m, r_open); }
int openat(int at, const char *p, int flags, ...) { MODE return open_(at, p, flags, m, r_openat); }
int openat64(int at, const char *p, int flags, ...) { MODE return open_(at, p, flags, m, r_openat); }
int close(int fd) { forget(fd); return REAL(close)(fd); }
// libuv closes, copies and renames by syscall(): without this an fd number that came back as a socket would be taken for the file.
long syscall(long n, ...) {
  va_list v; va_start(v, n); long a = va_arg(v, long), b = va_arg(v, long), c = va_arg(v, long), d = va_arg(v, long), e = va_arg(v, long), f = va_arg(v, long); va_end(v);
  if (n == SYS_close) forget(a);
  if (n == SYS_copy_file_range && of(c)) { errno = ENOSYS; return -1; }
  return REAL(syscall)(n, a, b, c, d, e, f);
}
ssize_t write(int, const void *, size_t);
static ssize_t sent(int out, int in, off_t *off, size_t n) {
  char buf[65536]; size_t want = n < sizeof buf ? n : sizeof buf; ssize_t r = off ? REAL(pread64)(in, buf, want, *off) : REAL(read)(in, buf, want);
  if (r <= 0) return r;
  ssize_t w = write(out, buf, r); if (w > 0 && off) *off += w; return w;
}
ssize_t sendfile(int out, int in, off_t *off, size_t n) { return of(out) ? sent(out, in, off, n) : REAL(sendfile)(out, in, off, n); }
ssize_t sendfile64(int out, int in, off64_t *off, size_t n) { return of(out) ? sent(out, in, off, n) : REAL(sendfile64)(out, in, off, n); }
static int isshm(const char *p) { size_t n = strlen(p); return n > 4 && !strcmp(p + n - 4, "-shm"); }
static ssize_t written(int fd, const void *b, size_t n, off_t off, int at) {
  Fd *f = of(fd); int op = f && strstr(f->path, "/.marks") ? OP_MARK : OP_WRITE;
  if (!f || isshm(f->path)) return at ? REAL(pwrite64)(fd, b, n, off) : REAL(write)(fd, b, n);
  int e = fault(op, f->path); if (e > 0) { errno = e; return -1; } if (e == -1 && n > 1) n /= 2;
  if (!at && op == OP_WRITE) { off = (fcntl(fd, F_GETFL) & O_APPEND) ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR); }
  ssize_t w = at ? REAL(pwrite64)(fd, b, n, off) : REAL(write)(fd, b, n);
  if (w > 0) rec(op, f->path, f->ino, off, b, w, 0);
  return w;
}
ssize_t write(int fd, const void *b, size_t n) { return of(fd) ? written(fd, b, n, 0, 0) : REAL(write)(fd, b, n); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) { return written(fd, b, n, o, 1); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { return written(fd, b, n, o, 1); }
ssize_t writev(int fd, const struct iovec *v, int c) { if (!of(fd)) return REAL(writev)(fd, v, c); ssize_t t = 0; for (int i = 0; i < c; i++) { ssize_t w = written(fd, v[i].iov_base, v[i].iov_len, 0, 0); if (w < 0) return t ? t : w; t += w; if ((size_t)w < v[i].iov_len) break; } return t; }
ssize_t pwritev(int fd, const struct iovec *v, int c, off_t o) { ssize_t t = 0; for (int i = 0; i < c; i++) { ssize_t w = written(fd, v[i].iov_base, v[i].iov_len, o + t, 1); if (w < 0) return t ? t : w; t += w; if ((size_t)w < v[i].iov_len) break; } return t; }
ssize_t pwritev64(int fd, const struct iovec *v, int c, off64_t o) { return pwritev(fd, v, c, o); }
ssize_t pread64(int fd, void *b, size_t n, off64_t o) { Fd *f = of(fd); if (f) { int e = fault(OP_READ, f->path); if (e > 0) { errno = e; return -1; } if (e == -1 && n > 1) n /= 2; } return REAL(pread64)(fd, b, n, o); }
ssize_t read(int fd, void *b, size_t n) { Fd *f = of(fd); if (f) { int e = fault(OP_READ, f->path); if (e > 0) { errno = e; return -1; } if (e == -1 && n > 1) n /= 2; } return REAL(read)(fd, b, n); }
static int trunc_(int fd, off_t n) { Fd *f = of(fd); if (!f || isshm(f->path)) return REAL(ftruncate64)(fd, n); int e = fault(OP_TRUNC, f->path); if (e > 0) { errno = e; return -1; } int r = REAL(ftruncate64)(fd, n); if (!r) rec(OP_TRUNC, f->path, f->ino, n, 0, 0, 0); return r; }
int ftruncate(int fd, off_t n) { return trunc_(fd, n); }
int ftruncate64(int fd, off64_t n) { return trunc_(fd, n); }
static int sync_(int fd, int (*real)(int)) { Fd *f = of(fd); if (!f) return real(fd); int op = f->dir ? OP_SYNCDIR : OP_SYNC; int e = fault(op, f->path); if (e > 0) { errno = e; return -1; } int r = getenv("DISK_NOSYNC") ? 0 : real(fd); if (!r) rec(op, f->path, f->ino, 0, 0, 0, 0); return r; }
int fsync(int fd) { return sync_(fd, REAL(fsync)); }
int fdatasync(int fd) { return sync_(fd, REAL(fdatasync)); }
static int two(int op, int fa, const char *a, int fb, const char *b, int (*real)(int, const char *, int, const char *, unsigned), unsigned fl) {
  char x[PATH_MAX], y[PATH_MAX]; char *p = absolute(fa, a, x), *q = absolute(fb, b, y);
  if (!tracked(p) && !tracked(q)) return real(fa, a, fb, b, fl);
  int e = fault(op, q); if (e > 0) { errno = e; return -1; }
  int r = real(fa, a, fb, b, fl); if (!r) rec(op, p, 0, 0, q + rootlen, strlen(q + rootlen), 0);
  return r;
}
static int r_rename(int fa, const char *a, int fb, const char *b, unsigned fl) { (void)fa; (void)fb; (void)fl; return REAL(rename)(a, b); }
static int r_renameat2(int fa, const char *a, int fb, const char *b, unsigned fl) { return REAL(syscall)(SYS_renameat2, fa, a, fb, b, fl); }
static int r_link(int fa, const char *a, int fb, const char *b, unsigned fl) { (void)fa; (void)fb; (void)fl; return REAL(link)(a, b); }
int rename(const char *a, const char *b) { return two(OP_RENAME, AT_FDCWD, a, AT_FDCWD, b, r_rename, 0); }
int renameat(int fa, const char *a, int fb, const char *b) { return two(OP_RENAME, fa, a, fb, b, r_renameat2, 0); }
int renameat2(int fa, const char *a, int fb, const char *b, unsigned fl) { return two(OP_RENAME, fa, a, fb, b, r_renameat2, fl); }
int link(const char *a, const char *b) { return two(OP_LINK, AT_FDCWD, a, AT_FDCWD, b, r_link, 0); }
static int one(int op, int at, const char *p, int arg, int (*real)(int, const char *, int)) {
  char b[PATH_MAX]; char *a = absolute(at, p, b); if (!tracked(a)) return real(at, p, arg);
  int e = fault(op, a); if (e > 0) { errno = e; return -1; }
  int r = real(at, p, arg); if (!r && !isshm(a)) rec(op, a, 0, op == OP_MKDIR ? arg : 0, 0, 0, 0);
  return r;
}
static int r_unlink(int at, const char *p, int x) { (void)at; (void)x; return REAL(unlink)(p); }
static int r_unlinkat(int at, const char *p, int x) { return REAL(unlinkat)(at, p, x); }
static int r_mkdir(int at, const char *p, int x) { (void)at; return REAL(mkdir)(p, x); }
static int r_mkdirat(int at, const char *p, int x) { return REAL(mkdirat)(at, p, x); }
static int r_rmdir(int at, const char *p, int x) { (void)at; (void)x; return REAL(rmdir)(p); }
int unlink(const char *p) { return one(OP_UNLINK, AT_FDCWD, p, 0, r_unlink); }
int unlinkat(int at, const char *p, int fl) { return one(fl & AT_REMOVEDIR ? OP_RMDIR : OP_UNLINK, at, p, fl, r_unlinkat); }
int remove(const char *p) { struct stat s; if (!lstat(p, &s) && S_ISDIR(s.st_mode)) return rmdir(p); return unlink(p); }
int mkdir(const char *p, mode_t m) { return one(OP_MKDIR, AT_FDCWD, p, m, r_mkdir); }
int mkdirat(int at, const char *p, mode_t m) { return one(OP_MKDIR, at, p, m, r_mkdirat); }
int rmdir(const char *p) { return one(OP_RMDIR, AT_FDCWD, p, 0, r_rmdir); }
int getaddrinfo(const char *n, const char *s, const struct addrinfo *h, struct addrinfo **r) { if (plan) { uint32_t ms = atomic_load(&plan->dns_hang_ms); if (ms) { struct timespec ts = { ms / 1000, (ms % 1000) * 1000000l }; nanosleep(&ts, 0); return EAI_AGAIN; } } return REAL(getaddrinfo)(n, s, h, r); }
