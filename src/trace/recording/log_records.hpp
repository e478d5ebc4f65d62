// The records of a thread, call by call, whether they are in a raw file (raw.hpp) or folded (folding/folded_file.hpp).
// Memory does not depend on how many they are.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trace/folding/expander.hpp"
#include "trace/recording/raw_folder.hpp"

namespace lull::trace {

inline constexpr const char* folded_extension = ".folded";

class log_records {
 public:
  // A file with records, or with folded ones, beside which the file with the records that follow may be. Throws
  // lull::error if it cannot be read.
  explicit log_records(const std::filesystem::path& path);
  log_records(log_records&&) noexcept;
  log_records& operator=(log_records&&) = delete;
  ~log_records();

  // None: it is no such file, or is damaged.
  [[nodiscard]] bool is_valid() const { return valid_; }
  [[nodiscard]] std::uint64_t thread() const { return thread_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  // The next call with what adds to it; empty at the end. Valid until the next call of this.
  [[nodiscard]] std::span<const record> next_call();
  // Whether the records ended before they should.
  [[nodiscard]] bool is_damaged() const { return expander_ && expander_->is_damaged(); }

 private:
  class mapping;
  void open_raw(const std::filesystem::path& path);
  void open_folded(const std::filesystem::path& path);
  [[nodiscard]] bool fetch();  // more records into the buffer; false: there are none

  bool valid_ = false;
  std::uint64_t thread_ = 0, lost_ = 0, count_ = 0;
  std::optional<mapped_log> raw_;    // of a folded log: its window
  std::unique_ptr<mapping> folded_;  // the files of a folded log
  std::optional<folding::expander> expander_;
  std::span<const record> left_;  // of what is mapped or in the buffer
  std::vector<record> buffer_;
  std::vector<record> window_;  // of a folded log, what is not folded yet
};

}  // namespace lull::trace
