/* Preloaded into a program: each regular file that it removes remains in the folder KEPT_FILES, under another name, and
 * for the libraries HDF5 and netCDF, which write the time into their files, it stands still. Then the files of two runs
 * are equal, and can all be compared. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { most_links = 10000, instant = 1500000000 };

/* MPI libraries remove files of theirs, whose names differ from run to run. */
static int is_of_mpi(const char* name) {
  return strstr(name, ".locktest.") != NULL || strstr(name, "_cid-") != NULL || strstr(name, ".shfp") != NULL;
}

static void keep(const char* path) {
  const char* const folder = getenv("KEPT_FILES");
  const char* const slash = strrchr(path, '/');
  const char* const name = slash != NULL ? slash + 1 : path;
  struct stat found;
  if (folder == NULL || is_of_mpi(name) || lstat(path, &found) != 0 || !S_ISREG(found.st_mode)) return;
  for (int i = 0; i < most_links; ++i) {
    char to[4096];
    snprintf(to, sizeof to, "%s/%s.removed%d", folder, name, i);
    if (link(path, to) == 0 || errno != EEXIST) return;
  }
}

int unlink(const char* path) {
  keep(path);
  return ((int (*)(const char*))dlsym(RTLD_NEXT, "unlink"))(path);
}

int remove(const char* path) {
  keep(path);
  return ((int (*)(const char*))dlsym(RTLD_NEXT, "remove"))(path);
}

static int writes_the_time(const void* caller) {
  Dl_info of;
  if (dladdr(caller, &of) == 0 || of.dli_fname == NULL) return 0;
  return strstr(of.dli_fname, "libhdf5") != NULL || strstr(of.dli_fname, "netcdf") != NULL;
}

time_t time(time_t* to) {
  time_t now = instant;
  if (!writes_the_time(__builtin_return_address(0))) return ((time_t(*)(time_t*))dlsym(RTLD_NEXT, "time"))(to);
  if (to != NULL) *to = now;
  return now;
}

int gettimeofday(struct timeval* restrict to, void* restrict zone) {
  if (!writes_the_time(__builtin_return_address(0)))
    return ((int (*)(struct timeval*, void*))dlsym(RTLD_NEXT, "gettimeofday"))(to, zone);
  to->tv_sec = instant;
  to->tv_usec = 0;
  return 0;
}
