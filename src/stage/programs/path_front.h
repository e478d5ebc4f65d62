/* What stands before the C library's path calls, liblull-hdf5.so's second half, and what it asks of those who stage files.
 *
 * While each file that processes of the node have begun is written, a call costs a load and a comparison more. Else it first looks
 * which file its name means:
 *
 *   open, stat, truncate, link, chmod, utime and their kin   wait until that file is written, which any process of the node handed
 *                                                            over; of one that this process has open, its HDF5 gets the same
 *                                                            file, all others what is in it
 *   unlink, remove, rename                                   of a file that holds something, or replacing one: wait for all that
 *                                                            the node handed over, as the removal would overtake it; refused after
 *                                                            a failure that the program has not met yet
 *   exec, spawn, system, popen                               wait for all that was handed over
 *   close, write                                             of the descriptors that HDF5 got are noticed
 *
 * All waiting is free of locks and memory, as unlink, rename, open and stat may be called in signal handlers.
 */
#ifndef LULL_STAGE_PROGRAMS_PATH_FRONT_H
#define LULL_STAGE_PROGRAMS_PATH_FRONT_H

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct stat;

enum lull_path_use { lull_path_look, lull_path_content, lull_path_by_hdf5 };

struct lull_path_hooks {
  /* The program names this regular file. It waits until the file is written. The result is a descriptor, where HDF5 opens
   * what it has open in memory and should get the same file; else -1. */
  int (*use)(const struct stat* found, enum lull_path_use how);
  /* A file that HDF5 has open is as large as it is in memory. HDF5 itself is told of the memory, which it compares. */
  void (*describe)(struct stat* of, int by_hdf5);
  int (*is_ours)(const struct stat* found); /* it may hold more than it seems */
  int (*remove)(void);                      /* an error number: refuse */
  void (*leave)(void);                      /* another program may look at the files */
  int (*close)(int descriptor);             /* 1: closed by this */
  void (*grow)(int descriptor, off_t end);
};

#define LULL_FRONT __attribute__((visibility("default")))

/* Null: nothing is asked. `busy` counts files. */
LULL_FRONT void lull_paths_use(const struct lull_path_hooks* hooks, const uint32_t* busy);
/* On this thread, until it is ended: the open by this name that creates the file gets the descriptor. */
LULL_FRONT void lull_paths_begin_creation(const char* name, int descriptor);
/* 1: the descriptor has been taken. */
LULL_FRONT int lull_paths_end_creation(void);
/* Whether close and write look out for it. Only descriptors below lull_paths_most. */
enum { lull_paths_most = 65536 };
LULL_FRONT void lull_paths_watch(int descriptor, int on);
/* Calls on this thread in between are no business of the program's. */
LULL_FRONT void lull_paths_enter(void);
LULL_FRONT void lull_paths_exit(void);
LULL_FRONT int lull_paths_inside(void);

/* Of hdf5_front.cpp: whether the code there belongs to an HDF5 library. */
int lull_is_hdf5(const void* code);

#ifdef __cplusplus
}
#endif
#endif
