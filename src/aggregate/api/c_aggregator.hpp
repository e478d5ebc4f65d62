// The aggregator behind the C interface: an aggregation that never waits, a queue of arrived items, and the one place
// that sleeps.
//
// Items carry their sender where the route does not determine it. A PE sleeps for all aggregators of its thread: before
// it does, each of them makes the progress that it can, so that no other PE waits for a message held back here.
//
// Threads. In a program with several threads, each call holds the aggregator's lock, except while it sleeps. A pull
// copies the item for its thread. A sleep covers all aggregators of the PE, except those that another thread is using;
// that thread wakes the sleeper when it has changed what the sleeper waits for.
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
  // Additional state in a program with several threads.
  struct sharing {
    explicit sharing(lull::fabric::world& world) : lock(world) {}
    lull::aggregate::policy_lock lock;
    lull::aggregate::last_pulls last;
  };
  class entry;      // one call of one thread
  struct sleepers;  // the sleeping threads, and their aggregators

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
  std::size_t sender_bytes_;  // in front of each item where the channel does not determine the sender
  lull::detail::aggregation aggregation_;
  lull::detail::item_format items_;
  std::size_t wire_bytes_;  // of an item as it travels; for items of any size, of its prefix
  lull::detail::cursor* const* cursors_;
  lull::aggregate::arrival_queue arrived_;
  std::unique_ptr<sharing> sharing_;  // null in a program of one thread
  bool acted_ = false;                // the program has pushed or pulled since advance()
  int refused_;                       // the PE for which the last push had no room
  bool done_ = false, over_ = false;
  std::uint64_t pushed_ = 0, pulled_ = 0;
};
