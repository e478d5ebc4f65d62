#include "aggregate/threads/thread_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "wait/relax.hpp"

namespace lull::aggregate {
namespace {

constexpr std::size_t most_parts = 64;
constexpr std::size_t enough = 8192;              // chosen; bytes of a block: rather fewer than smaller
constexpr std::int64_t idle_timeout_ns = 20'000;  // with a thread that has not come to its own part

std::size_t parts_for(thread_exchange::handling how, std::size_t cores) {
  return how == thread_exchange::handling::by_parts ? std::min(std::bit_ceil(cores), most_parts) : 1;
}

// Adds to a counter with one writer.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

thread_exchange::thread_exchange(fabric::world& world, const item_format& items, const delivery& to, handling how,
                                 std::size_t cores_of_pe, const model::thread_block_sizes& most, chunk_budget& memory)
    : world_(world),
      items_(items),
      to_(to),
      how_(how),
      parts_(parts_for(how, std::max<std::size_t>(1, cores_of_pe))),
      most_(most),
      memory_(memory) {
  for (std::size_t i = 0; i < parts_; ++i) locks_.push_back(std::make_unique<part>(world));
}

thread_exchange::~thread_exchange() {
  while (owner_) owner_ = std::move(owner_->next_);  // one by one: nested destructors would recurse
}

thread_exchange::all_parts::all_parts(thread_exchange& of) : of_(of) {
  for (auto& each : of.locks_) each->holder.lock();
}
thread_exchange::all_parts::~all_parts() {
  for (auto& each : of_.locks_) each->holder.unlock();
}

thread_exchange::rings& thread_exchange::make_rings() {
  auto made = std::make_unique<rings>(parts_);
  made->number_ = owner_ ? owner_->number_ + 1 : 0;
  make_stages(*made);
  made->next_ = std::move(owner_);
  owner_ = std::move(made);
  newest_.store(owner_.get(), std::memory_order_release);
  return *owner_;
}

void thread_exchange::come(rings& mine) {
  pushing_.fetch_add(1, std::memory_order_relaxed);
  const auto bytes_of_each = [&](std::size_t most, std::size_t blocks) {
    return memory_.bytes_of_each(most, 2 * blocks);  // the other channels take as much again
  };
  if (how_ == handling::at_once) {
    mine.block_bytes_ = bytes_of_each(most_.own_bytes, 1);
    return;
  }
  const bool short_of_memory = bytes_of_each(most_.handed_over_bytes, parts_ * most_blocks) < enough;
  mine.depth_ = short_of_memory ? most_blocks / 2 : most_blocks;
  mine.block_bytes_ = bytes_of_each(most_.handed_over_bytes, parts_ * mine.depth_);
}

void thread_exchange::go(rings& mine) {
  give(mine);
  pushing_.fetch_sub(1, std::memory_order_release);  // after its last block
  if (how_ == handling::at_once) return;
  leave_others_to_theirs(mine);
  for (std::size_t i = 0; i < parts_; ++i) {
    const std::size_t part = (mine.number_ + i) % parts_;  // its own first
    handle_until(mine, part, [&] { return empty(mine.of_part_[part]); });
  }
}

void thread_exchange::give_memory(rings& mine) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < parts_; ++i) {
    mine.of_part_[i].at = {};
    for (block& each : mine.of_part_[i].blocks) {
      bytes += each.memory.size();
      each.memory = {};
    }
  }
  memory_.give(bytes);
}

bool thread_exchange::make_room(rings& mine, std::size_t part, std::size_t item_bytes) {
  ring& r = mine.of_part_[part];
  commit(mine, r);
  if (block& open = open_block(mine, r);
      !r.stage.empty() && r.at.next && open.memory.size() - open.bytes >= items_.stride) {
    place_cursor(r, open);
    return false;
  }
  publish(mine, r);
  if (how_ != handling::at_once) {
    tend(mine);
    if (!room(mine, r)) handle_until(mine, part, [&] { return room(mine, r); });
  }
  open(mine, r, item_bytes);
  return true;
}

void thread_exchange::give(rings& mine) {
  for (std::size_t i = 0; i < parts_; ++i) publish(mine, mine.of_part_[i]);
}

bool thread_exchange::tend(rings& mine) {
  if (how_ == handling::at_once) return false;
  const std::size_t shares = std::clamp<std::size_t>(static_cast<std::size_t>(memory_.producers()), 1, parts_);
  bool any = false;
  for (std::size_t i = mine.number_ % shares; i < parts_; i += shares) any |= try_handle(i);
  return any;
}

void thread_exchange::set_oversubscribed(bool oversubscribed) {
  oversubscribed_.store(oversubscribed, std::memory_order_relaxed);
  for (auto& each : locks_) each->holder.set_oversubscribed(oversubscribed);
}

// A part's stage has at least some lines and some items, or there is none; it is at most as large as was tested.
void thread_exchange::make_stages(rings& mine) {
  if (how_ == handling::at_once || items_.stride == 0) return;
  constexpr std::size_t least = 4 * line, most = 4096;
  const std::size_t usual = std::clamp(most_.stages_bytes / parts_, least, most);
  const std::size_t bytes = std::bit_floor(memory_.bytes_of_each(usual, 8 * parts_));  // the blocks take the rest
  if (bytes < std::max(least, 4 * items_.stride) || !memory_.try_take(parts_ * bytes)) return;
  mine.stages_.resize(parts_ * bytes);
  for (std::size_t i = 0; i < parts_; ++i)
    mine.of_part_[i].stage = std::span(mine.stages_).subspan(i * bytes, bytes / items_.stride * items_.stride);
}

void thread_exchange::open(rings& mine, ring& r, std::size_t item_bytes) {
  block& opened = open_block(mine, r);
  lines& memory = opened.memory;
  const std::size_t unit = std::max<std::size_t>(1, items_.stride);
  const std::size_t least = items_.stride == 0 ? item_bytes : items_.stride;
  for (std::size_t wanted = std::max(mine.block_bytes_ / unit * unit, least); wanted > memory.size();
       wanted = std::max(wanted / 2 / unit * unit, least)) {
    const std::size_t more = wanted - memory.size();
    if (!memory_.try_take(more)) {
      if (wanted != least) continue;
      memory_.take(more);  // a thread cannot proceed without it
    }
    memory.resize(wanted);
  }
  opened.bytes = 0;
  place_cursor(r, opened);
}

// Adds the items written since the last commit to the open block, if there is one.
void thread_exchange::commit(const rings& mine, ring& r) {
  if (!r.at.next) return;
  block& open = open_block(mine, r);
  if (r.stage.empty()) {
    open.bytes = static_cast<std::size_t>(r.at.next - open.memory.data());
    return;
  }
  const auto staged = static_cast<std::size_t>(r.at.next - r.stage.data());
  std::memcpy(open.memory.data() + open.bytes, r.stage.data(), staged);
  open.bytes += staged;
  r.at.next = r.stage.data();
}

// Points the cursor at the place of the next items of the open block.
void thread_exchange::place_cursor(ring& r, block& open) {
  const std::size_t room = open.memory.size() - open.bytes;
  const std::span<std::byte> free =
      r.stage.empty() ? std::span(open.memory).subspan(open.bytes) : r.stage.first(std::min(r.stage.size(), room));
  r.at = {free.data(), free.data() + free.size()};
}

void thread_exchange::publish(rings& mine, ring& r) {
  commit(mine, r);
  block& filled = open_block(mine, r);
  if (!r.at.next || filled.bytes == 0) return;
  add(mine.items_, items_.count(filled.bytes));
  add(mine.blocks_, 1);
  add(mine.bytes_, filled.bytes);
  add(mine.room_, filled.memory.size());
  if (how_ == handling::at_once) {
    apply(filled);
    r.at.next = filled.memory.data();
  } else {
    r.published.store(r.published.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    r.at = {};
  }
}

void thread_exchange::apply(const block& items) {
  to_.apply(to_.handler, {items.memory.data(), items_.count(items.bytes), world_.me().index()});
}

bool thread_exchange::anything_for(std::size_t part) const {
  for (const rings* each = newest_.load(std::memory_order_acquire); each; each = each->next_.get())
    if (!empty(each->of_part_[part])) return true;
  return false;
}

bool thread_exchange::handle(std::size_t part) {
  bool any = false;
  for (rings* each = newest_.load(std::memory_order_acquire); each; each = each->next_.get()) {
    ring& r = each->of_part_[part];
    const std::uint64_t published = r.published.load(std::memory_order_acquire);
    for (std::uint64_t number = r.consumed.load(std::memory_order_relaxed); number != published; any = true) {
      apply(r.blocks[number % each->depth_]);
      r.consumed.store(++number, std::memory_order_release);
    }
  }
  return any;
}

bool thread_exchange::try_handle(std::size_t part) {
  if (!anything_for(part)) return false;
  const std::unique_lock hold(locks_[part]->holder, std::try_to_lock);
  return hold && handle(part);
}

// Handles the thread's own parts until its items are handled and the other threads have ended too. Gives up after an
// interval (patience_ns) without anything to handle.
void thread_exchange::leave_others_to_theirs(rings& mine) {
  const auto done = [&] {
    if (pushing_.load(std::memory_order_acquire) != 0) return false;
    for (std::size_t i = 0; i < parts_; ++i)
      if (!empty(mine.of_part_[i])) return false;
    return true;
  };
  if (oversubscribed_.load(std::memory_order_relaxed)) return;
  for (std::int64_t begin = now_ns(); now_ns() - begin < idle_timeout_ns;) {
    if (tend(mine))
      begin = now_ns();
    else if (done())
      return;
    else
      wait::plain_pause();
  }
}

bool thread_exchange::help(const rings& mine) {
  bool any = false;
  for (std::size_t i = 0; i < parts_; ++i) any |= try_handle((mine.number_ + i) % parts_);  // its own first
  return any;
}

// Handles the part until ready() holds.
template <class Ready>
void thread_exchange::handle_until(const rings& mine, std::size_t part, Ready&& ready) {
  while (!ready()) {
    if (help(mine)) continue;
    if (!locks_[part]->holder.lock_unless(ready)) return;
    const std::lock_guard hold(locks_[part]->holder, std::adopt_lock);
    handle(part);
  }
}

hop_counts thread_exchange::counts() const {
  hop_counts all;
  for (const rings* each = newest_.load(std::memory_order_acquire); each; each = each->next_.get()) {
    all.items += each->items_.load(std::memory_order_relaxed);
    all.buffers += each->blocks_.load(std::memory_order_relaxed);
    all.filled += each->bytes_.load(std::memory_order_relaxed);
    all.room += each->room_.load(std::memory_order_relaxed);
  }
  all.bytes = all.filled;
  return all;
}

}  // namespace lull::aggregate
