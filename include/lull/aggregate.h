/* Message aggregation for C: small items for other PEs, gathered into large transfers (library lull-shmem).
 *
 *     lull_aggregator_t* a = lull_aggregator_new(sizeof(uint64_t), NULL);
 *     size_t i = 0;
 *     uint64_t item;
 *     while (lull_aggregator_advance(a, i == count)) {
 *       while (i < count && lull_aggregator_push(a, &items[i], pes[i]) == 1) ++i;
 *       while (lull_aggregator_pull(a, &item, NULL) == 1) handle(item);
 *     }
 *     lull_aggregator_free(a);
 *
 * Contract. lull_aggregator_new() and lull_aggregator_free() are collective over all PEs, between shmem_init() and
 * shmem_finalize(). Each item that was taken by a push is pulled exactly once, on the PE it was sent to, if all PEs
 * call lull_aggregator_advance() until it returns 0, and pull what there is between its calls. Then the phase is over;
 * lull_aggregator_reset() begins another, on each PE when it likes.
 *
 * No call waits for other PEs to be pushed to or pulled from by their programs, with one exception that ends by itself:
 * lull_aggregator_advance() sleeps, by the waiting policy, when this PE is done or its last push found no room, and its
 * program has neither pushed nor pulled anything since the last call. The sleep ends when anything can be done again
 * for any aggregator that this thread has made, and after 10 ms.
 *
 * Items that have arrived wait in a queue until they are pulled. When it is full, nothing more is taken out of the
 * buffers, until in the end those who send find no room: memory is bounded, by LULL_AGGREGATE_MEMORY for buffers and by
 * queue_bytes. An item takes 8 bytes more there than its size, rounded up to 8.
 *
 * Threads. An aggregator is used by the thread that has made it; in a program begun with
 * shmem_init_thread(SHMEM_THREAD_MULTIPLE), by any number of threads at once, but for lull_aggregator_new(),
 * lull_aggregator_free() and lull_aggregator_reset(), which one thread calls while no other uses it. Each item is pulled
 * once, by one of them; what the others call "the last" or "the next pull or advance" is each thread's own. Done is
 * the PE: it is said when no thread has anything left to push. lull_aggregator_advance() then returns 0 to all of them.
 * A call holds the aggregator's lock, which push_each and pull_each take once for all their items. Who sleeps there does so
 * for all aggregators of the PE.
 *
 * Where a call can fail it returns one of the negative codes below; nothing has happened then. */
#ifndef LULL_AGGREGATE_H
#define LULL_AGGREGATE_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lull_aggregator lull_aggregator_t;

enum lull_aggregator_code {
  LULL_AGGREGATOR_BAD_ARGUMENT = -1, /* a null pointer, no such PE, or a call for the other kind of items */
  LULL_AGGREGATOR_TOO_LARGE = -2,    /* the item fits no buffer: raise LULL_AGGREGATE_BUFFER_BYTES */
  LULL_AGGREGATOR_IS_DONE = -3,      /* this PE has said that it is done, and may not push in this phase */
  LULL_AGGREGATOR_NOT_OVER = -4      /* the phase is not over, so no other can begin */
};

enum lull_aggregator_buffers { LULL_BUFFERS_BY_SETTING = 0, LULL_BUFFERS_PER_PE, LULL_BUFFERS_PER_NODE };

/* 0 means the setting of the same meaning everywhere; the same on all PEs, but for queue_bytes. */
typedef struct {
  int buffers;         /* lull_aggregator_buffers; LULL_AGGREGATE */
  int hops;            /* 1 to 3; LULL_AGGREGATE_HOPS */
  size_t buffer_bytes; /* LULL_AGGREGATE_BUFFER_BYTES */
  size_t memory_bytes; /* LULL_AGGREGATE_MEMORY */
  long flush_us;       /* negative: no deadline; LULL_AGGREGATE_FLUSH_US */
  int compress;        /* 1: yes, -1: no; LULL_AGGREGATE_COMPRESS */
  size_t queue_bytes;  /* of items that have arrived; 0: 65536. One item always fits */
} lull_aggregator_options_t;

typedef struct {
  uint64_t pushed;         /* items, here */
  uint64_t pulled;         /* items, here */
  uint64_t buffers;        /* sent from here */
  uint64_t bytes;          /* sent from here, headers included */
  uint64_t remote_buffers; /* of these, to PEs of other nodes */
  uint64_t remote_bytes;
  double fill;     /* mean share of a sent buffer that was used, 0 to 1 */
  uint64_t phases; /* that are over */
  double
      cpu_ns_per_item; /* CPU time of this PE's thread, or all its threads, from a phase's first buffer to its end, per item pushed */
  double seconds_asleep; /* of that */
  size_t memory_bytes;   /* of buffers and queue, on this PE */
  int route_hops;        /* what was chosen */
  int per_node;
  size_t buffer_bytes; /* to other nodes; to PEs of this one where there are no others */
} lull_aggregator_statistics_t;

/* Items of `item_bytes` bytes; 0: of any size, for epush and epull. `options` may be NULL. NULL when it cannot be, with
 * a line on stderr that says why and errno EINVAL or ENOMEM. */
LULL_API lull_aggregator_t* lull_aggregator_new(size_t item_bytes, const lull_aggregator_options_t* options);

/* Gives a copy of the item at `item` to `pe`. 1: taken; 0: no room now, so pull and advance first. */
LULL_API int lull_aggregator_push(lull_aggregator_t* a, const void* item, int pe);
LULL_API int lull_aggregator_epush(lull_aggregator_t* a, const void* item, size_t bytes, int pe);

/* The same for `count` items that lie one behind the other, the i-th for pes[i]: how many were taken, of the first on. */
LULL_API int64_t lull_aggregator_push_each(lull_aggregator_t* a, const void* items, const int* pes, size_t count);

/* The next item that has arrived here, to `item`, and its sender, to `from_pe` unless that is NULL. 1: there was one;
 * 0: nothing has arrived. */
LULL_API int lull_aggregator_pull(lull_aggregator_t* a, void* item, int* from_pe);

/* Up to `most` items, one behind the other, and their senders, to `from_pes` unless that is NULL: how many. */
LULL_API int64_t lull_aggregator_pull_each(lull_aggregator_t* a, void* items, int* from_pes, size_t most);

/* The next item in place: the item, aligned to 8 bytes, until the next pull or advance; NULL: nothing has arrived. For items
 * of any size `bytes` tells theirs, and an item of none has an address too. */
LULL_API void* lull_aggregator_apull(lull_aggregator_t* a, int* from_pe);
LULL_API void* lull_aggregator_epull(lull_aggregator_t* a, size_t* bytes, int* from_pe);

/* Takes the last pull back, before the next advance: the next one gives the same item. 1: done; 0: there was none. */
LULL_API int lull_aggregator_unpull(lull_aggregator_t* a);

/* Sends and receives. `done`, once given, holds until the phase is over: this PE will push no more. 0: all PEs are done
 * and everything for this one has been pulled; else 1. */
LULL_API int lull_aggregator_advance(lull_aggregator_t* a, int done);

/* Begins the next phase, when this one is over: 0. */
LULL_API int lull_aggregator_reset(lull_aggregator_t* a);

/* 0, or LULL_AGGREGATOR_BAD_ARGUMENT. */
LULL_API int lull_aggregator_statistics(const lull_aggregator_t* a, lull_aggregator_statistics_t* now);

/* Gives everything back; what has not been pulled is lost. NULL is allowed, on all PEs. */
LULL_API void lull_aggregator_free(lull_aggregator_t* a);

/* What a code means: one line, static storage, never NULL. */
LULL_API const char* lull_aggregator_strerror(int code);

#ifdef __cplusplus
}
#endif
#endif
