/* Message aggregation for C: small items for other PEs travel in large buffers. Link with lull-shmem.
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
 * Phases. All PEs call lull_aggregator_new() and lull_aggregator_free() together, between shmem_init() and
 * shmem_finalize(). In a phase each PE calls lull_aggregator_advance() until it returns 0, and pulls what has arrived
 * between these calls. Then each item that a push accepted has been pulled exactly once, on the PE it was sent to, and
 * the phase is over. lull_aggregator_reset() begins the next phase; PEs need not call it at the same time.
 *
 * Waiting. Only lull_aggregator_advance() waits. It sleeps, as LULL_WAIT says, if this PE is done or its last push found
 * no room, and if it has pushed and pulled nothing since the last advance. It returns when any aggregator of this thread
 * can make progress, and after 10 ms at the latest.
 *
 * Memory. Buffers take at most LULL_AGGREGATE_MEMORY on each PE. Items that have arrived are in a queue of queue_bytes
 * until they are pulled; an item takes its size and 8 bytes, rounded up to 8. While the queue is full, items stay in the
 * buffers, until pushes on other PEs find no room.
 *
 * Threads. Only the thread that made an aggregator uses it. In a program begun with
 * shmem_init_thread(SHMEM_THREAD_MULTIPLE) any number of threads may use it at once, except for lull_aggregator_new(),
 * lull_aggregator_free() and lull_aggregator_reset(): one thread calls these while no other uses the aggregator. One of
 * the threads pulls each item. "The last pull" and "the next pull or advance" below mean those of the same thread. A
 * thread passes done = 1 when no thread of the PE has anything left to push; advance then returns 0 to every thread.
 * Each call takes the aggregator's lock; push_each and pull_each take it once for all their items.
 *
 * Errors. A call that fails returns one of the negative codes below and has no effect. */
#ifndef LULL_AGGREGATE_H
#define LULL_AGGREGATE_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lull_aggregator lull_aggregator_t;

enum lull_aggregator_code {
  LULL_AGGREGATOR_BAD_ARGUMENT = -1, /* a null pointer, an invalid PE, or a call for the other kind of items */
  LULL_AGGREGATOR_TOO_LARGE = -2,    /* the item fits into no buffer: raise LULL_AGGREGATE_BUFFER_BYTES */
  LULL_AGGREGATOR_IS_DONE = -3,      /* a push after this PE has passed done = 1 in this phase */
  LULL_AGGREGATOR_NOT_OVER = -4      /* a reset before the phase is over */
};

enum lull_aggregator_buffers { LULL_BUFFERS_BY_SETTING = 0, LULL_BUFFERS_PER_PE, LULL_BUFFERS_PER_NODE };

/* A member that is 0 takes the value of the setting beside it. All PEs pass the same values, except for queue_bytes. */
typedef struct {
  int buffers;         /* an enum lull_aggregator_buffers; LULL_AGGREGATE */
  int hops;            /* 1 to 3; LULL_AGGREGATE_HOPS */
  size_t buffer_bytes; /* LULL_AGGREGATE_BUFFER_BYTES */
  size_t memory_bytes; /* per PE; LULL_AGGREGATE_MEMORY */
  long flush_us;       /* deadline of a buffer in microseconds; negative: none; LULL_AGGREGATE_FLUSH_US */
  int compress;        /* 1: yes; -1: no; LULL_AGGREGATE_COMPRESS */
  size_t queue_bytes;  /* for items that have arrived; 0: 65536. One item always fits */
} lull_aggregator_options_t;

/* Counts since lull_aggregator_new(), of the calling PE alone. */
typedef struct {
  uint64_t pushed;         /* items, by this PE */
  uint64_t pulled;         /* items, by this PE */
  uint64_t buffers;        /* sent by this PE */
  uint64_t bytes;          /* of these buffers, headers included */
  uint64_t remote_buffers; /* of these buffers, those for PEs of other nodes */
  uint64_t remote_bytes;
  double fill;            /* mean share of a sent buffer that was used, 0 to 1 */
  uint64_t phases;        /* completed */
  double cpu_ns_per_item; /* per item pushed: CPU time of the PE's threads from a phase's first buffer to its end */
  double seconds_asleep;  /* in that time */
  size_t memory_bytes;    /* of buffers and queue */
  int route_hops;         /* of the route in use */
  int per_node;           /* 1: that route has buffers per node */
  size_t buffer_bytes;    /* of buffers for other nodes; on one node, of those for its PEs */
} lull_aggregator_statistics_t;

/* Collective. Makes an aggregator of items of `item_bytes` bytes; 0: items of any size, for epush and epull. `options` may
 * be NULL. The caller frees it by lull_aggregator_free(). On failure returns NULL, sets errno to EINVAL or ENOMEM, and
 * prints a line with the reason on stderr. */
LULL_API lull_aggregator_t* lull_aggregator_new(size_t item_bytes, const lull_aggregator_options_t* options);

/* Sends a copy of the item at `item` to `pe`. Returns 1; 0 if there is no room now: pull and advance, then try again. */
LULL_API int lull_aggregator_push(lull_aggregator_t* a, const void* item, int pe);
LULL_API int lull_aggregator_epush(lull_aggregator_t* a, const void* item, size_t bytes, int pe);

/* Pushes `count` contiguous items, the i-th to pes[i], until there is no room. Returns how many it pushed. */
LULL_API int64_t lull_aggregator_push_each(lull_aggregator_t* a, const void* items, const int* pes, size_t count);

/* Copies the next item that has arrived to `item`, and the number of its sender to `from_pe` unless that is NULL. Returns
 * 1, or 0 if nothing has arrived. */
LULL_API int lull_aggregator_pull(lull_aggregator_t* a, void* item, int* from_pe);

/* Pulls up to `most` items to contiguous places, their senders to `from_pes` unless that is NULL. Returns how many. */
LULL_API int64_t lull_aggregator_pull_each(lull_aggregator_t* a, void* items, int* from_pes, size_t most);

/* Pulls without a copy: returns the next item, aligned to 8 bytes and valid until the next pull or advance; NULL if
 * nothing has arrived. epull stores the item's size in `bytes`, and returns non-NULL for an item of no bytes, too. */
LULL_API void* lull_aggregator_apull(lull_aggregator_t* a, int* from_pe);
LULL_API void* lull_aggregator_epull(lull_aggregator_t* a, size_t* bytes, int* from_pe);

/* Undoes the last pull, if no advance came after it: the next pull returns the same item. Returns 1, or 0 if there was
 * nothing to undo. */
LULL_API int lull_aggregator_unpull(lull_aggregator_t* a);

/* Sends and receives. `done` = 1 says that this PE pushes nothing more in this phase, and cannot be taken back. Returns 1;
 * 0 once all PEs are done and every item for this PE has been pulled. */
LULL_API int lull_aggregator_advance(lull_aggregator_t* a, int done);

/* Begins the next phase on this PE after advance has returned 0. Returns 0. */
LULL_API int lull_aggregator_reset(lull_aggregator_t* a);

/* Stores the counts so far in `now`. Returns 0, or LULL_AGGREGATOR_BAD_ARGUMENT. */
LULL_API int lull_aggregator_statistics(const lull_aggregator_t* a, lull_aggregator_statistics_t* now);

/* Collective. Frees the aggregator; items that have not been pulled are lost. Does nothing if all PEs pass NULL. */
LULL_API void lull_aggregator_free(lull_aggregator_t* a);

/* Describes a code in one line, in static storage; never NULL. */
LULL_API const char* lull_aggregator_strerror(int code);

#ifdef __cplusplus
}
#endif
#endif
