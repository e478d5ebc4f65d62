/* A library to preload: the process then finds pages of 64 KiB, as on many machines with Arm or POWER, on a kernel whose
 * pages are smaller. sysconf() says so, new mappings begin where such pages do, and calls that such a kernel refuses
 * fail with EINVAL and print a line, which names the caller. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uintptr_t page = 65536, kernel_page = 4096;

static bool is_aligned(uintptr_t value) { return value % page == 0; }
static uintptr_t whole_pages(uintptr_t bytes) { return (bytes + page - 1) / page * page; }

static int refuse(const char* call, const void* caller, const void* address, off_t offset) {
  Dl_info from = {0};
  dladdr(caller, &from);
  fprintf(stderr, "pages of 64 KiB: %s of %p, offset %#llx, by %s+%#lx: a page does not begin there\n", call, address,
          (unsigned long long)offset, from.dli_fname != NULL ? from.dli_fname : "?",
          (unsigned long)((uintptr_t)caller - (uintptr_t)from.dli_fbase));
  errno = EINVAL;
  return -1;
}
#define REFUSE(address, offset) refuse(__func__, __builtin_return_address(0), address, offset)

long sysconf(int name) {
  if (name == _SC_PAGESIZE) return (long)page;
  const union {
    void* found;
    long (*function)(int);
  } next = {dlsym(RTLD_NEXT, "sysconf")};
  const long value = next.function(name);
  const bool counts_pages = name == _SC_PHYS_PAGES || name == _SC_AVPHYS_PAGES;
  return counts_pages ? value / (long)(page / kernel_page) : value;
}

int getpagesize(void) { return (int)page; }

/* Reserves whole pages; what the kernel would show behind the last of its own pages stays inaccessible. */
void* mmap(void* at, size_t bytes, int access, int flags, int file, off_t offset) {
  const bool fixed = (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
  if (!is_aligned((uintptr_t)offset) || (fixed && !is_aligned((uintptr_t)at))) {
    REFUSE(at, offset);
    return MAP_FAILED;
  }
  if (fixed || (flags & MAP_HUGETLB) != 0) return (void*)syscall(SYS_mmap, at, bytes, access, flags, file, offset);
  const size_t reserved = whole_pages(bytes) + page;
  char* const begin =
      (char*)syscall(SYS_mmap, at, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return MAP_FAILED;
  char* const first = begin + (whole_pages((uintptr_t)begin) - (uintptr_t)begin);
  void* const made = (void*)syscall(SYS_mmap, first, bytes, access, flags | MAP_FIXED, file, offset);
  const int failed = errno;
  char* const end = made == MAP_FAILED ? first : first + whole_pages(bytes);
  if (first != begin) syscall(SYS_munmap, begin, first - begin);
  if (end != begin + reserved) syscall(SYS_munmap, end, begin + reserved - end);
  errno = failed;
  return made;
}
void* mmap64(void*, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

int munmap(void* at, size_t bytes) {
  return is_aligned((uintptr_t)at) ? (int)syscall(SYS_munmap, at, whole_pages(bytes)) : REFUSE(at, 0);
}

int mprotect(void* at, size_t bytes, int access) {
  return is_aligned((uintptr_t)at) ? (int)syscall(SYS_mprotect, at, bytes, access) : REFUSE(at, 0);
}

int madvise(void* at, size_t bytes, int advice) {
  return is_aligned((uintptr_t)at) ? (int)syscall(SYS_madvise, at, bytes, advice) : REFUSE(at, 0);
}

/* One entry for each page, of which the kernel keeps all of its own pages or none. */
int mincore(void* at, size_t bytes, unsigned char* resident) {
  if (!is_aligned((uintptr_t)at)) return REFUSE(at, 0);
  unsigned char* const of_kernel = malloc(whole_pages(bytes) / kernel_page);
  if (of_kernel == NULL) return -1;
  const int result = (int)syscall(SYS_mincore, at, bytes, of_kernel);
  for (size_t i = 0; result == 0 && i < whole_pages(bytes) / page; ++i)
    resident[i] = of_kernel[i * (page / kernel_page)];
  free(of_kernel);
  return result;
}

/* The kernel's table of pages has an entry for each of its own, so it is hidden. */
int open(const char* path, int flags, ...) {
  if (strcmp(path, "/proc/self/pagemap") == 0) {
    errno = EACCES;
    return -1;
  }
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open64(const char*, int, ...) __attribute__((alias("open")));
