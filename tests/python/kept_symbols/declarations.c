/* Everything on which compiled programs rely besides the names of functions: their types, the layouts of structures and
 * the values of constants, on a 64-bit system. It must compile after the public headers: a function declared here with
 * another type than in its header is an error, and so is an assertion that fails. test_c_abi.py compiles it.
 *
 * Additions are listed here. A change breaks programs and needs a new soname (docs/how-to/install.md). */
#include <lull/aggregate.h>
#include <lull/meter.h>
#include <lull/stage.h>
#include <lull/stage_plugin.h>
#include <shmemx.h>
#include <stddef.h>
#include <stdint.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define MEMBER(type, name, at, of_type)                                      \
  _Static_assert(offsetof(type, name) == (at), "place of " #type "." #name); \
  _Static_assert(_Generic(&((type*)0)->name, of_type * : 1, default : 0), "type of " #type "." #name)
#define VALUE(name, value) _Static_assert((name) == (value), "value of " #name)

/* lull/meter.h */
int lull_region_begin(const char*);
int lull_region_end(const char*);
int lull_region_flush(void);
int lull_metric_sum(const char*, double, const char*);
int lull_metric_mean(const char*, double, const char*);
int lull_metric_min(const char*, double, const char*);
int lull_metric_max(const char*, double, const char*);
const char* lull_meter_strerror(int);
VALUE(LULL_METER_OK, 0);
VALUE(LULL_METER_BAD_NAME, -1);
VALUE(LULL_METER_BAD_VALUE, -2);
VALUE(LULL_METER_NOT_INNERMOST, -3);
VALUE(LULL_METER_NOT_WRITTEN, -4);
VALUE(LULL_METER_NO_MEMORY, -5);
VALUE(LULL_METER_CONFLICT, -6);

/* lull/stage.h */
int lull_stage_open(const char*, int, int);
int lull_stage_set(const char*, int64_t);
int lull_stage_place(const char*, const int64_t[], const int64_t[]);
int lull_stage_write(const char*, const void*);
int64_t lull_stage_bytes(const char*);
int lull_stage_dimensions(const char*);
const char* lull_stage_type(const char*);
int lull_stage_end_iteration(int64_t);
int lull_stage_close(void);
int lull_stage_join(const char*);
const char* lull_stage_error(void);
VALUE(LULL_STAGE_OK, 0);
VALUE(LULL_STAGE_DROPPED, 1);
VALUE(LULL_STAGE_INCOMPLETE, 2);
VALUE(LULL_STAGE_ERROR, -1);

/* lull/stage_plugin.h */
SIZE(struct lull_stage_block, 64);
MEMBER(struct lull_stage_block, variable, 0, const char*);
MEMBER(struct lull_stage_block, type, 8, const char*);
MEMBER(struct lull_stage_block, unit, 16, const char*);
MEMBER(struct lull_stage_block, process, 24, int);
MEMBER(struct lull_stage_block, dimensions, 28, int);
MEMBER(struct lull_stage_block, extents, 32, const int64_t*);
MEMBER(struct lull_stage_block, offset, 40, const int64_t*);
MEMBER(struct lull_stage_block, count, 48, const int64_t*);
MEMBER(struct lull_stage_block, data, 56, const void*);
SIZE(struct lull_stage_iteration, 56);
MEMBER(struct lull_stage_iteration, number, 0, int64_t);
MEMBER(struct lull_stage_iteration, processes, 8, int);
MEMBER(struct lull_stage_iteration, folder, 16, const char*);
MEMBER(struct lull_stage_iteration, name, 24, const char*);
MEMBER(struct lull_stage_iteration, options, 32, const char*);
MEMBER(struct lull_stage_iteration, blocks, 40, size_t);
MEMBER(struct lull_stage_iteration, block, 48, const struct lull_stage_block*);
_Static_assert(_Generic((lull_stage_plugin)0, int (*)(const struct lull_stage_iteration*) : 1, default : 0),
               "a plug-in");

/* lull/aggregate.h */
lull_aggregator_t* lull_aggregator_new(size_t, const lull_aggregator_options_t*);
int lull_aggregator_push(lull_aggregator_t*, const void*, int);
int lull_aggregator_epush(lull_aggregator_t*, const void*, size_t, int);
int64_t lull_aggregator_push_each(lull_aggregator_t*, const void*, const int*, size_t);
int lull_aggregator_pull(lull_aggregator_t*, void*, int*);
int64_t lull_aggregator_pull_each(lull_aggregator_t*, void*, int*, size_t);
void* lull_aggregator_apull(lull_aggregator_t*, int*);
void* lull_aggregator_epull(lull_aggregator_t*, size_t*, int*);
int lull_aggregator_unpull(lull_aggregator_t*);
int lull_aggregator_advance(lull_aggregator_t*, int);
int lull_aggregator_reset(lull_aggregator_t*);
int lull_aggregator_statistics(const lull_aggregator_t*, lull_aggregator_statistics_t*);
void lull_aggregator_free(lull_aggregator_t*);
const char* lull_aggregator_strerror(int);
VALUE(LULL_AGGREGATOR_BAD_ARGUMENT, -1);
VALUE(LULL_AGGREGATOR_TOO_LARGE, -2);
VALUE(LULL_AGGREGATOR_IS_DONE, -3);
VALUE(LULL_AGGREGATOR_NOT_OVER, -4);
VALUE(LULL_BUFFERS_BY_SETTING, 0);
VALUE(LULL_BUFFERS_PER_PE, 1);
VALUE(LULL_BUFFERS_PER_NODE, 2);
SIZE(lull_aggregator_options_t, 48);
MEMBER(lull_aggregator_options_t, buffers, 0, int);
MEMBER(lull_aggregator_options_t, hops, 4, int);
MEMBER(lull_aggregator_options_t, buffer_bytes, 8, size_t);
MEMBER(lull_aggregator_options_t, memory_bytes, 16, size_t);
MEMBER(lull_aggregator_options_t, flush_us, 24, long);
MEMBER(lull_aggregator_options_t, compress, 32, int);
MEMBER(lull_aggregator_options_t, queue_bytes, 40, size_t);
SIZE(lull_aggregator_statistics_t, 104);
MEMBER(lull_aggregator_statistics_t, pushed, 0, uint64_t);
MEMBER(lull_aggregator_statistics_t, pulled, 8, uint64_t);
MEMBER(lull_aggregator_statistics_t, buffers, 16, uint64_t);
MEMBER(lull_aggregator_statistics_t, bytes, 24, uint64_t);
MEMBER(lull_aggregator_statistics_t, remote_buffers, 32, uint64_t);
MEMBER(lull_aggregator_statistics_t, remote_bytes, 40, uint64_t);
MEMBER(lull_aggregator_statistics_t, fill, 48, double);
MEMBER(lull_aggregator_statistics_t, phases, 56, uint64_t);
MEMBER(lull_aggregator_statistics_t, cpu_ns_per_item, 64, double);
MEMBER(lull_aggregator_statistics_t, seconds_asleep, 72, double);
MEMBER(lull_aggregator_statistics_t, memory_bytes, 80, size_t);
MEMBER(lull_aggregator_statistics_t, route_hops, 88, int);
MEMBER(lull_aggregator_statistics_t, per_node, 92, int);
MEMBER(lull_aggregator_statistics_t, buffer_bytes, 96, size_t);

/* shmemx.h */
void shmemx_wait_stats(shmemx_wait_stats_t*);
int shmemx_n_nodes(void);
int shmemx_node_of(int);
int shmemx_oversubscribed(void);
#define ACCUMULATE(NAME, TYPE)                                                                                      \
  void shmemx_##NAME##_accumulate(TYPE*, const TYPE*, size_t, const TYPE*, int);                                    \
  void shmemx_##NAME##_accumulate_strided(TYPE*, const ptrdiff_t[], const TYPE*, const ptrdiff_t[], const size_t[], \
                                          int, const TYPE*, int)
ACCUMULATE(int, int);
ACCUMULATE(long, long);
ACCUMULATE(float, float);
ACCUMULATE(double, double);
ACCUMULATE(complexf, float _Complex);
ACCUMULATE(complexd, double _Complex);
void shmemx_put_strided(void*, const ptrdiff_t[], const void*, const ptrdiff_t[], const size_t[], int, int);
void shmemx_get_strided(void*, const ptrdiff_t[], const void*, const ptrdiff_t[], const size_t[], int, int);
void shmemx_put_vector(void* const[], const void* const[], size_t, size_t, int);
void shmemx_get_vector(void* const[], const void* const[], size_t, size_t, int);
int shmemx_ctx_set_wait(shmem_ctx_t, const char*);
int shmemx_ctx_set_transform(shmem_ctx_t, const char*);
void shmemx_transform_stats(shmemx_transform_stats_t*);
SIZE(shmemx_wait_stats_t, 48);
MEMBER(shmemx_wait_stats_t, waits, 0, uint64_t);
MEMBER(shmemx_wait_stats_t, sleeps, 8, uint64_t);
MEMBER(shmemx_wait_stats_t, timeouts, 16, uint64_t);
MEMBER(shmemx_wait_stats_t, missed, 24, uint64_t);
MEMBER(shmemx_wait_stats_t, ns_waited, 32, int64_t);
MEMBER(shmemx_wait_stats_t, ns_asleep, 40, int64_t);
SIZE(shmemx_transform_stats_t, 48);
MEMBER(shmemx_transform_stats_t, coalesced_puts, 0, uint64_t);
MEMBER(shmemx_transform_stats_t, coalesced_bytes, 8, uint64_t);
MEMBER(shmemx_transform_stats_t, messages, 16, uint64_t);
MEMBER(shmemx_transform_stats_t, late, 24, uint64_t);
MEMBER(shmemx_transform_stats_t, copied_puts, 32, uint64_t);
MEMBER(shmemx_transform_stats_t, copied_bytes, 40, uint64_t);

/* shmem.h; its functions are those of the specification (test_openshmem_names.py) */
SIZE(shmem_ctx_t, 8);
SIZE(shmem_team_t, 8);
SIZE(shmem_team_config_t, 4);
MEMBER(shmem_team_config_t, num_contexts, 0, int);
SIZE(shmem_ctx_session_config_t, 8);
MEMBER(shmem_ctx_session_config_t, total_ops, 0, size_t);
/* A macro may only be defined again with the same content. */
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)1)
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)1)
#define SHMEM_TEAM_SHARED ((shmem_team_t)2)
VALUE(SHMEM_THREAD_SINGLE, 0);
VALUE(SHMEM_THREAD_FUNNELED, 1);
VALUE(SHMEM_THREAD_SERIALIZED, 2);
VALUE(SHMEM_THREAD_MULTIPLE, 3);
VALUE(SHMEM_CMP_EQ, 1);
VALUE(SHMEM_CMP_NE, 2);
VALUE(SHMEM_CMP_GT, 3);
VALUE(SHMEM_CMP_GE, 4);
VALUE(SHMEM_CMP_LT, 5);
VALUE(SHMEM_CMP_LE, 6);
VALUE(SHMEM_SIGNAL_SET, 1);
VALUE(SHMEM_SIGNAL_ADD, 2);
VALUE(SHMEM_CTX_SERIALIZED, 1);
VALUE(SHMEM_CTX_PRIVATE, 2);
VALUE(SHMEM_CTX_NOSTORE, 4);
VALUE(SHMEM_MALLOC_ATOMICS_REMOTE, 1);
VALUE(SHMEM_MALLOC_SIGNAL_REMOTE, 2);
VALUE(SHMEM_TEAM_NUM_CONTEXTS, 1);
VALUE(SHMEM_MAX_NAME_LEN, 64);
VALUE(SHMEM_SYNC_VALUE, 0);
VALUE(SHMEM_SYNC_SIZE, 8);
VALUE(SHMEM_REDUCE_MIN_WRKDATA_SIZE, 1);
