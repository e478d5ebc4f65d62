// How many visits to regions a process has begun and ended, in a file of the record's folder that outlives it.
//
//   FOLDER/visits-HOST-PID.count   two native 64-bit integers
//
// A process that is killed, or leaves without exit handlers, writes no account of its regions; the counts say that one is
// missing. They are a shared mapping: a store each, which the kernel keeps whatever becomes of the process. The file goes when
// the account is written at exit. Where it cannot be made, nothing is counted.
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace lull::regions {

class visit_counts {
 public:
  explicit visit_counts(const std::string& folder);
  visit_counts(const visit_counts&) = delete;
  visit_counts& operator=(const visit_counts&) = delete;
  ~visit_counts();

  // Not thread-safe: the caller holds the lock of its visits.
  void begun() { ++begun_, store(0, begun_); }
  void ended() { ++ended_, store(1, ended_); }
  [[nodiscard]] std::int64_t all_begun() const { return begun_; }
  [[nodiscard]] std::int64_t all_ended() const { return ended_; }
  // The account is complete.
  void remove() const;

 private:
  void store(std::size_t place, std::int64_t value) const {
    if (shown_ != nullptr) shown_[place] = value;
  }

  std::string path_;
  volatile std::int64_t* shown_ = nullptr;
  std::int64_t begun_ = 0, ended_ = 0;
};

}  // namespace lull::regions
