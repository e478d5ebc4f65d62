/* What of the inside of Open MPI waiting depends on, behind functions that know nothing of Lull.
 *
 * In C, since Open MPI's internal headers are. They are those of the library's version at build time; with another
 * series lull_openmpi_open() refuses. Nothing here is linked: all of it is found in the library that the program has
 * loaded.
 */
#ifndef LULL_MPI_WAITING_OPENMPI_H
#define LULL_MPI_WAITING_OPENMPI_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lull_openmpi {
  void (*progress)(void);
  int rank, ranks;      /* in MPI_COMM_WORLD */
  int ranks_of_node;    /* of this job on this node */
  bool shares_memory;   /* messages between ranks of a node go through shared memory */
  bool yields;          /* the library yields the core where it finds nothing to do */
  bool several_threads; /* MPI_THREAD_MULTIPLE */
};

/* NULL, or why there can be no waiting, in words for a person. Call after MPI_Init. */
const char* lull_openmpi_open(struct lull_openmpi* found, void* library);

/* Whether progress that finds nothing to do calls sched_yield. */
void lull_openmpi_yield_when_idle(bool yield);

/* From now on, where *somebody is not 0: sent(endpoint) after a message has been given to shared memory, and sent_to_self()
 * after one to this process itself. And returns(endpoint) before each message whose fragment the receiver gives back. */
void lull_openmpi_tell_of_sends(const uint32_t* somebody, void (*sent)(const void* endpoint),
                                void (*returns)(const void* endpoint), void (*sent_to_self)(void));

/* The rank in MPI_COMM_WORLD behind an endpoint of shared memory, or -1. */
int lull_openmpi_rank_of(const void* endpoint);

#ifdef __cplusplus
}
#endif
#endif
