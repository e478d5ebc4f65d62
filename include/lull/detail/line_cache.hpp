// The cache of lull::table_reader.
#pragma once
#include <lull/aggregate_options.hpp>
#include <lull/detail/cpp_abi.hpp>
#include <lull/detail/items.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

constexpr int smallest_line = 8, largest_line = 1024;  // bytes

struct cache_sizes {
  std::size_t bytes, line;
};
LULL_API cache_sizes cache_sizes_of(const aggregate_options& options);  // std::invalid_argument
// How many collective calls of SHMEM_TEAM_WORLD this PE has entered. Lines are kept until it changes.
LULL_API const std::uint64_t* world_collectives();

// A direct-mapped cache of lines, with the gets that wait for a line in flight.
//
// States of an entry: empty → in_flight → valid, until its epoch ends. While words are fetched instead of lines, an
// entry is a shadow: it names the line that would be there, so that hits can be counted. An entry in flight stays so
// until its line arrives. Until then the memory of the line holds the first waiting gets; further ones are taken from a
// pool that all entries share.
class line_cache {
 public:
  enum class outcome : std::uint8_t {
    hit,         // the line is at `line`
    waits,       // fill() will deliver the word
    fetch_line,  // the caller fetches the line; then as `waits`
    fetch_word   // the caller fetches the word; the cache keeps nothing
  };
  struct found {
    outcome what;
    std::uint32_t entry;
    const std::byte* line;
  };

  // `break_even`: the share of misses at which fetching lines and fetching words cost the same.
  line_cache(std::size_t bytes, std::size_t line_bytes, double break_even)
      : line_bytes_(line_bytes), break_even_(break_even) {
    const std::size_t entries = std::min<std::size_t>(bytes / bytes_of_line(line_bytes), most_entries);
    entries_.resize(entries);
    lines_.resize(entries * line_bytes);
    waiters_.resize(entries * waiters_of_line);
    for (std::uint32_t i = 0; i < waiters_.size(); ++i) waiters_[i].next = i + 1 < waiters_.size() ? i + 1 : none;
    if (waiters_.empty()) free_ = none;
  }

  // The memory of a line, with its entry and its share of the pool.
  static constexpr std::size_t bytes_of_line(std::size_t line_bytes) {
    return line_bytes + sizeof(entry) + waiters_of_line * sizeof(waiter);
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t bytes() const { return entries_.size() * bytes_of_line(line_bytes_); }
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  [[nodiscard]] std::uint64_t misses() const { return misses_; }
  [[nodiscard]] bool fetches_lines() const { return fetches_lines_; }

  // For the get of value `index`, which wants word `word` of `line`. Lines of earlier epochs do not count.
  found look_up(std::uint64_t line, std::uint64_t epoch, std::uint32_t index, std::uint32_t word) {
    const auto number = static_cast<std::uint32_t>(((line * spread) >> 32U) * entries_.size() >> 32U);
    entry& at = entries_[number];
    const bool same = at.line == line && at.epoch == epoch && at.now != state::empty;
    count_outcome(same);
    if (same && at.now == state::valid) {
      ++hits_;
      return {outcome::hit, number, lines_.data() + number * line_bytes_};
    }
    if (same && at.now == state::in_flight && add_waiter(number, index, word)) {
      ++hits_;
      return {outcome::waits, number, nullptr};
    }
    ++misses_;
    if (at.now == state::in_flight) return {outcome::fetch_word, number, nullptr};
    at.line = line;
    at.epoch = epoch;
    if (!fetches_lines_ || !add_waiter(number, index, word)) {
      at.now = state::shadow;
      return {outcome::fetch_word, number, nullptr};
    }
    at.now = state::in_flight;
    return {outcome::fetch_line, number, nullptr};
  }

  // The line of an entry in flight has arrived: calls deliver(index, word) for each waiting get.
  template <class Deliver>
  void fill(std::uint32_t number, byte_span arrived, Deliver&& deliver) {
    entry& at = entries_[number];
    std::byte* const line = lines_.data() + number * line_bytes_;
    for (std::size_t i = 0; i < at.inline_waiters; ++i) {
      const auto one = read<inline_waiter>(line + i * sizeof(inline_waiter));
      deliver(one.index, one.word);
    }
    at.inline_waiters = 0;
    std::memcpy(line, arrived.data(), arrived.size());
    at.now = state::valid;
    while (at.waiting != none) {
      waiter& one = waiters_[at.waiting];
      deliver(one.index, one.word);
      at.waiting = std::exchange(one.next, std::exchange(free_, at.waiting));
    }
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::size_t waiters_of_line = 2;  // in the pool; a get that finds none free fetches its word
  static constexpr std::size_t most_entries = std::size_t{1} << 30U;
  static constexpr std::uint64_t spread = 0x9E3779B97F4A7C15ULL;
  static constexpr unsigned window = 2048;  // gets
  static constexpr double hysteresis = 1.25;

  enum class state : std::uint8_t { empty, shadow, in_flight, valid };
  struct entry {
    std::uint64_t line = 0, epoch = 0;
    std::uint32_t waiting = none;      // in the pool: the latest
    std::uint16_t inline_waiters = 0;  // in the memory of the line
    state now = state::empty;
  };
  struct inline_waiter {
    std::uint32_t index, word;
  };
  struct waiter {
    std::uint32_t index, word, next;
  };

  bool add_waiter(std::uint32_t number, std::uint32_t index, std::uint32_t word) {
    entry& at = entries_[number];
    if ((at.inline_waiters + 1) * sizeof(inline_waiter) <= line_bytes_) {
      write(lines_.data() + number * line_bytes_ + at.inline_waiters++ * sizeof(inline_waiter),
            inline_waiter{index, word});
      return true;
    }
    if (free_ == none) return false;
    const std::uint32_t taken = free_;
    free_ = waiters_[taken].next;
    waiters_[taken] = {index, word, std::exchange(at.waiting, taken)};
    return true;
  }

  void count_outcome(bool would_hit) {
    if (!would_hit) ++missed_;
    if (++seen_ != window) return;
    const double share = static_cast<double>(missed_) / window;
    fetches_lines_ = fetches_lines_ ? share <= break_even_ * hysteresis : share < break_even_ / hysteresis;
    seen_ = missed_ = 0;
  }

  std::size_t line_bytes_;
  double break_even_;
  std::vector<entry> entries_;
  std::vector<std::byte> lines_;  // by entry
  std::vector<waiter> waiters_;
  std::uint32_t free_ = 0;
  bool fetches_lines_ = true;
  unsigned seen_ = 0, missed_ = 0;  // of the window
  std::uint64_t hits_ = 0, misses_ = 0;
};

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
