// The folded form of a log, also of one that was recorded as raw records, or whose process was killed.
#pragma once
#include <memory>

#include "trace/recording/log_records.hpp"

namespace lull::trace::merging {

class whole_log {
 public:
  // `has_several`: whether its process has several logs, between which requests pass. Throws lull::error.
  whole_log(const raw_log& log, bool has_several);

  [[nodiscard]] folding::bytes structure() const;  // all of it
  [[nodiscard]] const folding::expander::pieces& times() const { return found_.times; }
  [[nodiscard]] std::uint64_t records() const { return found_.records; }
  [[nodiscard]] const folding::expander::handles& given_up() const { return found_.given_up; }
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }  // not all records could be read

 private:
  void fold(log_records& from, bool has_several);

  std::unique_ptr<log_records> log_;  // of one that was folded: it maps the file
  folding::bytes structure_, times_;  // of another
  folded_log found_;
  bool is_damaged_ = false;
};

}  // namespace lull::trace::merging
