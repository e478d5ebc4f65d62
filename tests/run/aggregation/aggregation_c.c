/* The C interface of aggregation: every item pushed is pulled once, whole and with its sender, for any sizes, routes,
 * phases and queues, however late a PE pulls and however early it is done. In C99. */
#include <errno.h>
#include <lull/aggregate.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                              \
  do {                                                                                                \
    if (!(condition)) {                                                                               \
      fprintf(stderr, "%s:%d: PE %d: not true: %s\n", __FILE__, __LINE__, shmem_my_pe(), #condition); \
      shmem_global_exit(1);                                                                           \
    }                                                                                                 \
  } while (0)

enum { most_pes = 8, largest = 400 };

static uint32_t state = 1;
static uint32_t some(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

/* By PE, of the phase: what this one has sent to it and got from it. */
static struct { uint64_t sent[most_pes], got[most_pes], sum[most_pes]; } counts;
static uint64_t sent_to_me[most_pes]; /* symmetric: by sender */

static void fill(unsigned char* item, size_t bytes, uint32_t number, int from, int to) {
  for (size_t i = 0; i < bytes; ++i) item[i] = (unsigned char)(number * 7 + (unsigned)from * 3 + (unsigned)to + i);
  if (bytes >= sizeof number) memcpy(item, &number, sizeof number);
}

static void check_item(const unsigned char* item, size_t bytes, int from) {
  unsigned char expected[largest];
  uint32_t number = 0;
  CHECK(from >= 0 && from < shmem_n_pes());
  if (bytes >= sizeof number) {
    memcpy(&number, item, sizeof number);
    fill(expected, bytes, number, from, shmem_my_pe());
    CHECK(memcmp(item, expected, bytes) == 0);
  }
  ++counts.got[from];
  counts.sum[from] += number;
}

static void begin_phase(void) { memset(&counts, 0, sizeof counts); }

/* Items were numbered from 0 on for each PE. */
static void end_phase(int numbered) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  for (int pe = 0; pe < pes; ++pe) shmem_uint64_p(&sent_to_me[me], counts.sent[pe], pe);
  shmem_barrier_all();
  for (int pe = 0; pe < pes; ++pe) {
    const uint64_t n = sent_to_me[pe];
    CHECK(counts.got[pe] == n);
    if (numbered) CHECK(counts.sum[pe] == n * (n - (n != 0)) / 2);
  }
  shmem_barrier_all();
}

enum pattern { to_all, nothing, one_item, to_one, to_self, first_is_done_early, patterns };

static int target(enum pattern how) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  return how == to_one ? pes / 2 : how == to_self ? me : how == one_item ? 0 : (int)some((uint32_t)pes);
}

static uint32_t items_of(enum pattern how, uint32_t most) {
  if (how == nothing || (how == first_is_done_early && shmem_my_pe() == 0)) return 0;
  return how == one_item ? (uint32_t)(shmem_my_pe() == shmem_n_pes() - 1) : some(most);
}

/* `at_a_time`: how many items a PE pulls before it goes on; 0: all. */
static void items_arrive_once(size_t bytes, uint32_t most, uint32_t at_a_time,
                              const lull_aggregator_options_t* options) {
  lull_aggregator_t* const a = lull_aggregator_new(bytes, options);
  uint64_t pushed = 0, pulled = 0;
  CHECK(a);
  for (int how = 0; how < patterns; ++how) {
    unsigned char item[largest];
    uint32_t left = items_of((enum pattern)how, most);
    int to = target((enum pattern)how), from = -1;
    begin_phase();
    while (lull_aggregator_advance(a, left == 0)) {
      for (; left > 0; --left, to = target((enum pattern)how)) {
        fill(item, bytes, (uint32_t)counts.sent[to], shmem_my_pe(), to);
        const int taken = lull_aggregator_push(a, item, to);
        CHECK(taken == 0 || taken == 1);
        if (!taken) break;
        ++counts.sent[to];
        ++pushed;
      }
      for (uint32_t i = 0; at_a_time == 0 || i < at_a_time; ++i) {
        if (i % 2 == 0) {
          if (lull_aggregator_pull(a, item, &from) == 0) break;
          check_item(item, bytes, from);
        } else {
          const unsigned char* const in_place = lull_aggregator_apull(a, &from);
          if (!in_place) break;
          CHECK((uintptr_t)in_place % 8 == 0);
          check_item(in_place, bytes, from);
        }
        ++pulled;
      }
    }
    CHECK(lull_aggregator_advance(a, 1) == 0);
    CHECK(lull_aggregator_push(a, item, 0) == LULL_AGGREGATOR_IS_DONE);
    CHECK(lull_aggregator_pull(a, item, NULL) == 0);
    end_phase(bytes >= 4);
    CHECK(lull_aggregator_reset(a) == 0);
  }
  lull_aggregator_statistics_t now;
  CHECK(lull_aggregator_statistics(a, &now) == 0);
  CHECK(now.pushed == pushed && now.pulled == pulled && now.phases == patterns);
  lull_aggregator_free(a);
}

static void items_of_any_size_arrive_once(const lull_aggregator_options_t* options) {
  lull_aggregator_t* const a = lull_aggregator_new(0, options);
  CHECK(a);
  for (int phase = 0; phase < 2; ++phase) {
    unsigned char item[largest];
    uint32_t left = some(600);
    size_t bytes = some(largest);
    int to = target(to_all);
    begin_phase();
    while (lull_aggregator_advance(a, left == 0)) {
      for (; left > 0; --left, to = target(to_all), bytes = some(5) == 0 ? 0 : some(largest)) {
        fill(item, bytes, some(1000), shmem_my_pe(), to);
        if (lull_aggregator_epush(a, bytes == 0 ? NULL : item, bytes, to) != 1) break;
        ++counts.sent[to];
      }
      size_t got = 0;
      int from = -1;
      for (const unsigned char* one; (one = lull_aggregator_epull(a, &got, &from)) != NULL;) check_item(one, got, from);
    }
    end_phase(0);
    CHECK(lull_aggregator_reset(a) == 0);
  }
  unsigned char* const huge = calloc(1, 1u << 20);
  CHECK(lull_aggregator_epush(a, huge, 1u << 20, 0) == LULL_AGGREGATOR_TOO_LARGE);
  free(huge);
  lull_aggregator_free(a);
}

struct request {
  uint64_t index;
  uint32_t place;
};
struct reply {
  uint64_t value;
  uint32_t place;
};

/* Each PE has at most `window` requests that are not answered: it waits for others that may be done already. */
static void requests_are_answered(uint32_t count, uint32_t window, const lull_aggregator_options_t* options) {
  lull_aggregator_t* const requests = lull_aggregator_new(sizeof(struct request), options);
  lull_aggregator_t* const replies = lull_aggregator_new(sizeof(struct reply), options);
  CHECK(requests && replies);
  const uint32_t mine = shmem_my_pe() == 0 ? 0 : count;
  uint32_t asked = 0, answered = 0;
  int to = target(to_all);
  for (;;) {
    const int more = lull_aggregator_advance(requests, asked == mine);
    const int still = lull_aggregator_advance(replies, !more);
    if (!more && !still) break;
    for (; asked < mine && asked - answered < window; ++asked, to = target(to_all)) {
      const struct request one = {asked * 5 + 1, asked};
      if (lull_aggregator_push(requests, &one, to) != 1) break;
    }
    struct request got;
    for (int from; lull_aggregator_pull(requests, &got, &from) == 1;) {
      const struct reply back = {got.index * 2, got.place};
      if (lull_aggregator_push(replies, &back, from) != 1) {
        CHECK(lull_aggregator_unpull(requests) == 1);
        CHECK(lull_aggregator_unpull(requests) == 0);
        break;
      }
    }
    for (struct reply back; lull_aggregator_pull(replies, &back, NULL) == 1; ++answered)
      CHECK(back.place < asked && back.value == (back.place * 5 + 1) * 2);
  }
  CHECK(answered == mine);
  lull_aggregator_free(replies);
  lull_aggregator_free(requests);
}

static void what_cannot_be_is_refused(void) {
  uint64_t item = 0;
  size_t bytes = 0;
  lull_aggregator_options_t wrong = {0};
  wrong.hops = 4;
  errno = 0;
  freopen("/dev/null", "w", stderr);
  const int none = lull_aggregator_new(8, &wrong) == NULL && errno == EINVAL;
  lull_aggregator_t* const a = lull_aggregator_new(8, NULL);
  lull_aggregator_t* const any = lull_aggregator_new(0, NULL);
  const int refused = lull_aggregator_push(a, &item, shmem_n_pes()) == LULL_AGGREGATOR_BAD_ARGUMENT &&
                      lull_aggregator_push(a, &item, -1) == LULL_AGGREGATOR_BAD_ARGUMENT &&
                      lull_aggregator_push(a, NULL, 0) == LULL_AGGREGATOR_BAD_ARGUMENT &&
                      lull_aggregator_push(NULL, &item, 0) == LULL_AGGREGATOR_BAD_ARGUMENT &&
                      lull_aggregator_push(any, &item, 0) == LULL_AGGREGATOR_BAD_ARGUMENT &&
                      lull_aggregator_epush(a, &item, 8, 0) == LULL_AGGREGATOR_BAD_ARGUMENT &&
                      lull_aggregator_pull(any, &item, NULL) == LULL_AGGREGATOR_BAD_ARGUMENT &&
                      !lull_aggregator_epull(any, &bytes, NULL) &&
                      lull_aggregator_reset(a) == LULL_AGGREGATOR_NOT_OVER && lull_aggregator_unpull(a) == 0 &&
                      strstr(lull_aggregator_strerror(LULL_AGGREGATOR_TOO_LARGE), "LULL_AGGREGATE_BUFFER_BYTES");
  lull_aggregator_free(any);
  lull_aggregator_free(a);
  lull_aggregator_free(NULL);
  if (!none || !refused) shmem_global_exit(2);
}

int main(void) {
  shmem_init();
  state = (uint32_t)shmem_my_pe() + 1;
  items_arrive_once(8, 6000, 0, NULL);
  items_arrive_once(1, 3000, 0, NULL);
  for (int buffers = LULL_BUFFERS_PER_PE; buffers <= LULL_BUFFERS_PER_NODE; ++buffers)
    for (int hops = 1; hops <= 3; ++hops) {
      lull_aggregator_options_t options = {0};
      options.buffers = buffers;
      options.hops = hops;
      requests_are_answered(600, 150, &options);
      options.compress = 1;
      items_arrive_once(12, 1500, 0, &options);
      options.buffer_bytes = 512;
      options.queue_bytes = 1; /* one item */
      items_arrive_once(40, 200, 1, &options);
      options.compress = 0;
      options.flush_us = 1;
      items_of_any_size_arrive_once(&options);
      requests_are_answered(20, 1, &options);
    }
  what_cannot_be_is_refused();
  shmemx_wait_stats_t stats;
  shmemx_wait_stats(&stats);
  if (shmemx_n_nodes() == 1 && stats.missed != 0) shmem_global_exit(3);
  shmem_finalize();
  return 0;
}
