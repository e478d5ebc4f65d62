// An aggregator as the C interface has it: an aggregation that never waits, a queue of what has arrived, and the one place
// that sleeps.
//
// Items carry their sender where the route does not tell it. Whoever sleeps does so for all aggregators of its thread:
// it lets each do what can be done first, so that nothing another PE waits for is held up here meanwhile.
//
// Threads. In a program that has several, each call holds the aggregator's lock, but not while it sleeps; what is pulled
// is copied for the thread that pulls; and who sleeps does so for all aggregators of the PE, passing over those in which
// another thread is. That one wakes it when it has changed what a sleeper waits for.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "aggregate/api/arrival_queue.hpp"
#include "aggregate/api/last_pulls.hpp"
#include "aggregate/plan/aggregation.hpp"
#include "aggregate/threads/policy_lock.hpp"
#include "lull/aggregate.h"

struct lull_aggregator {
 public:
  using arrived = lull::aggregate::arrival_queue::arrived;

  lull_aggregator(lull::fabric::world& world, std::size_t item_bytes, const lull_aggregator_options_t& wanted);
  ~lull_aggregator();
  lull_aggregator(const lull_aggregator&) = delete;
  lull_aggregator& operator=(const lull_aggregator&) = delete;

  [[nodiscard]] bool of_any_size() const { return item_bytes_ == 0; }
  [[nodiscard]] std::size_t item_bytes() const { return item_bytes_; }
  [[nodiscard]] bool knows(int pe) const { return pe >= 0 && pe < world_.pes(); }

  int push(const void* item, std::size_t bytes, int pe);
  std::int64_t push_each(const std::byte* items, const int* pes, std::size_t count);
  std::optional<arrived> pull();
  std::int64_t pull_each(std::byte* items, int* from_pes, std::size_t most);
  int unpull();
  int advance(bool done);
  int reset();
  [[nodiscard]] lull_aggregator_statistics_t statistics() const;

 private:
  // What a program with several threads needs besides.
  struct sharing {
    explicit sharing(lull::fabric::world& world) : lock(world) {}
    lull::aggregate::policy_lock lock;
    lull::aggregate::last_pulls last;
  };
  class entry;      // a call of one thread
  struct sleepers;  // whoever sleeps, and for which aggregators

  static std::size_t take(void* self, const lull::detail::batch& items);
  static sleepers& asleep_with(bool threads);
  template <class Act>
  [[nodiscard]] bool with_all(Act&& act);
  int push_one(const void* item, std::size_t bytes, int pe);
  std::optional<arrived> pull_one();
  [[nodiscard]] bool nothing_to_pull() const;
  void step();
  bool drain();
  void wake_others();
  void rest();
  [[nodiscard]] bool could_do_more() const;

  lull::fabric::world& world_;
  std::size_t item_bytes_;
  lull::aggregate_options options_;
  std::size_t sender_bytes_;  // in front of each item where the channel does not tell who has sent it
  lull::detail::aggregation aggregation_;
  lull::detail::item_format items_;
  std::size_t wire_bytes_;  // of an item as it travels; of one of any size, all but itself
  lull::detail::cursor* const* cursors_;
  lull::aggregate::arrival_queue arrived_;
  std::unique_ptr<sharing> sharing_;  // null in a program of one thread
  bool acted_ = false;                // its program has pushed or pulled since advance()
  int refused_;                       // the PE for which the last push had no room
  bool done_ = false, over_ = false;
  std::uint64_t pushed_ = 0, pulled_ = 0;
};
