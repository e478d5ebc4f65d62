// One word, readable by RDMA, that says which part of memory this process's sleepers watch. A process that has written
// by RDMA reads the word, and wakes this process only if it has written to that part.
//
// No wake-up is missed, as with a doorbell. The sleeper publishes, executes a fence, tests its condition again, and
// then sleeps; the writer writes, flushes, and reads the word. At least one of the two sees the other.
//
// The word is a range of units of the memory that covers everything for which a sleeper of the process waits.
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

// The word's value; 0: no thread sleeps.
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
  // Beyond some terabytes, all memory is one unit: writes there may wake too many sleepers, but never too few.
  static constexpr std::uint64_t unit(std::size_t offset) {
    return std::min<std::uint64_t>(offset / unit_bytes, std::numeric_limits<std::uint32_t>::max() - 1);
  }
  [[nodiscard]] constexpr std::uint64_t first() const { return (word_ >> 32U) - 1; }
  [[nodiscard]] constexpr std::uint64_t last() const { return word_ & std::numeric_limits<std::uint32_t>::max(); }

  std::uint64_t word_ = 0;
};

class public_waits {
 public:
  // Other processes read `word`, which is aligned, and write `memory`.
  public_waits(std::uint64_t& word, std::span<const std::byte> memory) : word_(word), memory_(memory) {}

  // Publishes, during its lifetime, a sleep until something in `where` changes; an empty `where` means any memory.
  // Publishes nothing if `in` is null, or if `where` is not in the memory that others write.
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
    std::atomic_thread_fence(std::memory_order_seq_cst);  // before the sleeper tests its condition again
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
