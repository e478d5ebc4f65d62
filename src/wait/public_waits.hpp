// What of this process's memory its sleepers wait for, in one word that others may read over the network: who has
// written there by himself looks at it, and wakes the process only when he has written what is awaited.
//
// No wake-up is missed, by the same rule as with a doorbell: the sleeper publishes, fences, looks at the data again and
// only then sleeps; the writer writes, flushes, and reads the word. One of the two always sees the other.
//
// The word is a range of units of the memory, and covers all that any sleeper of the process waits for.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

namespace lull::wait {

// As it travels; 0: nobody sleeps.
class awaited_range {
 public:
  static constexpr std::size_t unit_bytes = 256;

  constexpr awaited_range() = default;
  constexpr explicit awaited_range(std::uint64_t word) : word_(word) {}
  constexpr awaited_range(std::size_t offset, std::size_t bytes)
      : word_(bytes == 0 ? 0 : (unit(offset) + 1) << 32U | unit(offset + bytes - 1)) {}

  [[nodiscard]] constexpr std::uint64_t word() const { return word_; }
  [[nodiscard]] constexpr bool none() const { return word_ == 0; }
  [[nodiscard]] constexpr bool overlaps(const awaited_range& other) const {
    return !none() && !other.none() && first() <= other.last() && other.first() <= last();
  }
  constexpr awaited_range& operator+=(const awaited_range& other) {
    if (none()) return *this = other;
    if (!other.none()) word_ = (std::min(first(), other.first()) + 1) << 32U | std::max(last(), other.last());
    return *this;
  }
  friend constexpr bool operator==(const awaited_range&, const awaited_range&) = default;

 private:
  // What lies beyond some terabytes is one unit: more is woken than need be, never less.
  static constexpr std::uint64_t unit(std::size_t offset) {
    return std::min<std::uint64_t>(offset / unit_bytes, std::numeric_limits<std::uint32_t>::max() - 1);
  }
  [[nodiscard]] constexpr std::uint64_t first() const { return (word_ >> 32U) - 1; }
  [[nodiscard]] constexpr std::uint64_t last() const { return word_ & std::numeric_limits<std::uint32_t>::max(); }

  std::uint64_t word_ = 0;
};

class public_waits {
 public:
  // `word`, aligned, lies where others read it; `memory` is what they write.
  public_waits(std::uint64_t& word, std::span<const std::byte> memory) : word_(word), memory_(memory) {}

  // One that is about to sleep until something in `where` changes, as long as this lives; no `where`: anything. Nothing
  // is published with `in` null, nor where nobody can write.
  class sleeper {
   public:
    sleeper(public_waits* in, std::span<const std::byte> where) : in_(in) {
      if (!in_) return;
      range_ = in_->of(where);
      if (range_.none())
        in_ = nullptr;
      else
        in_->publish(range_);
    }
    ~sleeper() {
      if (in_) in_->withdraw(range_);
    }
    sleeper(const sleeper&) = delete;
    sleeper& operator=(const sleeper&) = delete;

   private:
    public_waits* in_;
    awaited_range range_;
  };

 private:
  [[nodiscard]] awaited_range of(std::span<const std::byte> where) const {
    if (where.empty()) return {0, memory_.size()};
    const auto begin = static_cast<std::size_t>(where.data() - memory_.data());
    if (begin >= memory_.size()) return {};
    return {begin, std::min(where.size(), memory_.size() - begin)};
  }
  void publish(const awaited_range& range) {
    const std::lock_guard hold(lock_);
    all_.push_back(range);
    tell();
    std::atomic_thread_fence(std::memory_order_seq_cst);  // before the sleeper looks again
  }
  void withdraw(const awaited_range& range) {
    const std::lock_guard hold(lock_);
    all_.erase(std::ranges::find(all_, range));
    tell();
  }
  void tell() {
    awaited_range sum;
    for (const awaited_range& one : all_) sum += one;
    std::atomic_ref(word_).store(sum.word(), std::memory_order_seq_cst);
  }

  std::uint64_t& word_;
  std::span<const std::byte> memory_;
  std::mutex lock_;
  std::vector<awaited_range> all_;
};

}  // namespace lull::wait
