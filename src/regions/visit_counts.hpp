// The numbers of visits to regions that a process has begun and ended, in a file that outlives the process.
//
//   FOLDER/visits-HOST-PID.count   two native 64-bit integers
//
// A process that is killed, or ends without exit handlers, writes no account of its regions; these counts show that one
// is missing. The file is mapped shared, so each count costs one store, and the kernel keeps it however the process
// ends. The file exists from the first visit that is in no account until an account is written. If it cannot be made,
// there are no counts.
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

  // Not thread-safe: the caller holds its lock.
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
  // To be called when an account has all visits.
  void remove();

 private:
  void show() {
    if (shown_ == nullptr && !failed_) map();
    if (shown_ == nullptr) return;
    shown_[0] = begun_;  // plain: read only after the process has ended, when the kernel shows both stores
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
