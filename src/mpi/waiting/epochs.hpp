// Two ways of waiting compared within one run, for separate runs differ by more than what is to be seen. Time is cut into
// epochs of equal length; of each two one is for each way, in an order by chance, and all ranks wait so.
//
// The clock is that of the processors (base/ticks.hpp): ranks of one machine change at the same moment, without a word
// between them. A rank changes at its first call in an epoch. From there to its first call in the next epoch it counts
// calls, time and CPU time; an epoch without such a next one, or in which a long wait has begun, does not count.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/hash.hpp"

namespace lull::mpi {

class epochs {
 public:
  struct moment {
    std::uint64_t ticks;
    std::int64_t cpu_ns;  // of the process
  };
  // Of the epochs of one kind.
  struct sums {
    std::uint64_t epochs = 0, calls = 0;
    double ticks = 0;
    std::int64_t cpu_ns = 0;
    std::vector<float> calls_per_tick;  // of each
  };

  // An epoch is 2^length_log2 ticks long: then all ranks find the same length without a word between them.
  explicit epochs(unsigned length_log2) : length_log2_(length_log2) {}

  // Of two that follow each other one, by chance, which all ranks share: a hash of their number.
  [[nodiscard]] static bool policy_in(std::uint64_t epoch) {
    const std::uint64_t pair = epoch >> 1U;
    return ((spread(pair) >> 40U ^ epoch) & 1U) != 0;
  }

  // A call begins. True: in another epoch than the one before; then began() is to be called.
  [[nodiscard]] bool another_epoch(std::uint64_t now_ticks) {
    ++calls_;
    return now_ticks >> length_log2_ != epoch_;
  }
  // Counts the epoch that is over, and says whether the policy is used in the new one.
  bool began(const moment& now) {
    const std::uint64_t epoch = now.ticks >> length_log2_;
    if (epoch == epoch_ + 1 && seen_ > 2) {  // the first ones are the program's start
      sums& kind = of_[policy_in(epoch_) ? 1 : 0];
      const auto took = static_cast<double>(now.ticks - begin_.ticks);
      const std::uint64_t calls = calls_ - 1;  // this one is the new epoch's
      ++kind.epochs;
      kind.calls += calls;
      kind.ticks += took;
      kind.cpu_ns += now.cpu_ns - begin_.cpu_ns;
      kind.calls_per_tick.push_back(static_cast<float>(static_cast<double>(calls) / took));
    }
    ++seen_;
    epoch_ = epoch;
    begin_ = now;
    calls_ = 1;
    return policy_in(epoch);
  }

  [[nodiscard]] const sums& with_policy() const { return of_[1]; }
  [[nodiscard]] const sums& without() const { return of_[0]; }

 private:
  unsigned length_log2_;
  std::uint64_t epoch_ = 0, seen_ = 0, calls_ = 0;
  moment begin_{};
  std::array<sums, 2> of_;
};

}  // namespace lull::mpi
