// How many visits to regions a process has begun and ended, in a file of the record's folder that outlives it.
//
//   FOLDER/visits-HOST-PID.count   two native 64-bit integers
//
// A process that is killed, or leaves without exit handlers, writes no account of its regions; the counts say that one is
// missing. They are a shared mapping: a store each, which the kernel keeps whatever becomes of the process. The file is there
// from the first visit that no account holds until an account is written. Where it cannot be made, nothing is shown.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

namespace lull::regions {

class visit_counts {
 public:
  explicit visit_counts(std::string folder) : folder_(std::move(folder)) {}
  visit_counts(const visit_counts&) = delete;
  visit_counts& operator=(const visit_counts&) = delete;
  ~visit_counts() { unmap(); }

  // Not thread-safe: the caller holds the lock of its visits.
  void begun() {
    ++begun_;
    show();
  }
  void ended() {
    ++ended_;
    show();
  }
  [[nodiscard]] std::int64_t all_begun() const { return begun_; }
  [[nodiscard]] std::int64_t all_ended() const { return ended_; }
  // An account holds them all.
  void remove();

 private:
  void show() {
    if (shown_ == nullptr && !failed_) map();
    if (shown_ == nullptr) return;
    shown_[0] = begun_;
    shown_[1] = ended_;
  }
  void map();
  void unmap();

  std::string folder_, path_;
  bool failed_ = false;
  volatile std::int64_t* shown_ = nullptr;
  std::int64_t begun_ = 0, ended_ = 0;
};

}  // namespace lull::regions
