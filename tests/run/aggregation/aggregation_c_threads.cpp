// Threads of a PE push into, pull from and advance the same aggregator of the C interface: every item is pulled once,
// by one of them, complete and with its sender, for any number of threads, policy, route and queue; and each thread
// sees the end of each phase.
#include <lull/aggregate.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

constexpr unsigned most_threads = 8, most_pes = 8;

// Calls work(thread number) in `threads` threads, the last of them this one, and returns when all have returned.
void in_threads(unsigned threads, const std::function<void(unsigned)>& work) {
  std::vector<std::jthread> running;
  running.reserve(threads);
  for (unsigned t = 0; t + 1 < threads; ++t) running.emplace_back([&work, t] { work(t); });
  work(threads - 1);
}

struct item {
  std::uint32_t from, number;
  std::array<unsigned char, 16> rest;
};

item make(unsigned from, unsigned to, std::uint32_t number) {
  item made{.from = from, .number = number, .rest = {}};
  made.rest.fill(static_cast<unsigned char>(number * 7 + from + to * 3));
  return made;
}

// Of a phase, by PE: items sent there, and items arrived from there.
struct traffic {
  std::array<std::atomic<std::uint32_t>, most_pes> sent{}, came{};
  std::array<std::atomic<std::uint64_t>, most_pes> numbers{};

  void check(const item& got, int from) {
    const auto pe = static_cast<unsigned>(from);
    CHECK(got.from == pe);
    const item whole = make(pe, static_cast<unsigned>(shmem_my_pe()), got.number);
    CHECK(std::memcmp(&got, &whole, sizeof got) == 0);
    came[pe].fetch_add(1);
    numbers[pe].fetch_add(got.number);
  }
};

// Pushes the items of one thread, one by one or many at a time.
class pushing {
 public:
  pushing(lull_aggregator_t* to, traffic& seen, unsigned seed, unsigned count)
      : to_(to), seen_(seen), random_(seed), left_(count) {}

  [[nodiscard]] bool over() const { return left_ == 0 && items_.empty(); }
  void go_on() {
    while (!over()) {
      if (items_.empty()) choose();
      const std::int64_t taken = items_.size() == 1
                                     ? lull_aggregator_push(to_, items_.data(), pes_[0])
                                     : lull_aggregator_push_each(to_, items_.data(), pes_.data(), items_.size());
      CHECK(taken >= 0);
      items_.erase(items_.begin(), items_.begin() + taken);
      pes_.erase(pes_.begin(), pes_.begin() + taken);
      if (taken == 0) return;
    }
  }

 private:
  void choose() {
    const auto pes = static_cast<unsigned>(shmem_n_pes());
    for (unsigned n = std::min<unsigned>(left_, random_() % 2 == 0 ? 1 : 10); n != 0; --n, --left_) {
      const auto to = static_cast<unsigned>(random_() % pes);
      pes_.push_back(static_cast<int>(to));
      items_.push_back(make(static_cast<unsigned>(shmem_my_pe()), to, seen_.sent[to].fetch_add(1)));
    }
  }

  lull_aggregator_t* to_;
  traffic& seen_;
  std::mt19937 random_;
  unsigned left_;
  std::vector<item> items_;  // chosen, not yet taken
  std::vector<int> pes_;
};

// Pulls some of the arrived items, in each possible form.
void pull(lull_aggregator_t* from, traffic& seen, unsigned how) {
  int pe = -1;
  item one;
  std::array<item, 5> some;
  std::array<int, 5> pes;
  switch (how % 4) {
    case 0:
      while (lull_aggregator_pull(from, &one, &pe) == 1) seen.check(one, pe);
      break;
    case 1:
      for (const void* at; (at = lull_aggregator_apull(from, &pe)) != nullptr;) {
        std::this_thread::yield();  // the item stays valid, whatever the others do
        std::memcpy(&one, at, sizeof one);
        seen.check(one, pe);
      }
      break;
    case 2:
      for (std::int64_t n; (n = lull_aggregator_pull_each(from, some.data(), pes.data(), some.size())) > 0;)
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) seen.check(some[i], pes[i]);
      break;
    default:
      if (lull_aggregator_pull(from, &one, &pe) != 1) return;
      CHECK(lull_aggregator_unpull(from) == 1);  // for the next thread that pulls
      CHECK(lull_aggregator_unpull(from) == 0);
  }
}

void items_are_pulled_once(const lull_aggregator_options_t& options, unsigned most) {
  const auto me = static_cast<unsigned>(shmem_my_pe());
  const auto pes = static_cast<unsigned>(shmem_n_pes());
  lull_aggregator_t* const a = lull_aggregator_new(sizeof(item), &options);
  CHECK(a);
  auto* const sent_to_me = symmetric<std::uint32_t>(pes);
  std::uint64_t pushed = 0, pulled = 0;
  unsigned seed = me * 100;
  for (const unsigned threads : {1U, 2U, 3U, most_threads}) {
    traffic seen;
    std::atomic<unsigned> still_pushing{threads};
    in_threads(threads, [&](unsigned t) {
      std::mt19937 random(seed + t);
      pushing mine(a, seen, seed + t, me % 3 == 1 && t == 0 ? 0 : static_cast<unsigned>(random() % most));
      for (bool pushes = true; lull_aggregator_advance(a, still_pushing == 0 ? 1 : 0) != 0;) {
        mine.go_on();
        if (pushes && mine.over()) {
          pushes = false;
          still_pushing.fetch_sub(1);
        }
        pull(a, seen, static_cast<unsigned>(random()));
      }
    });
    seed += most_threads;
    CHECK(lull_aggregator_reset(a) == 0);
    for (unsigned to = 0; to < pes; ++to) {
      shmem_uint32_p(sent_to_me + me, seen.sent[to], static_cast<int>(to));
      pushed += seen.sent[to];
    }
    shmem_barrier_all();
    for (unsigned from = 0; from < pes; ++from) {
      const std::uint64_t n = sent_to_me[from];
      CHECK(seen.came[from] == n);
      CHECK(seen.numbers[from] == n * (n - (n != 0)) / 2);
      pulled += n;
    }
    shmem_barrier_all();
  }
  lull_aggregator_statistics_t now;
  CHECK(lull_aggregator_statistics(a, &now) == 0);
  CHECK(now.pushed == pushed && now.pulled == pulled && now.phases == 4);
  shmem_free(sent_to_me);
  lull_aggregator_free(a);
}

struct request {
  std::uint64_t index;
  std::uint32_t place;
};
struct reply {
  std::uint64_t value;
  std::uint32_t place;
};

// Two aggregators, one of which waits for the other: a thread asleep in one wakes up for both.
void requests_of_threads_are_answered(const lull_aggregator_options_t& options) {
  constexpr std::uint32_t of_thread = 100;
  lull_aggregator_t* const requests = lull_aggregator_new(sizeof(request), &options);
  lull_aggregator_t* const replies = lull_aggregator_new(sizeof(reply), &options);
  CHECK(requests && replies);
  constexpr unsigned threads = 3;
  std::atomic<unsigned> still_asking{threads}, answering{0}, answered{0};
  in_threads(threads, [&](unsigned t) {
    std::mt19937 random(t);
    std::uint32_t asked = 0;
    bool asks = true;
    request in_hand{};
    bool answers = false;
    int asker = -1;
    for (;;) {
      // When all requests have been pulled and none is being handled, no more replies will be pushed.
      const int more = lull_aggregator_advance(requests, still_asking == 0 ? 1 : 0);
      const int still = lull_aggregator_advance(replies, more == 0 && answering == 0 ? 1 : 0);
      if (more == 0 && still == 0) break;
      for (; asked < of_thread; ++asked) {
        const request one{.index = asked, .place = asked};
        if (lull_aggregator_push(requests, &one, static_cast<int>(random()) & (shmem_n_pes() - 1)) != 1) break;
      }
      if (asks && asked == of_thread) {
        asks = false;
        still_asking.fetch_sub(1);
      }
      if (!answers) answering.fetch_add(1);
      while (answers || lull_aggregator_pull(requests, &in_hand, &asker) == 1) {
        const reply back{.value = in_hand.index * 2, .place = in_hand.place};
        answers = lull_aggregator_push(replies, &back, asker) != 1;
        if (answers) break;
      }
      if (!answers) answering.fetch_sub(1);
      for (reply back; lull_aggregator_pull(replies, &back, nullptr) == 1; answered.fetch_add(1))
        CHECK(back.place < of_thread && back.value == back.place * 2U);
    }
  });
  CHECK(answered == threads * of_thread);
  lull_aggregator_free(replies);
  lull_aggregator_free(requests);
}

}  // namespace

int main() {
  int provided = -1;
  CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
  for (int buffers = LULL_BUFFERS_PER_PE; buffers <= LULL_BUFFERS_PER_NODE; ++buffers)
    for (int hops = 1; hops <= 3; ++hops) {
      lull_aggregator_options_t options{};
      options.buffers = buffers;
      options.hops = hops;
      items_are_pulled_once(options, 600);
      requests_of_threads_are_answered(options);
      options.buffer_bytes = 512;
      options.queue_bytes = 1;  // one item
      options.flush_us = 1;
      items_are_pulled_once(options, 100);
      requests_of_threads_are_answered(options);
    }
  finish();
}
