#define _GNU_SOURCE
#include "stage/programs/path_front.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

static const struct lull_path_hooks* _Atomic hooks;
static const uint32_t none_busy;
static const uint32_t* _Atomic busy = &none_busy;
static _Atomic uint64_t watched[lull_paths_most / 64];
static _Atomic uint32_t watched_count;

/* This library is loaded at the start of the process, so these need no memory. */
static __thread int inside;
static __thread struct {
  const char* name;
  int descriptor;
  int taken;
} creation;

void lull_paths_use(const struct lull_path_hooks* by, const uint32_t* counts) {
  atomic_store_explicit(&busy, counts != NULL ? counts : &none_busy, memory_order_release);
  atomic_store_explicit(&hooks, by, memory_order_release);
}

void lull_paths_begin_creation(const char* name, int descriptor) {
  creation.name = name;
  creation.descriptor = descriptor;
  creation.taken = 0;
}

int lull_paths_end_creation(void) {
  creation.name = NULL;
  return creation.taken;
}

void lull_paths_watch(int descriptor, int on) {
  _Atomic uint64_t* const word = &watched[descriptor / 64];
  const uint64_t bit = UINT64_C(1) << (descriptor % 64);
  if (on) {
    if ((atomic_fetch_or(word, bit) & bit) == 0) atomic_fetch_add(&watched_count, 1);
  } else {
    if ((atomic_fetch_and(word, ~bit) & bit) != 0) atomic_fetch_sub(&watched_count, 1);
  }
}

void lull_paths_enter(void) { ++inside; }
void lull_paths_exit(void) { --inside; }
int lull_paths_inside(void) { return inside; }

/* ---- the C library's functions ---- */

/* Resolved when this library is loaded; an earlier call resolves its own. */
#define NEXT(result, name, ...)                                                              \
  static result (*_Atomic next_##name)(__VA_ARGS__);                                         \
  static inline __typeof__(result(*)(__VA_ARGS__)) real_##name(void) {                       \
    result (*found)(__VA_ARGS__) = atomic_load_explicit(&next_##name, memory_order_relaxed); \
    if (__builtin_expect(found == NULL, 0)) {                                                \
      *(void**)&found = dlsym(RTLD_NEXT, #name);                                             \
      atomic_store_explicit(&next_##name, found, memory_order_relaxed);                      \
    }                                                                                        \
    return found;                                                                            \
  }

static const struct lull_path_hooks* asked(void) {
  /* relaxed: a file counts as busy before anything else that its process does with it, so a process that has learnt of
   * the file, by a message or a call of the system, reads the count or a later one. */
  const uint32_t* const counts = atomic_load_explicit(&busy, memory_order_relaxed);
  if (__builtin_expect(__atomic_load_n(counts, __ATOMIC_RELAXED) == 0, 1) || inside) return NULL;
  return atomic_load_explicit(&hooks, memory_order_acquire);
}

static int is_watched(int descriptor) {
  if (__builtin_expect(atomic_load_explicit(&watched_count, memory_order_relaxed) == 0, 1)) return 0;
  if (descriptor < 0 || descriptor >= lull_paths_most || inside) return 0;
  return (int)(atomic_load_explicit(&watched[descriptor / 64], memory_order_relaxed) >> (descriptor % 64) & 1U);
}

/* A direct system call, without any wrapper in between. */
static int status_of(int folder, const char* path, struct stat* found, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, found, flags);
}

/* `flags` determine the meaning of a symbolic link, as for fstatat. */
static int use(int folder, const char* path, int flags, enum lull_path_use how, const void* caller) {
  const struct lull_path_hooks* const by = asked();
  if (by == NULL) return -1;
  const int before = errno;
  struct stat found;
  int instead = -1;
  if (status_of(folder, path, &found, flags) == 0 && S_ISREG(found.st_mode)) {
    if (caller != NULL && lull_is_hdf5(caller)) how = lull_path_by_hdf5;
    instead = by->use(&found, how);
  }
  errno = before;
  return instead;
}

#define USE(folder, path, flags) (void)use(folder, path, flags, lull_path_content, NULL)
#define LOOK(folder, path, flags) (void)use(folder, path, flags, lull_path_look, NULL)

/* Removing a name that leads nowhere, or to an empty file such as a lock, loses nothing. */
static int refused(int folder, const char* path) {
  const struct lull_path_hooks* const by = asked();
  if (by == NULL) return 0;
  const int before = errno;
  struct stat found;
  int error = 0;
  if (status_of(folder, path, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode)) {
    if (found.st_size > 0 || by->is_ours(&found))
      error = by->remove();
    else
      (void)by->use(&found, lull_path_look); /* perhaps another process's */
  }
  errno = error != 0 ? error : before;
  return error != 0;
}

static void leave(void) {
  const struct lull_path_hooks* const by = asked();
  if (by == NULL) return;
  const int before = errno;
  by->leave();
  errno = before;
}

static void describe(int result, struct stat* found, const void* caller) {
  const struct lull_path_hooks* const by = asked();
  if (by == NULL || result != 0 || !S_ISREG(found->st_mode)) return;
  const int before = errno;
  by->describe(found, lull_is_hdf5(caller));
  errno = before;
}

/* ---- open ---- */

static int opens(int folder, const char* path, int flags, const void* caller, int* result) {
  if (__builtin_expect(creation.name != NULL, 0) && !creation.taken && strcmp(creation.name, path) == 0) {
    if ((flags & O_CREAT) == 0)
      return 0; /* HDF5 looks first whether it has the file open, under this name or another */
    creation.taken = 1;
    *result = creation.descriptor;
    return 1;
  }
  if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) return 0;
  const int instead = use(folder, path, (flags & O_NOFOLLOW) != 0 ? AT_SYMLINK_NOFOLLOW : 0, lull_path_content, caller);
  if (instead < 0) return 0;
  *result = fcntl(instead, (flags & O_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  return 1;
}

#define MODE(last)                                                  \
  mode_t mode = 0;                                                  \
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
    va_list more;                                                   \
    va_start(more, last);                                           \
    mode = va_arg(more, mode_t);                                    \
    va_end(more);                                                   \
  }                                                                 \
  int result

#define OPEN(name)                                                    \
  NEXT(int, name, const char*, int, ...)                              \
  EXPORT int name(const char* path, int flags, ...) {                 \
    MODE(flags);                                                      \
    if (opens(AT_FDCWD, path, flags, CALLER, &result)) return result; \
    return real_##name()(path, flags, mode);                          \
  }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                               \
  NEXT(int, name, int, const char*, int, ...)                       \
  EXPORT int name(int folder, const char* path, int flags, ...) {   \
    MODE(flags);                                                    \
    if (opens(folder, path, flags, CALLER, &result)) return result; \
    return real_##name()(folder, path, flags, mode);                \
  }
OPEN_AT(openat)
OPEN_AT(openat64)

/* The names in programs compiled with -D_FORTIFY_SOURCE. */
#define OPEN_CHECKED(name)                                            \
  NEXT(int, name, const char*, int)                                   \
  EXPORT int name(const char* path, int flags);                       \
  EXPORT int name(const char* path, int flags) {                      \
    int result;                                                       \
    if (opens(AT_FDCWD, path, flags, CALLER, &result)) return result; \
    return real_##name()(path, flags);                                \
  }
OPEN_CHECKED(__open_2)
OPEN_CHECKED(__open64_2)

#define OPEN_AT_CHECKED(name)                                       \
  NEXT(int, name, int, const char*, int)                            \
  EXPORT int name(int folder, const char* path, int flags);         \
  EXPORT int name(int folder, const char* path, int flags) {        \
    int result;                                                     \
    if (opens(folder, path, flags, CALLER, &result)) return result; \
    return real_##name()(folder, path, flags);                      \
  }
OPEN_AT_CHECKED(__openat_2)
OPEN_AT_CHECKED(__openat64_2)

#define CREATE(name)                               \
  NEXT(int, name, const char*, mode_t)             \
  EXPORT int name(const char* path, mode_t mode) { \
    USE(AT_FDCWD, path, 0);                        \
    return real_##name()(path, mode);              \
  }
CREATE(creat)
CREATE(creat64)

#define OPEN_STREAM(name)                                \
  NEXT(FILE*, name, const char*, const char*)            \
  EXPORT FILE* name(const char* path, const char* how) { \
    USE(AT_FDCWD, path, 0);                              \
    return real_##name()(path, how);                     \
  }
OPEN_STREAM(fopen)
OPEN_STREAM(fopen64)

#define REOPEN_STREAM(name)                                            \
  NEXT(FILE*, name, const char*, const char*, FILE*)                   \
  EXPORT FILE* name(const char* path, const char* how, FILE* stream) { \
    if (path != NULL) USE(AT_FDCWD, path, 0);                          \
    return real_##name()(path, how, stream);                           \
  }
REOPEN_STREAM(freopen)
REOPEN_STREAM(freopen64)

/* ---- stat: struct stat64 is struct stat where this library is built ---- */

_Static_assert(sizeof(off_t) == 8, "a 64-bit system");

#define STATUS(name, type, follow)                        \
  NEXT(int, name, const char*, struct type*)              \
  EXPORT int name(const char* path, struct type* found) { \
    LOOK(AT_FDCWD, path, follow);                         \
    const int result = real_##name()(path, found);        \
    describe(result, (struct stat*)(void*)found, CALLER); \
    return result;                                        \
  }
STATUS(stat, stat, 0)
STATUS(stat64, stat64, 0)
STATUS(lstat, stat, AT_SYMLINK_NOFOLLOW)
STATUS(lstat64, stat64, AT_SYMLINK_NOFOLLOW)

#define STATUS_AT(name, type)                                                    \
  NEXT(int, name, int, const char*, struct type*, int)                           \
  EXPORT int name(int folder, const char* path, struct type* found, int flags) { \
    LOOK(folder, path, flags);                                                   \
    const int result = real_##name()(folder, path, found, flags);                \
    describe(result, (struct stat*)(void*)found, CALLER);                        \
    return result;                                                               \
  }
STATUS_AT(fstatat, stat)
STATUS_AT(fstatat64, stat64)

/* The names in programs linked with an older C library. */
#define STATUS_OF_VERSION(name, type, follow)                          \
  NEXT(int, name, int, const char*, struct type*)                      \
  EXPORT int name(int version, const char* path, struct type* found);  \
  EXPORT int name(int version, const char* path, struct type* found) { \
    LOOK(AT_FDCWD, path, follow);                                      \
    const int result = real_##name()(version, path, found);            \
    describe(result, (struct stat*)(void*)found, CALLER);              \
    return result;                                                     \
  }
STATUS_OF_VERSION(__xstat, stat, 0)
STATUS_OF_VERSION(__xstat64, stat64, 0)
STATUS_OF_VERSION(__lxstat, stat, AT_SYMLINK_NOFOLLOW)
STATUS_OF_VERSION(__lxstat64, stat64, AT_SYMLINK_NOFOLLOW)

#define STATUS_AT_OF_VERSION(name, type)                                                      \
  NEXT(int, name, int, int, const char*, struct type*, int)                                   \
  EXPORT int name(int version, int folder, const char* path, struct type* found, int flags);  \
  EXPORT int name(int version, int folder, const char* path, struct type* found, int flags) { \
    LOOK(folder, path, flags);                                                                \
    const int result = real_##name()(version, folder, path, found, flags);                    \
    describe(result, (struct stat*)(void*)found, CALLER);                                     \
    return result;                                                                            \
  }
STATUS_AT_OF_VERSION(__fxstatat, stat)
STATUS_AT_OF_VERSION(__fxstatat64, stat64)

NEXT(int, statx, int, const char*, int, unsigned, struct statx*)
EXPORT int statx(int folder, const char* restrict path, int flags, unsigned mask, struct statx* restrict found) {
  LOOK(folder, path, flags & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT));
  const int result = real_statx()(folder, path, flags, mask, found);
  if (result == 0 && asked() != NULL) {
    struct stat same;
    if (status_of(folder, path, &same, flags & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) == 0) {
      describe(0, &same, CALLER);
      found->stx_size = (uint64_t)same.st_size;
      found->stx_blocks = (uint64_t)same.st_blocks;
    }
  }
  return result;
}

/* ---- calls that change a file by its name ---- */

#define ONE(result, name, type, value)               \
  NEXT(result, name, const char*, type)              \
  EXPORT result name(const char* path, type value) { \
    USE(AT_FDCWD, path, 0);                          \
    return real_##name()(path, value);               \
  }
ONE(int, truncate, off_t, length)
ONE(int, truncate64, off64_t, length)
ONE(int, chmod, mode_t, mode)

struct utimbuf;
struct timeval;
struct timespec;
#define TIMES(name, type)                         \
  NEXT(int, name, const char*, type)              \
  EXPORT int name(const char* path, type times);  \
  EXPORT int name(const char* path, type times) { \
    USE(AT_FDCWD, path, 0);                       \
    return real_##name()(path, times);            \
  }
TIMES(utime, const struct utimbuf*)
TIMES(utimes, const struct timeval*)

NEXT(int, utimensat, int, const char*, const struct timespec*, int)
EXPORT int utimensat(int folder, const char* path, const struct timespec times[2], int flags) {
  USE(folder, path, flags);
  return real_utimensat()(folder, path, times, flags);
}

NEXT(int, fchmodat, int, const char*, mode_t, int)
EXPORT int fchmodat(int folder, const char* path, mode_t mode, int flags) {
  USE(folder, path, flags);
  return real_fchmodat()(folder, path, mode, flags);
}

#define OWNER(name, follow)                                    \
  NEXT(int, name, const char*, uid_t, gid_t)                   \
  EXPORT int name(const char* path, uid_t user, gid_t group) { \
    USE(AT_FDCWD, path, follow);                               \
    return real_##name()(path, user, group);                   \
  }
OWNER(chown, 0)
OWNER(lchown, AT_SYMLINK_NOFOLLOW)

NEXT(int, fchownat, int, const char*, uid_t, gid_t, int)
EXPORT int fchownat(int folder, const char* path, uid_t user, gid_t group, int flags) {
  USE(folder, path, flags);
  return real_fchownat()(folder, path, user, group, flags);
}

NEXT(int, link, const char*, const char*)
EXPORT int link(const char* from, const char* to) {
  USE(AT_FDCWD, from, AT_SYMLINK_NOFOLLOW);
  return real_link()(from, to);
}

NEXT(int, linkat, int, const char*, int, const char*, int)
EXPORT int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  USE(from_folder, from, (flags & AT_SYMLINK_FOLLOW) != 0 ? 0 : AT_SYMLINK_NOFOLLOW);
  return real_linkat()(from_folder, from, to_folder, to, flags);
}

/* ---- calls that remove or replace a file ---- */

#define REMOVE(name)           \
  NEXT(int, name, const char*) \
  EXPORT int name(const char* path) { return refused(AT_FDCWD, path) ? -1 : real_##name()(path); }
REMOVE(unlink)
REMOVE(remove)

NEXT(int, unlinkat, int, const char*, int)
EXPORT int unlinkat(int folder, const char* path, int flags) {
  return refused(folder, path) ? -1 : real_unlinkat()(folder, path, flags);
}

/* A file is written under its new name; other ranks and servers need not see the old one in between. */
static void before_rename(int folder, const char* path) {
  const struct lull_path_hooks* const by = asked();
  if (by == NULL) return;
  const int before = errno;
  struct stat found;
  if (status_of(folder, path, &found, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISREG(found.st_mode)) (void)by->use(&found, lull_path_look);
    if (S_ISDIR(found.st_mode)) by->leave();
  }
  errno = before;
}

NEXT(int, rename, const char*, const char*)
EXPORT int rename(const char* from, const char* to) {
  before_rename(AT_FDCWD, from);
  return refused(AT_FDCWD, to) ? -1 : real_rename()(from, to);
}

NEXT(int, renameat, int, const char*, int, const char*)
EXPORT int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  before_rename(from_folder, from);
  return refused(to_folder, to) ? -1 : real_renameat()(from_folder, from, to_folder, to);
}

NEXT(int, renameat2, int, const char*, int, const char*, unsigned)
EXPORT int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  before_rename(from_folder, from);
  return refused(to_folder, to) ? -1 : real_renameat2()(from_folder, from, to_folder, to, flags);
}

/* ---- other programs ---- */

#define EXECUTE(name)                                          \
  NEXT(int, name, const char*, char* const[])                  \
  EXPORT int name(const char* path, char* const arguments[]) { \
    leave();                                                   \
    return real_##name()(path, arguments);                     \
  }
EXECUTE(execv)
EXECUTE(execvp)

#define EXECUTE_IN(name)                                                                  \
  NEXT(int, name, const char*, char* const[], char* const[])                              \
  EXPORT int name(const char* path, char* const arguments[], char* const environment[]) { \
    leave();                                                                              \
    return real_##name()(path, arguments, environment);                                   \
  }
EXECUTE_IN(execve)
EXECUTE_IN(execvpe)

/* The arguments up to their terminating null and, with `with_environment`, the environment after it. */
#define LISTED(name, with_environment, start)                                                   \
  EXPORT int name(const char* path, const char* first, ...) {                                   \
    va_list more;                                                                               \
    size_t count = 1;                                                                           \
    va_start(more, first);                                                                      \
    while (va_arg(more, const char*) != NULL) ++count;                                          \
    va_end(more);                                                                               \
    char* arguments[count + 1];                                                                 \
    memcpy(&arguments[0], &first, sizeof first);                                                \
    va_start(more, first);                                                                      \
    for (size_t i = 1; i <= count; ++i) arguments[i] = va_arg(more, char*);                     \
    char* const* const environment = (with_environment) ? va_arg(more, char* const*) : environ; \
    va_end(more);                                                                               \
    return start(path, arguments, environment);                                                 \
  }
LISTED(execl, 0, execve)
LISTED(execlp, 0, execvpe)
LISTED(execle, 1, execve)

NEXT(int, fexecve, int, char* const[], char* const[])
EXPORT int fexecve(int descriptor, char* const arguments[], char* const environment[]) {
  leave();
  return real_fexecve()(descriptor, arguments, environment);
}

#define SPAWN(name)                                                                                                \
  NEXT(int, name, pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const[], \
       char* const[])                                                                                              \
  EXPORT int name(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,                     \
                  const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {       \
    leave();                                                                                                       \
    return real_##name()(process, path, actions, attributes, arguments, environment);                              \
  }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

NEXT(int, system, const char*)
EXPORT int system(const char* command) {
  leave();
  return real_system()(command);
}

NEXT(FILE*, popen, const char*, const char*)
EXPORT FILE* popen(const char* command, const char* how) {
  leave();
  return real_popen()(command, how);
}

/* ---- walks, which read files without these calls ---- */

#define WALK(name, visitor)                                           \
  NEXT(int, name, const char*, visitor, int)                          \
  EXPORT int name(const char* path, visitor visit, int descriptors) { \
    leave();                                                          \
    return real_##name()(path, visit, descriptors);                   \
  }
WALK(ftw, __ftw_func_t)
WALK(ftw64, __ftw64_func_t)

#define WALK_FLAGS(name, visitor)                                                \
  NEXT(int, name, const char*, visitor, int, int)                                \
  EXPORT int name(const char* path, visitor visit, int descriptors, int flags) { \
    leave();                                                                     \
    return real_##name()(path, visit, descriptors, flags);                       \
  }
WALK_FLAGS(nftw, __nftw_func_t)
WALK_FLAGS(nftw64, __nftw64_func_t)

#define TREE(name, type, compared)                                                                         \
  NEXT(type*, name, char* const*, int, int (*)(const compared**, const compared**))                        \
  EXPORT type* name(char* const* paths, int options, int (*compare)(const compared**, const compared**)) { \
    leave();                                                                                               \
    return real_##name()(paths, options, compare);                                                         \
  }
TREE(fts_open, FTS, FTSENT)
TREE(fts64_open, FTS64, FTSENT64)

/* ---- calls by descriptor ---- */

static const struct lull_path_hooks* watching(int descriptor) {
  return is_watched(descriptor) ? atomic_load_explicit(&hooks, memory_order_acquire) : NULL;
}

NEXT(int, close, int)
EXPORT int close(int descriptor) {
  const struct lull_path_hooks* const by = watching(descriptor);
  return by != NULL && by->close(descriptor) ? 0 : real_close()(descriptor);
}

#define WRITE_AT(name, type)                                                         \
  NEXT(ssize_t, name, int, const void*, size_t, type)                                \
  EXPORT ssize_t name(int descriptor, const void* data, size_t bytes, type offset) { \
    const struct lull_path_hooks* const by = watching(descriptor);                   \
    if (by != NULL) by->grow(descriptor, (off_t)offset + (off_t)bytes);              \
    return real_##name()(descriptor, data, bytes, offset);                           \
  }
WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

NEXT(ssize_t, write, int, const void*, size_t)
EXPORT ssize_t write(int descriptor, const void* data, size_t bytes) {
  const struct lull_path_hooks* const by = watching(descriptor);
  if (by != NULL) by->grow(descriptor, lseek(descriptor, 0, SEEK_CUR) + (off_t)bytes);
  return real_write()(descriptor, data, bytes);
}

#define RESOLVE(name) (void)real_##name();
#define EACH(act)                                                                                                     \
  act(open) act(open64) act(openat) act(openat64) act(__open_2) act(__open64_2) act(__openat_2) act(__openat64_2)     \
      act(creat) act(creat64) act(fopen) act(fopen64) act(freopen) act(freopen64) act(stat) act(stat64) act(lstat)    \
          act(lstat64) act(fstatat) act(fstatat64) act(__xstat) act(__xstat64) act(__lxstat) act(__lxstat64)          \
              act(__fxstatat) act(__fxstatat64) act(statx) act(truncate) act(truncate64) act(chmod) act(utime)        \
                  act(utimes) act(utimensat) act(fchmodat) act(chown) act(lchown) act(fchownat) act(link) act(linkat) \
                      act(unlink) act(remove) act(unlinkat) act(rename) act(renameat) act(renameat2) act(execv)       \
                          act(execvp) act(execve) act(execvpe) act(posix_spawn) act(posix_spawnp) act(system)         \
                              act(popen) act(close) act(pwrite) act(pwrite64) act(write)

__attribute__((constructor)) static void resolve_all(void) { EACH(RESOLVE) }
