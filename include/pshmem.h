/* The profiling interface of OpenSHMEM 1.5: every function under a second name, pshmem_putmem for shmem_putmem.
 *
 * A tool defines shmem_putmem itself, measures, and calls pshmem_putmem for the work. The type-generic names of C11
 * call shmem_TYPE_..., so that a tool sees them too. */
#ifndef LULL_PSHMEM_H
#define LULL_PSHMEM_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_NAME(name) pshmem_##name
#include <lull/shmem_functions.h>
#ifdef __cplusplus
}
#include <lull/shmem_complex.h>
#endif
#undef LULL_NAME
#endif
