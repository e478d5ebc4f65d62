// Threads of a PE push into the same buffers: every item is handled exactly once and complete on its PE, for any number
// of threads, policy and route, and is counted as pushed; one handler at a time, or one per part, or one per thread.
#include <lull/aggregate.hpp>
#include <lull/aggregate_cache.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

constexpr unsigned most_threads = 8;

// Calls work(thread number) in `threads` threads, the last of them this one, and returns when all have returned.
void in_threads(unsigned threads, const std::function<void(unsigned)>& work) {
  std::vector<std::jthread> running;
  running.reserve(threads);
  for (unsigned t = 0; t + 1 < threads; ++t) running.emplace_back([&work, t] { work(t); });
  work(threads - 1);
}

template <std::size_t Bytes>
struct item {
  std::uint32_t from, thread, number;
  unsigned char rest[Bytes - 12];
};

template <class Item>
Item make(unsigned from, unsigned thread, unsigned to, std::uint32_t number) {
  Item made{};
  made.from = from, made.thread = thread, made.number = number;
  std::memset(made.rest, static_cast<int>(number * 7 + thread + to), sizeof made.rest);
  return made;
}

enum class pattern { random, nothing, one_thread, all_to_one, all_to_self };

unsigned seed = 1;

// What each thread of each PE has sent to this one, and how much of it has arrived.
struct traffic {
  unsigned pes = static_cast<unsigned>(shmem_n_pes());
  std::size_t streams = std::size_t{pes} * most_threads;
  std::uint64_t* sent = symmetric<std::uint64_t>(streams);
  std::vector<std::uint64_t> came = std::vector<std::uint64_t>(streams);
  std::vector<std::uint64_t> numbers = std::vector<std::uint64_t>(streams);

  traffic() = default;
  traffic(const traffic&) = delete;
  traffic& operator=(const traffic&) = delete;
  ~traffic() { shmem_free(sent); }

  [[nodiscard]] std::size_t stream(unsigned from, unsigned thread) const {
    return std::size_t{from} * most_threads + thread;
  }
};

template <class Item>
struct receiving {
  traffic* seen;
  bool in_order;
  void operator()(const Item& got) const {
    CHECK(got.from < seen->pes && got.thread < most_threads);
    const std::size_t stream = seen->stream(got.from, got.thread);
    if (in_order) CHECK(got.number == seen->came[stream]);
    const Item whole = make<Item>(got.from, got.thread, static_cast<unsigned>(shmem_my_pe()), got.number);
    CHECK(std::memcmp(got.rest, whole.rest, sizeof got.rest) == 0);
    seen->numbers[stream] += got.number;
    ++seen->came[stream];
  }
};
// Each stream is a part: only one handler at a time counts it.
template <class Item>
struct receiving_parts : receiving<Item> {
  std::atomic<int>* within;  // by part
  static std::size_t part(const Item& item) { return item.thread; }
  void operator()(const Item& got) const {
    CHECK(within[part(got)].fetch_add(1) == 0);
    receiving<Item>::operator()(got);
    CHECK(within[part(got)].fetch_sub(1) == 1);
  }
};

template <class Item, template <class> class Receiving = receiving>
void items_of_all_threads_arrive_once(const lull::aggregate_options& options, unsigned most) {
  const auto me = static_cast<unsigned>(shmem_my_pe());
  traffic seen;
  std::array<std::atomic<int>, most_threads> within{};
  Receiving<Item> handler{};
  handler.seen = &seen;
  handler.in_order = options.hops == 1;
  if constexpr (requires { handler.within; }) handler.within = within.data();
  lull::aggregator items{lull::items_of<Item>{}, handler, options};
  std::vector<std::vector<std::uint32_t>> next(most_threads, std::vector<std::uint32_t>(seen.pes));  // to each PE
  const unsigned begin = seed;
  seed += 100;
  for (const unsigned threads : {1U, 2U, 3U, most_threads})
    for (const pattern how : {pattern::random, pattern::nothing, pattern::one_thread, pattern::all_to_one,
                              pattern::all_to_self, pattern::random}) {
      in_threads(threads, [&](unsigned t) {
        std::mt19937 random(begin + me * 1000 + t * 10 + threads * 100);
        auto mine = items.pusher();
        const auto push = [&](unsigned to) { mine.push(make<Item>(me, t, to, next[t][to]++), static_cast<int>(to)); };
        const auto count = static_cast<unsigned>(random() % most);
        for (unsigned i = 0; i < count; ++i) switch (how) {
            case pattern::nothing:
              return;
            case pattern::one_thread:
              if (t != threads / 2 || me + 1 != seen.pes) return;
              push(static_cast<unsigned>(random() % seen.pes));
              break;
            case pattern::all_to_one:
              push(seen.pes / 2);
              break;
            case pattern::all_to_self:
              push(me);
              break;
            case pattern::random:
              push(static_cast<unsigned>(random() % seen.pes));
          }
      });
      items.done();
      for (unsigned to = 0; to < seen.pes; ++to)
        for (unsigned t = 0; t < most_threads; ++t)
          shmem_uint64_p(seen.sent + seen.stream(me, t), next[t][to], static_cast<int>(to));
      shmem_barrier_all();
      for (std::size_t stream = 0; stream < seen.streams; ++stream) {
        const std::uint64_t sent = seen.sent[stream];
        CHECK(seen.came[stream] == sent);
        CHECK(seen.numbers[stream] == sent * (sent - (sent != 0)) / 2);  // each number once
      }
      shmem_barrier_all();
    }
  std::uint64_t pushed = 0;
  for (const auto& of_thread : next)
    for (const auto n : of_thread) pushed += n;
  CHECK(items.statistics().items == pushed);
}

// So many in a row that rings of blocks wrap around, of a size that fills neither stages nor blocks completely.
void many_items_in_a_row_arrive_once(const lull::aggregate_options& options) {
  using part_of_thread = item<24>;
  const auto me = static_cast<unsigned>(shmem_my_pe());
  traffic seen;
  std::array<std::atomic<int>, most_threads> within{};
  receiving_parts<part_of_thread> handler{};
  handler.seen = &seen;
  handler.in_order = options.hops == 1;
  handler.within = within.data();
  lull::aggregator items{lull::items_of<part_of_thread>{}, handler, options};
  constexpr std::uint32_t passes = 2, each = 12'000;
  for (const unsigned threads : {1U, 2U, most_threads}) {
    std::ranges::fill(seen.came, 0);
    std::ranges::fill(seen.numbers, 0);
    shmem_barrier_all();
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      in_threads(threads, [&](unsigned t) {
        auto mine = items.pusher();
        mine.push_each(each, [&](std::size_t i) {
          const auto to = static_cast<unsigned>(i % seen.pes);
          const auto number = pass * (each / seen.pes) + static_cast<std::uint32_t>(i / seen.pes);
          return std::pair(make<part_of_thread>(me, t, to, number), to);
        });
      });
      items.done();
    }
    for (unsigned from = 0; from < seen.pes; ++from)
      for (unsigned t = 0; t < most_threads; ++t) {
        const std::uint64_t sent = t < threads ? passes * (each / seen.pes) : 0;
        CHECK(seen.came[seen.stream(from, t)] == sent);
        CHECK(seen.numbers[seen.stream(from, t)] == sent * (sent - (sent != 0)) / 2);
      }
    shmem_barrier_all();
  }
}

// With memory for only a few chunks; items as above.
void memory_of_all_threads_is_bounded(lull::aggregate_options options) {
  const auto pes = static_cast<unsigned>(shmem_n_pes());
  const auto me = static_cast<unsigned>(shmem_my_pe());
  options.memory_bytes = std::size_t{256} << 10U;
  options.buffer_bytes = 512;
  std::uint64_t* const came = symmetric<std::uint64_t>(1);
  lull::aggregator items{lull::items_of<std::uint64_t>{}, [&](std::uint64_t) { ++*came; }, options};
  constexpr unsigned threads = 24, pushes = 150;
  in_threads(threads, [&](unsigned t) {
    std::mt19937 random(me * 100 + t);
    auto mine = items.pusher();
    for (unsigned k = 0; k < pushes; ++k) {
      mine.push(k, static_cast<int>(random() % pes));
      // A thread that finds no memory still gets one chunk.
      CHECK(items.statistics().memory_bytes <= options.memory_bytes + threads * 1024);
    }
  });
  items.done();
  shmem_barrier_all();
  std::uint64_t* const sum = symmetric<std::uint64_t>(1);
  shmem_uint64_atomic_add(sum, *came, 0);
  shmem_barrier_all();
  if (me == 0) CHECK(*sum == std::uint64_t{threads} * pushes * pes);
  CHECK(items.statistics().memory_bytes <= options.memory_bytes);
  shmem_barrier_all();
  shmem_free(sum);
  shmem_free(came);
}

// Empty items, and items larger than a thread's chunk.
void items_of_any_size_arrive_once(const lull::aggregate_options& options) {
  const auto me = static_cast<unsigned>(shmem_my_pe());
  const auto pes = static_cast<unsigned>(shmem_n_pes());
  constexpr unsigned threads = 3, pushes = 600;
  constexpr std::size_t largest = 3000;
  std::uint64_t bytes = 0, count = 0;
  lull::aggregator items{lull::items_of<lull::byte_span>{},
                         [&](std::span<const std::byte> got) {
                           if (options.concurrent_handlers) {
                             std::atomic_ref(count).fetch_add(1);
                             std::atomic_ref(bytes).fetch_add(got.size());
                           } else {
                             ++count;
                             bytes += got.size();
                           }
                           for (std::size_t i = 0; i < got.size(); ++i)
                             CHECK(got[i] == static_cast<std::byte>(got.size() * 3 + i));
                         },
                         options};
  auto* const sent = symmetric<std::uint64_t>(2);  // items and bytes to me
  in_threads(threads, [&](unsigned t) {
    std::mt19937 random(me * 10 + t);
    std::vector<std::byte> made(largest);
    std::vector<std::uint64_t> to_pe(pes), bytes_to_pe(pes);
    {
      auto mine = items.pusher();
      for (unsigned k = 0; k < pushes; ++k) {
        const std::size_t size = random() % 5 == 0 ? 0 : random() % (random() % 10 == 0 ? largest : 100);
        for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<std::byte>(size * 3 + i);
        const std::size_t to = random() % pes;
        mine.push({made.data(), size}, static_cast<int>(to));
        ++to_pe[to];
        bytes_to_pe[to] += size;
      }
      bool refused = false;
      try {
        const std::vector<std::byte> huge(std::size_t{1} << 20U);
        mine.push(huge, static_cast<int>(me));
      } catch (const std::length_error&) {
        refused = true;
      }
      CHECK(refused);
    }
    for (unsigned to = 0; to < pes; ++to) {
      shmem_uint64_atomic_add(&sent[0], to_pe[to], static_cast<int>(to));
      shmem_uint64_atomic_add(&sent[1], bytes_to_pe[to], static_cast<int>(to));
    }
  });
  items.done();
  shmem_barrier_all();
  CHECK(count == sent[0] && bytes == sent[1]);
  CHECK(items.statistics().items == std::uint64_t{threads} * pushes);
  shmem_barrier_all();
  shmem_free(sent);
}

struct counted {
  std::uint64_t* counts;
  void operator()(std::uint32_t word) const { ++counts[word]; }
  void direct(std::uint32_t word, int pe) const { shmem_uint64_atomic_inc(counts + word, pe); }
};

// Phases that take the direct path on other PEs, with pushers here or without.
void an_increment_is_made_once_directly_or_not(const lull::aggregate_options& options) {
  const auto me = static_cast<unsigned>(shmem_my_pe());
  const auto pes = static_cast<unsigned>(shmem_n_pes());
  auto* const counts = symmetric<std::uint64_t>(64);
  auto* const sums = symmetric<std::uint64_t>(2);
  {
    lull::aggregator increments{lull::items_of<std::uint32_t>{}, counted{counts}, options};
    std::mt19937 decide(5), random(me + 5);
    std::uint64_t pushed = 0;
    for (const unsigned most : {1U, 5U, 1500U, 2U, 2U, 1U, 1000U, 1U}) {
      const unsigned threads = decide() % 4;
      if (me % 2 == decide() % 2) {
        const auto items = static_cast<unsigned>(random() % most) + 1;
        for (unsigned k = 0; k < items; ++k)
          increments.push(static_cast<std::uint32_t>(random() % 64), static_cast<int>(random() % pes));
        pushed += items;
      }
      if (threads != 0)
        in_threads(threads, [&](unsigned t) {
          std::mt19937 own(t);
          auto mine = increments.pusher();
          for (unsigned k = 0; k < most; ++k)
            mine.push(static_cast<std::uint32_t>(own() % 64), static_cast<int>(own() % pes));
        });
      pushed += std::uint64_t{threads} * most;
      increments.done();
      CHECK(increments.statistics().items == pushed);
    }
    std::uint64_t found = 0;
    for (int i = 0; i < 64; ++i) found += counts[i];
    shmem_uint64_atomic_add(&sums[0], pushed, 0);
    shmem_uint64_atomic_add(&sums[1], found, 0);
    shmem_barrier_all();
    if (me == 0) CHECK(sums[0] == sums[1]);
  }
  shmem_barrier_all();
  shmem_free(sums);
  shmem_free(counts);
}

// No buffer is full and no phase ends before all PEs have the items sent to them.
void an_advance_sends_what_stands_in_a_chunk(const lull::aggregate_options& options) {
  const ring r;
  auto* const served = symmetric<int>(1);  // PEs that have their item
  lull::aggregator items{lull::items_of<int>{},
                         [&](int from) {
                           CHECK(from == r.before);
                           for (int pe = 0; pe < r.pes; ++pe) shmem_int_atomic_inc(served, pe);
                         },
                         options};
  in_threads(3, [&](unsigned t) {
    auto mine = items.pusher();
    if (t == 1) mine.push(r.me, r.next);
    while (shmem_int_atomic_fetch(served, r.me) != r.pes) mine.advance();
  });
  items.done();
  shmem_barrier_all();
  shmem_free(served);
}

std::uint64_t value_of(int pe, std::uint64_t request) { return request * 1000 + static_cast<std::uint64_t>(pe) + 7; }

void values_of_all_threads_come_where_asked(lull::aggregate_options options) {
  const int me = shmem_my_pe();
  const auto pes = static_cast<unsigned>(shmem_n_pes());
  options.getters = true;
  lull::gatherer words{lull::items_of<std::uint64_t>{}, [me](std::uint64_t request) { return value_of(me, request); },
                       options};
  for (const unsigned threads : {0U, 1U, 3U, most_threads})
    for (const std::size_t each : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
      std::vector<std::uint64_t> values(each * (threads + 1)), requests(values.size());
      std::vector<int> from(values.size());
      std::mt19937 random(static_cast<unsigned>(me) * 100 + threads);
      for (std::size_t k = 0; k < requests.size(); ++k)
        requests[k] = random() % 100, from[k] = static_cast<int>(random() % pes);
      words.into(values);
      for (std::size_t k = 0; k < each; ++k) words.get(requests[k], from[k]);  // the first part, without a getter
      if (threads != 0)
        in_threads(threads, [&](unsigned t) {
          const std::size_t first = each * (t + 1);
          auto mine = words.getter(t % 2 == 0 ? first : 0);
          mine.into(first);
          for (std::size_t k = first; k < first + each; ++k) mine.get(requests[k], from[k]);
        });
      words.done();
      for (std::size_t k = 0; k < values.size(); ++k) CHECK(values[k] == value_of(from[k], requests[k]));
    }
}

// Where replies come in the order of the requests, those of threads included, neither carries an index: only the
// request and its value travel.
void nothing_travels_with_a_get_of_a_thread(lull::aggregate_options options) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  constexpr std::size_t header = 32, threads = 3, each = 2000;  // header: of a buffer
  options.getters = true;
  options.compress = 0;
  lull::gatherer words{lull::items_of<std::uint64_t>{}, [me](std::uint64_t request) { return value_of(me, request); },
                       options};
  const auto others = static_cast<std::size_t>(pes - 1);
  std::vector<std::uint64_t> values(threads * each * others);
  words.into(values);
  in_threads(threads, [&](unsigned t) {
    auto mine = words.getter(each * others * t);
    for (std::size_t k = 0; k < each; ++k)
      for (int pe = 0; pe < pes; ++pe)
        if (pe != me) mine.get(k, pe);
  });
  words.done();
  const lull::aggregate_statistics sent = words.statistics();
  CHECK(sent.bytes - header * sent.buffers == 2 * sizeof(std::uint64_t) * values.size());
}

// All threads share the cache, which is small enough that lines are evicted, or large.
void words_of_all_threads_come_through_the_cache(lull::aggregate_options options) {
  const auto me = static_cast<unsigned>(shmem_my_pe());
  const auto pes = static_cast<unsigned>(shmem_n_pes());
  constexpr std::size_t words = 500, each = 600;
  auto* const table = symmetric<std::uint64_t>(words);
  for (std::size_t w = 0; w < words; ++w) table[w] = value_of(static_cast<int>(me), w);
  shmem_barrier_all();
  options.getters = true;
  for (const long bytes : {2000L, 1L << 20U}) {
    options.cache_bytes = bytes;
    lull::table_reader<std::uint64_t> reader(table, words, options);
    for (const unsigned threads : {1U, 3U, most_threads}) {
      std::vector<std::uint64_t> values(each * threads), wanted(values.size());
      reader.into(values);
      const std::uint64_t before = reader.statistics().items;
      in_threads(threads, [&](unsigned t) {
        std::mt19937 random(me * 50 + t);
        auto mine = reader.getter(0);
        mine.into(each * t);
        for (std::size_t k = each * t; k < each * (t + 1); ++k) {
          const auto index = random() % words;
          const auto pe = static_cast<int>(random() % pes);
          wanted[k] = value_of(pe, index);
          mine.get(index, pe);
        }
      });
      reader.done();
      CHECK(values == wanted);
      CHECK(reader.statistics().items == before + values.size());
    }
    shmem_barrier_all();
  }
  shmem_free(table);
}

// Waits until two threads of the PE are inside: the first would wait without end if handlers ran one at a time.
class two_at_once {
 public:
  void come() {
    come_.fetch_add(1);
    while (come_.load() < 2) std::this_thread::yield();
  }
  [[nodiscard]] bool over() const { return come_.load() >= 2; }

 private:
  std::atomic<int> come_{0};
};

void what_comes_from_different_pes_is_handled_at_once(lull::aggregate_options options) {
  const int me = shmem_my_pe();
  if (shmem_n_pes() < 3) return;
  options.concurrent_handlers = options.getters = true;
  {
    two_at_once handled;
    lull::aggregator items{lull::items_of<int>{}, [&](int) { handled.come(); }, options};
    if (me == 1 || me == 2) {
      items.push(me, 0);
      items.advance();  // sends it
    } else if (me == 0) {
      in_threads(3, [&](unsigned) {
        auto mine = items.pusher();
        while (!handled.over()) mine.advance();
      });
    }
    items.done();
  }
  two_at_once answered;
  lull::gatherer words{lull::items_of<std::uint64_t>{},
                       [&](std::uint64_t request) {
                         answered.come();
                         return value_of(me, request);
                       },
                       options};
  std::vector<std::uint64_t> values(1);
  words.into(values);
  if (me == 1 || me == 2) {
    words.get(5, 0);
    words.advance();
  } else if (me == 0) {
    in_threads(3, [&](unsigned) {
      auto mine = words.getter(0);
      while (!answered.over()) mine.advance();
    });
  }
  words.done();
  if (me == 1 || me == 2) CHECK(values[0] == value_of(0, 5));
}

void a_gatherer_without_getters_says_so() {
  lull::gatherer words{lull::items_of<int>{}, [](int request) { return request; }};
  bool refused = false;
  try {
    auto mine = words.getter(0);
  } catch (const std::logic_error&) {
    refused = true;
  }
  CHECK(refused);
}

void a_phase_does_not_end_before_its_pushers() {
  lull::aggregator items{lull::items_of<int>{}, [](int) {}};
  bool refused = false;
  {
    auto mine = items.pusher();
    try {
      items.done();
    } catch (const std::logic_error&) {
      refused = true;
    }
  }
  CHECK(refused);
  items.done();
}

}  // namespace

int main() {
  int provided = -1;
  CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
  a_phase_does_not_end_before_its_pushers();
  a_gatherer_without_getters_says_so();
  for (const auto buffers : {lull::aggregate_buffers::per_pe, lull::aggregate_buffers::per_node})
    for (int hops = 1; hops <= 3; ++hops) {
      lull::aggregate_options options{.buffers = buffers, .hops = hops, .compress = hops % 2};
      const lull::aggregate_options at_once{.buffers = buffers, .hops = hops, .concurrent_handlers = true};
      items_of_all_threads_arrive_once<item<16>>(options, 1000);
      items_of_all_threads_arrive_once<item<24>>(at_once, 1000);
      items_of_all_threads_arrive_once<item<16>, receiving_parts>(options, 1000);
      an_advance_sends_what_stands_in_a_chunk(options);
      items_of_any_size_arrive_once({.buffers = buffers, .hops = hops});
      items_of_any_size_arrive_once(at_once);
      if (hops == 1) many_items_in_a_row_arrive_once({.buffers = buffers, .hops = 1});
      memory_of_all_threads_is_bounded({.buffers = buffers, .hops = hops});
      an_increment_is_made_once_directly_or_not({.buffers = buffers, .hops = hops});
      values_of_all_threads_come_where_asked({.buffers = buffers, .hops = hops});
      values_of_all_threads_come_where_asked(at_once);
      values_of_all_threads_come_where_asked({.buffers = buffers, .hops = hops, .buffer_bytes = 512});
      const bool is_direct = buffers == lull::aggregate_buffers::per_pe
                                 ? hops == 1
                                 : shmemx_n_nodes() == 1 || (hops == 1 && shmemx_n_nodes() == shmem_n_pes());
      if (is_direct) {
        nothing_travels_with_a_get_of_a_thread({.buffers = buffers, .hops = hops});
        what_comes_from_different_pes_is_handled_at_once({.buffers = buffers, .hops = hops});
      }
      words_of_all_threads_come_through_the_cache({.buffers = buffers, .hops = hops});
      options.buffer_bytes = 512;  // so that buffers are always full
      options.flush_us = hops == 2 ? 1 : 0;
      items_of_all_threads_arrive_once<item<32>>(options, 250);
      items_of_all_threads_arrive_once<item<32>, receiving_parts>(options, 250);
    }
  finish();
}
