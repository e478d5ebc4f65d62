// The cost of waits by operation and size. Any number of threads may count at once; copies are plain data.
//
// Totals are always kept. The table is kept under LULL_STATS only: it also counts operations that did not wait, and
// measures the CPU time of each wait.
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "wait/awaited.hpp"

namespace lull::wait {

struct wait_counts {
  std::uint64_t operations = 0;  // only in the table, as bytes and ns_cpu
  std::uint64_t bytes = 0;
  std::uint64_t waits = 0;  // whose condition did not hold at once
  std::uint64_t sleeps = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t missed = 0;  // time-outs whose condition held already: missed wake-ups
  std::int64_t ns_waited = 0;
  std::int64_t ns_asleep = 0;
  std::int64_t ns_cpu = 0;  // of the waiting thread, during waits

  wait_counts& operator+=(const wait_counts& other);
};

// Classes of sizes are powers of two. Class 0 is for operations without a size, class 1 for 1 and 2 bytes, and class k
// for 2^(k-1) < bytes <= 2^k, where k > 1.
constexpr std::size_t size_classes = 34;
[[nodiscard]] constexpr std::size_t size_class_of(std::size_t bytes) {
  if (bytes == 0) return 0;
  const auto exponent = static_cast<std::size_t>(std::bit_width(bytes - 1));
  return exponent == 0 ? 1 : exponent < size_classes ? exponent : size_classes - 1;
}
[[nodiscard]] constexpr std::size_t largest_of_class(std::size_t size_class) {
  return size_class == 0 ? 0 : std::size_t{1} << size_class;
}

struct wait_table {
  std::array<std::array<wait_counts, size_classes>, operation_names.size()> rows{};
  std::uint64_t frequency_changes = 0;
  std::int64_t ns_changing_frequency = 0;
  std::int64_t ns_progress_cpu = 0;
};

class wait_statistics {
 public:
  explicit wait_statistics(bool detailed);

  [[nodiscard]] bool has_table() const { return table_ != nullptr; }
  [[nodiscard]] bool detailed() const { return counting_.load(std::memory_order_relaxed); }
  void keep_table(bool on) { counting_.store(on && table_, std::memory_order_relaxed); }  // pauses or resumes counting
  void clear_table();
  void operation_done(operation what, std::size_t bytes);            // call it only when detailed()
  void waited(const awaited& what, const wait_counts& of_this_one);  // counts one wait

  [[nodiscard]] wait_counts totals() const { return totals_.copy(); }
  [[nodiscard]] wait_table table() const;  // all 0 without a table

 private:
  // The counters are independent: a copy taken during counting may include some of the concurrent counts and not
  // others.
  struct counters {
    std::array<std::atomic<std::uint64_t>, 9> of{};
    void add(const wait_counts& counts);
    void clear();
    [[nodiscard]] wait_counts copy() const;
  };
  using counter_table = std::array<std::array<counters, size_classes>, operation_names.size()>;

  counters totals_;
  std::unique_ptr<counter_table> table_;
  std::atomic<bool> counting_;
};

}  // namespace lull::wait
