// Compares two waiting methods within one run, because separate runs differ by more than the effect. Time is divided
// into epochs of equal length; each pair of epochs has one for each method, in random order, and all ranks use the
// same.
//
// The clock is that of the processors (base/ticks.hpp), so ranks of one machine switch at the same moment without
// communication. A rank switches at its first call in an epoch. It counts calls, time and CPU time from there to its
// first call in the next epoch; an epoch without a call in the next one, or in which a long wait has begun, does not
// count.
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
  // Sums over the epochs of one kind.
  struct sums {
    std::uint64_t epochs = 0, calls = 0;
    double ticks = 0;
    std::int64_t cpu_ns = 0;
    std::vector<float> calls_per_tick;  // of each epoch
  };

  // An epoch is 2^length_log2 ticks long, so that all ranks find the same length without communication.
  explicit epochs(unsigned length_log2) : length_log2_(length_log2) {}

  // Whether the policy applies: randomly in one of two consecutive epochs. All ranks agree: it is a hash of their
  // number.
  [[nodiscard]] static bool policy_in(std::uint64_t epoch) {
    const std::uint64_t pair = epoch >> 1U;
    return ((spread(pair) >> 40U ^ epoch) & 1U) != 0;
  }

  // Called at the begin of a call. Returns true if it is in another epoch than the previous one; then call began().
  [[nodiscard]] bool another_epoch(std::uint64_t now_ticks) {
    ++calls_;
    return now_ticks >> length_log2_ != epoch_;
  }
  // Counts the previous epoch, and returns whether the policy applies in the new one.
  bool began(const moment& now) {
    const std::uint64_t epoch = now.ticks >> length_log2_;
    if (epoch == epoch_ + 1 && seen_ > 2) {  // skips the program's start
      sums& kind = of_[policy_in(epoch_) ? 1 : 0];
      const auto took = static_cast<double>(now.ticks - begin_.ticks);
      const std::uint64_t calls = calls_ - 1;  // this one belongs to the new epoch
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
