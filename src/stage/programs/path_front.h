/* The hooks of the C library's path calls: the second half of liblull-hdf5.so, and the interface to the library that
 * stages files.
 *
 * While no file begun by a process of the node is unwritten, a call costs an additional load and comparison. Otherwise it
 * first determines which file its name means:
 *
 *   open, stat, truncate, link, chmod, utime, ...   wait until that file is written, if any process of the node has
 *                                                   handed it over; for one that this process has open, its HDF5 gets
 *                                                   the same file, other code its content
 *   unlink, remove, rename                          for a file with content, or replacing one: wait for everything that
 *                                                   the node has handed over, which the removal would overtake; refused
 *                                                   after a failure that the program has not seen yet
 *   exec, spawn, system, popen                      wait for everything that was handed over
 *   close, write                                    on descriptors that HDF5 got: are observed
 *
 * No wait takes locks or memory, because unlink, rename, open and stat may be called in signal handlers.
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
  /* The program names this regular file. Waits until the file is written. Returns a descriptor if HDF5 opens a file that
   * it already has open in memory and should get the same file; otherwise -1. */
  int (*use)(const struct stat* found, enum lull_path_use how);
  /* Gives a file that HDF5 has open its size in memory. HDF5 itself gets the identity of the memory, which it compares. */
  void (*describe)(struct stat* of, int by_hdf5);
  int (*is_ours)(const struct stat* found); /* it may have more content than it seems */
  int (*remove)(void);                      /* nonzero: an error number, refuse */
  void (*leave)(void);                      /* another program may read the files */
  int (*close)(int descriptor);             /* 1: closed by this call */
  void (*grow)(int descriptor, off_t end);
};

#define LULL_FRONT __attribute__((visibility("default")))

/* Null: no hooks. `busy` counts files. */
LULL_FRONT void lull_paths_use(const struct lull_path_hooks* hooks, const uint32_t* busy);
/* Until lull_paths_end_creation() on this thread, the open() of this name that creates the file gets the descriptor. */
LULL_FRONT void lull_paths_begin_creation(const char* name, int descriptor);
/* 1: the descriptor has been used. */
LULL_FRONT int lull_paths_end_creation(void);
/* Whether close and write observe this descriptor. Only for descriptors below lull_paths_most. */
enum { lull_paths_most = 65536 };
LULL_FRONT void lull_paths_watch(int descriptor, int on);
/* Marks the calls of this thread in between as Lull's own. */
LULL_FRONT void lull_paths_enter(void);
LULL_FRONT void lull_paths_exit(void);
LULL_FRONT int lull_paths_inside(void);

/* In hdf5_front.cpp: whether the code at this address belongs to an HDF5 library. */
int lull_is_hdf5(const void* code);

#ifdef __cplusplus
}
#endif
#endif
