/* The internals of Open MPI on which waiting depends, behind functions that are independent of Lull.
 *
 * In C, like Open MPI's internal headers. These are those of the library's version at build time; lull_openmpi_open()
 * rejects other series. Nothing is linked: all symbols are looked up in the library that the program has loaded.
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
  bool shares_memory;   /* for messages between ranks of a node */
  bool yields;          /* the library yields the core when it finds nothing to do */
  bool several_threads; /* MPI_THREAD_MULTIPLE */
};

/* NULL, or why waiting by a policy is impossible, for a message to the user. Call after MPI_Init. */
const char* lull_openmpi_open(struct lull_openmpi* found, void* library);

/* Whether progress that finds nothing to do calls sched_yield. */
void lull_openmpi_yield_when_idle(bool yield);

/* From now on, if *somebody is not 0, calls sent(endpoint) after a message has been written to shared memory, and
 * sent_to_self() after one to this process itself; and always calls returns(endpoint) before each message whose
 * fragment the receiver returns. */
void lull_openmpi_tell_of_sends(const uint32_t* somebody, void (*sent)(const void* endpoint),
                                void (*returns)(const void* endpoint), void (*sent_to_self)(void));

/* The rank in MPI_COMM_WORLD of an endpoint of shared memory, or -1. */
int lull_openmpi_rank_of(const void* endpoint);

#ifdef __cplusplus
}
#endif
#endif
