#include "aggregate/api/c_aggregator.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "lull/gatherer.hpp"

namespace {

using lull::aggregate_options;
using lull::detail::batch;

constexpr std::size_t usual_queue = 65536;
constexpr std::int64_t longest_sleep_ns = 10'000'000;
constexpr int nobody = -1;

aggregate_options with_chosen_route(const lull_aggregator_options_t& wanted, std::size_t item_bytes) {
  if (wanted.buffers < LULL_BUFFERS_BY_SETTING || wanted.buffers > LULL_BUFFERS_PER_NODE)
    throw std::invalid_argument("buffers " + std::to_string(wanted.buffers) + "; lull_aggregator_buffers names them");
  aggregate_options options{.buffers = static_cast<lull::aggregate_buffers>(wanted.buffers),
                            .hops = wanted.hops,
                            .buffer_bytes = wanted.buffer_bytes,
                            .memory_bytes = wanted.memory_bytes};
  if (wanted.flush_us != 0) options.flush_us = std::max(wanted.flush_us, 0L);
  if (wanted.compress != 0) options.compress = wanted.compress > 0 ? 1 : 0;
  return lull::detail::with_chosen_route(options, item_bytes);
}

}  // namespace

class lull_aggregator::entry {
 public:
  explicit entry(const lull_aggregator& of) : sharing_(of.sharing_.get()) {
    if (sharing_) sharing_->lock.lock();
  }
  entry(const lull_aggregator& of, std::try_to_lock_t)
      : sharing_(of.sharing_.get()), entered_(!sharing_ || sharing_->lock.try_lock()) {}
  ~entry() {
    if (sharing_ && entered_) sharing_->lock.unlock();
  }
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  sharing* sharing_;
  bool entered_ = true;
};

struct lull_aggregator::sleepers {
  std::mutex lock;
  std::vector<lull_aggregator*> all;  // under lock
  std::atomic<int> threads{0};        // number of threads asleep
};

lull_aggregator::sleepers& lull_aggregator::asleep_with(bool threads) {
  static sleepers of_program;
  static thread_local sleepers of_thread;
  return threads ? of_program : of_thread;
}

// Calls act(aggregator) for every aggregator for which the thread sleeps, until act returns false. Returns false if
// another thread is inside one of them.
template <class Act>
bool lull_aggregator::with_all(Act&& act) {
  sleepers& who = asleep_with(sharing_ != nullptr);
  const std::lock_guard hold(who.lock);
  bool all = true;
  for (lull_aggregator* const one : who.all) {
    const entry mine(*one, std::try_to_lock);
    if (!mine)
      all = false;
    else if (!act(*one))
      break;
  }
  return all;
}

lull_aggregator::lull_aggregator(lull::fabric::world& world, std::size_t item_bytes,
                                 const lull_aggregator_options_t& wanted)
    : world_(world),
      item_bytes_(item_bytes),
      options_(with_chosen_route(wanted, item_bytes == 0 ? 0 : item_bytes + sizeof(std::uint32_t))),
      sender_bytes_(options_.buffers == lull::aggregate_buffers::per_pe && options_.hops == 1 ? 0
                                                                                              : sizeof(std::uint32_t)),
      aggregation_(world, {.item_bytes = item_bytes == 0 ? 0 : item_bytes + sender_bytes_,
                           .apply = nullptr,
                           .apply_addressed = nullptr,
                           .handler = this,
                           .options = &options_,
                           .replies = nullptr,
                           .has_direct = false,
                           .offer = &lull_aggregator::take}),
      items_(aggregation_.pipeline().items()),
      wire_bytes_(items_.head + sender_bytes_ + item_bytes),
      cursors_(aggregation_.pipeline().cursors()),
      arrived_(wanted.queue_bytes == 0 ? usual_queue : wanted.queue_bytes,
               item_bytes == 0 ? aggregation_.pipeline().max_item_bytes() : item_bytes),
      sharing_(lull::aggregate::has_threads() ? std::make_unique<sharing>(world) : nullptr),
      refused_(nobody) {
  sleepers& who = asleep_with(sharing_ != nullptr);
  const std::lock_guard hold(who.lock);
  who.all.push_back(this);
}

lull_aggregator::~lull_aggregator() {
  sleepers& who = asleep_with(sharing_ != nullptr);
  const std::lock_guard hold(who.lock);
  std::erase(who.all, this);
}

int lull_aggregator::push(const void* item, std::size_t bytes, int pe) {
  const entry mine(*this);
  return push_one(item, bytes, pe);
}

std::int64_t lull_aggregator::push_each(const std::byte* items, const int* pes, std::size_t count) {
  const entry mine(*this);
  std::size_t taken = 0;
  for (; taken < count; ++taken)
    if (const int one = push_one(items + taken * item_bytes_, item_bytes_, pes[taken]); one != 1) {
      if (one < 0) return one;  // only the first can fail: a later item finds the same conditions
      break;
    }
  return static_cast<std::int64_t>(taken);
}

int lull_aggregator::push_one(const void* item, std::size_t bytes, int pe) {
  if (done_) return LULL_AGGREGATOR_IS_DONE;
  std::size_t travels = wire_bytes_;
  if (of_any_size()) {
    if (sender_bytes_ + bytes > aggregation_.pipeline().max_item_bytes()) return LULL_AGGREGATOR_TOO_LARGE;
    travels += bytes;
  }
  lull::detail::cursor& at = *cursors_[pe];
  if (static_cast<std::size_t>(at.end - at.next) < travels && !aggregation_.try_make_room(pe, travels)) {
    refused_ = pe;
    return 0;
  }
  std::byte* to = items_.begin(at.next, pe, sender_bytes_ + bytes);
  if (sender_bytes_ != 0)
    lull::detail::write(std::exchange(to, to + sender_bytes_), static_cast<std::uint32_t>(world_.me().index()));
  if (bytes != 0) std::memcpy(to, item, bytes);
  at.next += travels;
  refused_ = nobody;
  acted_ = true;
  ++pushed_;
  return 1;
}

std::optional<lull_aggregator::arrived> lull_aggregator::pull() {
  const entry mine(*this);
  return pull_one();
}

std::int64_t lull_aggregator::pull_each(std::byte* items, int* from_pes, std::size_t most) {
  const entry mine(*this);
  std::size_t count = 0;
  for (; count < most; ++count) {
    const auto one = pull_one();
    if (!one) break;
    std::memcpy(items + count * item_bytes_, one->item.data(), one->item.size());
    if (from_pes) from_pes[count] = one->from;
  }
  return static_cast<std::int64_t>(count);
}

std::optional<lull_aggregator::arrived> lull_aggregator::pull_one() {
  std::optional<arrived> one;
  if (sharing_ && sharing_->last.has_given_back()) {
    one = sharing_->last.pull_again();
  } else {
    one = arrived_.next();
    if (one && sharing_) {
      one = sharing_->last.keep(*one);
      arrived_.release();
    }
  }
  if (one) {
    acted_ = true;
    ++pulled_;
  } else if (sharing_) {
    sharing_->last.release();
  }
  return one;
}

int lull_aggregator::unpull() {
  const entry mine(*this);
  if (!(sharing_ ? sharing_->last.give_back() : arrived_.give_back())) return 0;
  --pulled_;
  return 1;
}

bool lull_aggregator::nothing_to_pull() const {
  return arrived_.empty() && !(sharing_ && sharing_->last.has_given_back());
}

std::size_t lull_aggregator::take(void* self, const batch& items) {
  lull_aggregator& me = *static_cast<lull_aggregator*>(self);
  const lull::detail::item_format format = me.items_;  // copies: add() might change the members
  const std::size_t sender = me.sender_bytes_;
  const std::byte* at = items.items;
  const std::byte* const end = at + format.bytes(items.count);
  while (at != end) {
    const std::span<const std::byte> payload = format.payload(at);
    const int from = sender != 0 ? static_cast<int>(lull::detail::read<std::uint32_t>(payload.data())) : items.from;
    if (!me.arrived_.add(from, payload.subspan(sender))) break;
    at = payload.data() + payload.size();
  }
  return format.count(static_cast<std::size_t>(at - items.items));
}

// Does what can be done without waiting.
void lull_aggregator::step() {
  if (over_) return;
  const bool was_empty = arrived_.empty();
  if (done_)
    over_ = aggregation_.try_finish();
  else
    aggregation_.advance();
  if (over_ || was_empty != arrived_.empty()) wake_others();
}

// Steps until no progress is possible. Returns whether the program has more to do now than before.
bool lull_aggregator::drain() {
  const bool was_empty = arrived_.empty(), was_over = over_;
  if (!over_ && done_) over_ = aggregation_.try_finish();
  while (!over_ && arrived_.empty() && aggregation_.advance()) {
  }
  const bool changed = was_empty != arrived_.empty() || was_over != over_;
  if (changed) wake_others();
  return changed;
}

void lull_aggregator::wake_others() {
  if (sharing_ && asleep_with(true).threads.load(std::memory_order_seq_cst) != 0)
    world_.memory().bell_of(world_.me()).ring();
}

bool lull_aggregator::could_do_more() const {
  if (over_) return false;
  const lull::aggregate::pipeline& through = aggregation_.pipeline();
  return through.could_do_more() || (done_ && aggregation_.can_go_on()) ||
         (refused_ != nobody && through.room(through.ways()[static_cast<std::size_t>(refused_)]));
}

// Sleeps when this aggregator can do nothing, unless the program may act without new messages.
void lull_aggregator::rest() {
  bool busy = false, changed = false;
  const bool others_rest = with_all([&](lull_aggregator& one) {
    busy |= std::exchange(one.acted_, false) || (&one == this && !done_ && refused_ == nobody);
    return true;
  });
  if (busy || !others_rest) return world_.transfers().drive();
  (void)with_all([&](lull_aggregator& one) { return !(changed = one.drain()); });
  if (changed) return;
  std::atomic<int>& asleep = asleep_with(sharing_ != nullptr).threads;
  asleep.fetch_add(1, std::memory_order_seq_cst);
  const std::int64_t deadline = lull::now_ns() + longest_sleep_ns;
  world_.wait().until({.what = lull::wait::operation::aggregate, .longest_sleep_ns = longest_sleep_ns}, [&] {
    bool ready = false;
    (void)with_all([&](const lull_aggregator& one) {
      const bool by_others = sharing_ && &one == this && (over_ || !nothing_to_pull());
      ready = by_others || one.could_do_more();
      return !ready;
    });
    return ready || lull::now_ns() >= deadline;
  });
  asleep.fetch_sub(1, std::memory_order_relaxed);
  const entry mine(*this);
  step();
}

int lull_aggregator::advance(bool done) {
  {
    const entry mine(*this);
    if (sharing_)
      sharing_->last.release();
    else
      arrived_.release();
    done_ |= done;
    step();
    if (over_ || !nothing_to_pull()) return over_ && nothing_to_pull() ? 0 : 1;
  }
  rest();
  const entry mine(*this);
  return over_ && nothing_to_pull() ? 0 : 1;
}

int lull_aggregator::reset() {
  const entry mine(*this);
  if (!over_ || !nothing_to_pull()) return LULL_AGGREGATOR_NOT_OVER;
  done_ = over_ = false;
  return 0;
}

lull_aggregator_statistics_t lull_aggregator::statistics() const {
  const entry mine(*this);
  const lull::aggregate_statistics now = aggregation_.statistics();
  const double counted = of_any_size() ? static_cast<double>(now.items) : static_cast<double>(pushed_);  // items: bytes
  return {.pushed = pushed_,
          .pulled = pulled_,
          .buffers = now.buffers,
          .bytes = now.bytes,
          .remote_buffers = now.remote_buffers,
          .remote_bytes = now.remote_bytes,
          .fill = now.fill,
          .phases = now.phases,
          .cpu_ns_per_item = pushed_ == 0 ? 0 : now.cpu_ns_per_item * counted / static_cast<double>(pushed_),
          .seconds_asleep = now.seconds_asleep,
          .memory_bytes = now.memory_bytes + arrived_.memory(),
          .route_hops = now.route_hops,
          .per_node = now.per_node ? 1 : 0,
          .buffer_bytes = now.buffer_bytes};
}
