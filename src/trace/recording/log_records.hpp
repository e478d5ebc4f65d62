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

// A folded log, wherever it lies.
struct folded_log {
  folding::expander::pieces structure = {}, times = {};
  std::uint64_t records = 0;
  folding::expander::handles given_up = {};
};

// A log that is no file of its own.
class stored_log {
 public:
  virtual ~stored_log() = default;
  // Its bytes last as long as this, except that its structure is written to `structure`.
  [[nodiscard]] virtual folded_log open(folding::bytes& structure) const = 0;
};

class log_records {
 public:
  explicit log_records(const raw_log& log);
  // A file with records, or with folded ones, beside which the file with the records that follow may be. Throws
  // lull::error if it cannot be read.
  explicit log_records(const std::filesystem::path& path);
  log_records(log_records&&) noexcept;
  log_records& operator=(log_records&&) noexcept;
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
  // The bytes of a log that is folded as a whole, before anything was read; null: of another.
  [[nodiscard]] const folded_log* whole_folded() const { return whole_ ? &*whole_ : nullptr; }

 private:
  class mapping;
  void open_raw(const std::filesystem::path& path);
  void open_folded(const std::filesystem::path& path);
  [[nodiscard]] bool fetch();  // more records into the buffer; false: there are none

  bool valid_ = false;
  std::uint64_t thread_ = 0, lost_ = 0, count_ = 0;
  std::optional<mapped_log> raw_;    // of a folded log: its window
  std::unique_ptr<mapping> folded_;  // the files of a folded log
  std::shared_ptr<const stored_log> stored_;
  folding::bytes structure_;  // of a stored log
  std::optional<folded_log> whole_;
  std::optional<folding::expander> expander_;
  std::span<const record> left_;  // of what is mapped or in the buffer
  std::vector<record> buffer_;
  std::vector<record> window_;  // of a folded log, what is not folded yet
};

}  // namespace lull::trace
