// Reads what the processes of a run have left (raw.hpp): whatever became of them, what they wrote is here.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recording/raw.hpp"

namespace lull::trace {

struct clock_pair {
  std::uint64_t ticks;
  std::int64_t monotonic_ns, realtime_ns;
};

struct raw_communicator {
  std::uint16_t number;
  std::uint64_t from_ticks;  // what began earlier means an earlier one of this number
  std::vector<int> members, remote;
  std::string name;
};

struct raw_window {
  std::uint16_t number;
  std::uint64_t from_ticks;
  std::uint16_t communicator;
  std::string name;
};

struct raw_region {
  std::string paradigm, name;
};

struct raw_log {
  std::filesystem::path path;
  std::uint64_t thread = 0;
  std::uint64_t lost = 0;
};

enum class ending { in_order, exit_without_end, killed };

struct raw_process {
  std::string name = {};  // HOST-PID, as its files begin
  std::string host = {}, boot = {}, job = {}, program = {}, paradigm = {}, library = {};
  int pid = 0;
  int rank = -1, size = 0;  // -1: it never entered its communication library
  std::vector<clock_pair> clocks = {};
  std::map<std::uint16_t, raw_region> regions = {};
  std::vector<raw_communicator> communicators = {};  // in the order in which they were made
  std::vector<raw_window> windows = {};
  std::vector<raw_log> logs = {};
  ending ended = ending::killed;
  std::string damaged = {};  // what of it cannot be read, in words; empty: nothing
};

// By host, process number. Throws lull::error where the folder is none, or of another version.
[[nodiscard]] std::vector<raw_process> read_raw_folder(const std::filesystem::path& folder);

// The records of a thread, mapped for as long as this lives. Throws lull::error where they cannot be read.
class mapped_log {
 public:
  explicit mapped_log(const std::filesystem::path& path);
  mapped_log(mapped_log&& other) noexcept;
  mapped_log& operator=(mapped_log&&) = delete;
  ~mapped_log();
  // What was saved, and behind it what was still in the window.
  [[nodiscard]] std::span<const record> records() const { return records_; }
  [[nodiscard]] const std::optional<log_header>& header() const { return header_; }  // none: not a file of records

 private:
  void map(const std::filesystem::path& path, int file, std::size_t file_bytes);

  void* mapped_ = nullptr;
  std::size_t bytes_ = 0;
  std::optional<log_header> header_;
  std::span<const record> records_;
};

}  // namespace lull::trace
