// The C interface: an aggregation that never waits, a queue of what has arrived, and the one place that sleeps.
//
// Items carry their sender where the route does not tell it. Whoever sleeps does so for all aggregators of its thread:
// it lets each do what can be done first, so that nothing another PE waits for is held up here meanwhile.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "aggregate/aggregation.hpp"
#include "aggregate/arrival_queue.hpp"
#include "base/clock.hpp"
#include "lull/aggregate.h"
#include "shmem/current.hpp"

namespace {

using lull::aggregate_options;
using lull::detail::batch;

constexpr std::size_t usual_queue = 65536;
constexpr std::int64_t longest_sleep_ns = 10'000'000;
constexpr int nobody = -1;

aggregate_options with_route(const lull_aggregator_options_t& wanted, std::size_t item_bytes) {
  if (wanted.buffers < LULL_BUFFERS_BY_SETTING || wanted.buffers > LULL_BUFFERS_PER_NODE)
    throw std::invalid_argument("buffers " + std::to_string(wanted.buffers) + "; lull_aggregator_buffers names them");
  aggregate_options options{.buffers = static_cast<lull::aggregate_buffers>(wanted.buffers),
                            .hops = wanted.hops,
                            .buffer_bytes = wanted.buffer_bytes,
                            .memory_bytes = wanted.memory_bytes};
  if (wanted.flush_us != 0) options.flush_us = std::max(wanted.flush_us, 0L);
  if (wanted.compress != 0) options.compress = wanted.compress > 0 ? 1 : 0;
  return lull::detail::with_route(options, item_bytes);
}

}  // namespace

struct lull_aggregator {
 public:
  lull_aggregator(lull::fabric::world& world, std::size_t item_bytes, const lull_aggregator_options_t& wanted);
  ~lull_aggregator() { std::erase(of_thread(), this); }
  lull_aggregator(const lull_aggregator&) = delete;
  lull_aggregator& operator=(const lull_aggregator&) = delete;

  [[nodiscard]] bool of_any_size() const { return item_bytes_ == 0; }
  [[nodiscard]] std::size_t item_bytes() const { return item_bytes_; }
  [[nodiscard]] bool knows(int pe) const { return pe >= 0 && pe < world_.pes(); }

  int push(const void* item, std::size_t bytes, int pe);
  std::optional<lull::aggregate::arrival_queue::arrived> pull();
  int unpull() {
    if (!arrived_.give_back()) return 0;
    --pulled_;
    return 1;
  }
  int advance(bool done);
  int reset();
  [[nodiscard]] lull_aggregator_statistics_t statistics() const;

 private:
  static std::vector<lull_aggregator*>& of_thread() {
    thread_local std::vector<lull_aggregator*> made;
    return made;
  }
  static std::size_t take(void* self, const batch& items);
  void step();
  void drain();
  void rest();
  [[nodiscard]] bool could_do_more() const;

  lull::fabric::world& world_;
  std::size_t item_bytes_;
  aggregate_options options_;
  std::size_t sender_bytes_;  // in front of each item where the channel does not tell who has sent it
  lull::detail::aggregation aggregation_;
  lull::detail::item_format items_;
  std::size_t wire_bytes_;  // of an item as it travels; of one of any size, all but itself
  lull::detail::cursor* const* cursors_;
  lull::aggregate::arrival_queue arrived_;
  bool acted_ = false;    // its program has pushed or pulled since advance()
  int refused_ = nobody;  // the PE for which the last push had no room
  bool done_ = false, over_ = false;
  std::uint64_t pushed_ = 0, pulled_ = 0;
};

lull_aggregator::lull_aggregator(lull::fabric::world& world, std::size_t item_bytes,
                                 const lull_aggregator_options_t& wanted)
    : world_(world),
      item_bytes_(item_bytes),
      options_(with_route(wanted, item_bytes == 0 ? 0 : item_bytes + sizeof(std::uint32_t))),
      sender_bytes_(options_.buffers == lull::aggregate_buffers::per_pe && options_.hops == 1 ? 0
                                                                                              : sizeof(std::uint32_t)),
      aggregation_(world, {.item_bytes = item_bytes == 0 ? 0 : item_bytes + sender_bytes_,
                           .plain = nullptr,
                           .addressed = nullptr,
                           .handler = this,
                           .options = &options_,
                           .answers = nullptr,
                           .has_direct = false,
                           .offer = &lull_aggregator::take}),
      items_(aggregation_.pipeline().items()),
      wire_bytes_(items_.head + sender_bytes_ + item_bytes),
      cursors_(aggregation_.pipeline().cursors()),
      arrived_(wanted.queue_bytes == 0 ? usual_queue : wanted.queue_bytes,
               item_bytes == 0 ? aggregation_.pipeline().largest_item() : item_bytes) {
  of_thread().push_back(this);
}

int lull_aggregator::push(const void* item, std::size_t bytes, int pe) {
  if (done_) return LULL_AGGREGATOR_IS_DONE;
  std::size_t travels = wire_bytes_;
  if (of_any_size()) {
    if (sender_bytes_ + bytes > aggregation_.pipeline().largest_item()) return LULL_AGGREGATOR_TOO_LARGE;
    travels += bytes;
  }
  lull::detail::cursor& at = *cursors_[pe];
  if (static_cast<std::size_t>(at.end - at.next) < travels && !aggregation_.try_turn_over(pe, travels)) {
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

std::optional<lull::aggregate::arrival_queue::arrived> lull_aggregator::pull() {
  auto one = arrived_.next();
  if (one) {
    acted_ = true;
    ++pulled_;
  }
  return one;
}

std::size_t lull_aggregator::take(void* self, const batch& items) {
  lull_aggregator& me = *static_cast<lull_aggregator*>(self);
  const lull::detail::item_format format = me.items_;  // copies: for all the compiler knows, add() changes the others
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

// What can be done without waiting.
void lull_aggregator::step() {
  if (over_) return;
  if (done_)
    over_ = aggregation_.try_finish();
  else
    aggregation_.advance();
}

// The same until there is nothing more, and all that stood in buffers has been sent, that of others included.
void lull_aggregator::drain() {
  if (!over_ && done_) over_ = aggregation_.try_finish();
  while (!over_ && arrived_.empty() && aggregation_.advance()) {
  }
}

bool lull_aggregator::could_do_more() const {
  if (over_) return false;
  const lull::aggregate::pipeline& through = aggregation_.pipeline();
  return through.could_do_more() || (done_ && aggregation_.can_go_on()) ||
         (refused_ != nobody && through.room(through.ways()[static_cast<std::size_t>(refused_)]));
}

// Nothing can be done here. Unless its program may do something by itself, this PE sleeps.
void lull_aggregator::rest() {
  bool busy = !done_ && refused_ == nobody;
  for (lull_aggregator* const one : of_thread()) busy |= std::exchange(one->acted_, false);
  if (busy) return world_.transfers().drive();
  for (lull_aggregator* const one : of_thread()) {
    const bool was_empty = one->arrived_.empty(), was_over = one->over_;
    one->drain();
    if (was_empty != one->arrived_.empty() || was_over != one->over_) return;
  }
  const std::int64_t deadline = lull::now_ns() + longest_sleep_ns;
  world_.wait().until({.what = lull::wait::operation::aggregate, .longest_sleep_ns = longest_sleep_ns}, [&] {
    return std::ranges::any_of(of_thread(), [](const lull_aggregator* one) { return one->could_do_more(); }) ||
           lull::now_ns() >= deadline;
  });
  step();
}

int lull_aggregator::advance(bool done) {
  arrived_.release();
  done_ |= done;
  step();
  if (!over_ && arrived_.empty()) rest();
  return over_ && arrived_.empty() ? 0 : 1;
}

int lull_aggregator::reset() {
  if (!over_ || !arrived_.empty()) return LULL_AGGREGATOR_NOT_OVER;
  done_ = over_ = false;
  return 0;
}

lull_aggregator_statistics_t lull_aggregator::statistics() const {
  const lull::aggregate_statistics now = aggregation_.statistics();
  const double counted = of_any_size() ? static_cast<double>(now.items) : static_cast<double>(pushed_);  // bytes there
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

lull_aggregator_t* lull_aggregator_new(size_t item_bytes, const lull_aggregator_options_t* options) {
  try {
    return std::make_unique<lull_aggregator>(lull::shmem::here("lull_aggregator_new"), item_bytes,
                                             options ? *options : lull_aggregator_options_t{})
        .release();
  } catch (const std::bad_alloc&) {
    std::fputs("lull: lull_aggregator_new: no room in the symmetric heap; raise SHMEM_SYMMETRIC_SIZE\n", stderr);
    errno = ENOMEM;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "lull: lull_aggregator_new: %s\n", wrong.what());
    errno = EINVAL;
  }
  return nullptr;
}

int lull_aggregator_push(lull_aggregator_t* a, const void* item, int pe) {
  if (!a || !item || !a->knows(pe) || a->of_any_size()) return LULL_AGGREGATOR_BAD_ARGUMENT;
  return a->push(item, a->item_bytes(), pe);
}

int lull_aggregator_epush(lull_aggregator_t* a, const void* item, size_t bytes, int pe) {
  if (!a || (!item && bytes != 0) || !a->knows(pe) || !a->of_any_size()) return LULL_AGGREGATOR_BAD_ARGUMENT;
  return a->push(item, bytes, pe);
}

int lull_aggregator_pull(lull_aggregator_t* a, void* item, int* from_pe) {
  if (!a || !item || a->of_any_size()) return LULL_AGGREGATOR_BAD_ARGUMENT;
  const auto one = a->pull();
  if (!one) return 0;
  std::memcpy(item, one->item.data(), one->item.size());
  if (from_pe) *from_pe = one->from;
  return 1;
}

void* lull_aggregator_apull(lull_aggregator_t* a, int* from_pe) {
  if (!a || a->of_any_size()) return nullptr;
  return lull_aggregator_epull(a, nullptr, from_pe);
}

void* lull_aggregator_epull(lull_aggregator_t* a, size_t* bytes, int* from_pe) {
  if (!a) return nullptr;
  const auto one = a->pull();
  if (!one) return nullptr;
  if (bytes) *bytes = one->item.size();
  if (from_pe) *from_pe = one->from;
  return one->item.data();
}

int lull_aggregator_unpull(lull_aggregator_t* a) { return a ? a->unpull() : LULL_AGGREGATOR_BAD_ARGUMENT; }

int lull_aggregator_advance(lull_aggregator_t* a, int done) {
  return a ? a->advance(done != 0) : LULL_AGGREGATOR_BAD_ARGUMENT;
}

int lull_aggregator_reset(lull_aggregator_t* a) { return a ? a->reset() : LULL_AGGREGATOR_BAD_ARGUMENT; }

int lull_aggregator_statistics(const lull_aggregator_t* a, lull_aggregator_statistics_t* now) {
  if (!a || !now) return LULL_AGGREGATOR_BAD_ARGUMENT;
  *now = a->statistics();
  return 0;
}

void lull_aggregator_free(lull_aggregator_t* a) { delete a; }  // NOLINT(cppcoreguidelines-owning-memory)

const char* lull_aggregator_strerror(int code) {
  switch (code) {
    case LULL_AGGREGATOR_BAD_ARGUMENT:
      return "a null pointer, no such PE, or a call for the other kind of items";
    case LULL_AGGREGATOR_TOO_LARGE:
      return "the item fits no buffer; raise LULL_AGGREGATE_BUFFER_BYTES";
    case LULL_AGGREGATOR_IS_DONE:
      return "this PE has said that it is done; push after lull_aggregator_reset()";
    case LULL_AGGREGATOR_NOT_OVER:
      return "the phase is not over; pull and advance until lull_aggregator_advance() returns 0";
    default:
      return code >= 0 ? "no error" : "no such code";
  }
}
