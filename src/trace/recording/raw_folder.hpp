// Reads what the processes of a run have recorded (raw.hpp), however they ended.
#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/raw.hpp"

namespace lull::trace {

struct clock_pair {
  std::uint64_t ticks;
  std::int64_t monotonic_ns, realtime_ns;
};

struct raw_communicator {
  std::uint16_t number;
  std::uint64_t from_ticks;  // calls that began earlier refer to an earlier one of this number
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

class stored_log;

struct raw_log {
  std::filesystem::path path;  // log_records.hpp reads it
  std::uint64_t thread = 0;
  std::uint64_t lost = 0;
  std::uint64_t records = 0;
  std::shared_ptr<const stored_log> stored = {};  // null: it is the file at `path`
};

enum class ending { in_order, exit_without_end, killed };

struct raw_process {
  std::string name = {};  // HOST-PID, the prefix of its files
  std::string host = {}, boot = {}, job = {}, program = {}, paradigm = {}, library = {};
  int pid = 0;
  int rank = -1, size = 0;  // -1: it never initialised its communication library
  std::vector<clock_pair> clocks = {};
  std::map<std::uint16_t, raw_region> regions = {};
  std::vector<raw_communicator> communicators = {};  // in order of creation
  std::vector<raw_window> windows = {};
  std::vector<raw_log> logs = {};
  ending ended = ending::killed;
  std::string damaged = {};  // what cannot be read, in words; empty: nothing
};

// Sorted by host and process number. Throws lull::error if the folder is none, or has another version.
[[nodiscard]] std::vector<raw_process> read_raw_folder(const std::filesystem::path& folder);

// The same in steps: what each library of each process has recorded, by name; and the processes, of each of which
// several libraries may have recorded.
[[nodiscard]] std::vector<raw_process> read_recordings(const std::filesystem::path& folder);
[[nodiscard]] std::vector<raw_process> processes_of(std::vector<raw_process> recordings);
// The content of PROCESS.definitions, except for the logs.
[[nodiscard]] raw_process read_definitions(const std::string& name, std::istream& file);

// The records of a thread, mapped during the lifetime of this object. Throws lull::error if they cannot be read.
class mapped_log {
 public:
  explicit mapped_log(const std::filesystem::path& path);
  mapped_log(mapped_log&& other) noexcept;
  mapped_log& operator=(mapped_log&& other) noexcept;
  ~mapped_log();
  // The saved records, followed by those in the window.
  [[nodiscard]] std::span<const record> records() const { return records_; }
  [[nodiscard]] const std::optional<log_header>& header() const { return header_; }  // none: not a records file

 private:
  void map(const std::filesystem::path& path, int file, std::size_t file_bytes);

  void* mapped_ = nullptr;
  std::size_t bytes_ = 0;
  std::optional<log_header> header_;
  std::span<const record> records_;
};

}  // namespace lull::trace
