#include "trace/recording/raw_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/pages.hpp"
#include "trace/recording/log_records.hpp"

namespace lull::trace {
namespace {

using nlohmann::json;

// More processes than any job has, so that a damaged number does not allocate a lot of memory.
constexpr int most_ranks = 1 << 24;

struct damage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::vector<int> ranks_of(const json& runs) {
  std::vector<int> ranks;
  for (const auto& run : runs) {
    const int first = run.at(0).get<int>(), count = run.at(1).get<int>();
    if (first < -1 || first > most_ranks || count < 0 || count > most_ranks - static_cast<int>(ranks.size()))
      throw damage("members that no job can have");
    for (int i = 0; i < count; ++i) ranks.push_back(first + i);
  }
  return ranks;
}

// Each line is an object whose member `is` gives its kind:
//   process            version, host, boot, pid, job, program
//   clocks             ticks, monotonic_ns, realtime_ns
//   rank               rank, size, paradigm, library
//   regions            paradigm, first, names
//   communicator       ticks, number, members and perhaps remote as runs [first, count], name
//   communicator name  number, name
//   window             ticks, number, communicator, name
//   exit, end          the program has called exit; it has finalised its communication library
void read_line(raw_process& p, const json& line) {
  const std::string is = line.at("is");
  if (is == "process") {
    if (const auto version = line.at("version").get<unsigned>(); version != raw_version)
      throw error("read the records of process " + p.name, "their version is " + std::to_string(version),
                  "convert them with the version of Lull that recorded them");
    line.at("host").get_to(p.host);
    line.at("boot").get_to(p.boot);
    line.at("pid").get_to(p.pid);
    line.at("job").get_to(p.job);
    line.at("program").get_to(p.program);
  } else if (is == "clocks") {
    const clock_pair read{line.at("ticks"), line.at("monotonic_ns"), line.at("realtime_ns")};
    constexpr std::int64_t latest = 4'000'000'000'000'000'000;
    for (const std::int64_t ns : {read.monotonic_ns, read.realtime_ns})
      if (ns < 0 || ns > latest) throw damage("a clock that no host can have");
    p.clocks.push_back(read);
  } else if (is == "rank") {
    line.at("rank").get_to(p.rank);
    line.at("size").get_to(p.size);
    line.at("paradigm").get_to(p.paradigm);
    line.at("library").get_to(p.library);
    if (p.rank < 0 || p.rank >= p.size || p.size > most_ranks) {
      const std::string found = fmt::format("rank {} of {}", std::exchange(p.rank, -1), std::exchange(p.size, 0));
      throw damage(found);
    }
  } else if (is == "regions") {
    auto number = line.at("first").get<std::uint16_t>();
    for (const auto& name : line.at("names")) p.regions[number++] = {line.at("paradigm"), name};
  } else if (is == "communicator") {
    p.communicators.push_back({line.at("number"), line.at("ticks"), ranks_of(line.at("members")),
                               ranks_of(line.value("remote", json::array())), line.at("name")});
  } else if (is == "communicator name") {
    const auto number = line.at("number").get<std::uint16_t>();
    const auto named = std::find_if(p.communicators.rbegin(), p.communicators.rend(),
                                    [&](const raw_communicator& c) { return c.number == number; });
    if (named != p.communicators.rend()) line.at("name").get_to(named->name);
  } else if (is == "window") {
    p.windows.push_back({line.at("number"), line.at("ticks"), line.at("communicator"), line.at("name")});
  } else if (is == "exit" && p.ended == ending::killed) {
    p.ended = ending::exit_without_end;
  } else if (is == "end") {
    p.ended = ending::in_order;
  }
}

// Whether two records with the same host and process number are of one process: a number is reused only after its
// process has ended.
bool are_one(const raw_process& a, const raw_process& b) {
  if (std::tie(a.host, a.boot, a.pid) != std::tie(b.host, b.boot, b.pid)) return false;
  if (a.clocks.empty() || b.clocks.empty()) return true;
  const auto ended = [](const raw_process& p) {
    return p.ended == ending::killed ? std::numeric_limits<std::uint64_t>::max() : p.clocks.back().ticks;
  };
  return a.clocks.front().ticks <= ended(b) && b.clocks.front().ticks <= ended(a);
}

// Merges the records of several libraries of one process: a communication library, and the user's regions.
void take_in(raw_process& p, raw_process&& other) {
  if (p.rank < 0 && other.rank >= 0) std::swap(p, other);
  p.clocks.insert(p.clocks.end(), other.clocks.begin(), other.clocks.end());
  std::ranges::sort(p.clocks, {}, &clock_pair::ticks);
  p.regions.merge(other.regions);
  p.logs.insert(p.logs.end(), other.logs.begin(), other.logs.end());
}

}  // namespace

raw_process read_definitions(const std::string& name, std::istream& file) {
  raw_process p;
  p.name = name;
  std::size_t number = 1;
  for (std::string line; std::getline(file, line); ++number) {
    const json read = json::parse(line, nullptr, false);
    if (read.is_discarded() && file.eof()) break;  // the last line, which a killed process wrote only partially
    std::string found = read.is_discarded() ? "it is not JSON" : "";
    try {
      if (found.empty()) read_line(p, read);
    } catch (const json::exception& e) {
      found = e.what();
    } catch (const damage& e) {
      found = e.what();
    }
    if (found.empty()) continue;
    // Later lines may refer to what could not be read.
    p.damaged =
        fmt::format("its definitions are damaged from line {} on ({}); what came before is kept", number, found);
    break;
  }
  return p;
}

std::vector<raw_process> read_recordings(const std::filesystem::path& folder) {
  std::error_code failed;
  std::vector<std::filesystem::path> definitions, records;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    std::error_code unknown;
    if (!entry.is_regular_file(unknown)) continue;
    if (entry.path().extension() == ".definitions") definitions.push_back(entry.path());
    const auto folded = std::filesystem::path(entry.path()).replace_extension(folded_extension);
    if (entry.path().extension() == folded_extension ||
        (entry.path().extension() == ".records" && !std::filesystem::exists(folded, unknown)))
      records.push_back(entry.path());
  }
  if (failed)
    throw error("read the records in " + folder.string(), failed.message(),
                "name a folder that lull trace has created");
  std::ranges::sort(definitions);
  std::ranges::sort(records);
  std::vector<raw_process> found;
  for (const auto& path : definitions) {
    std::ifstream file(path);
    raw_process next = read_definitions(path.stem().string(), file);
    for (const auto& log : records) {
      if (log.stem().stem().string() != next.name) continue;
      const log_records found_there(log);
      if (found_there.is_valid())
        next.logs.push_back({log, found_there.thread(), found_there.lost(), found_there.count(), nullptr});
      else if (next.damaged.empty() && std::filesystem::file_size(log, failed) > 0)
        next.damaged = log.filename().string() + " is damaged or truncated, and is left out";
    }
    found.push_back(std::move(next));
  }
  return found;
}

std::vector<raw_process> processes_of(std::vector<raw_process> recordings) {
  std::vector<raw_process> found;
  for (raw_process& next : recordings) {
    const auto same = std::ranges::find_if(found, [&](const raw_process& p) { return are_one(p, next); });
    if (same != found.end())
      take_in(*same, std::move(next));
    else
      found.push_back(std::move(next));
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return std::tie(a.job, a.rank, a.host, a.pid) < std::tie(b.job, b.rank, b.host, b.pid);
  });
  return found;
}

std::vector<raw_process> read_raw_folder(const std::filesystem::path& folder) {
  return processes_of(read_recordings(folder));
}

mapped_log::mapped_log(const std::filesystem::path& path) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw error("read " + path.string(), describe_errno(errno));
  struct stat status {};
  log_header header{};
  const bool whole = ::fstat(file.get(), &status) == 0 &&
                     ::pread(file.get(), &header, sizeof header, 0) == sizeof header && header.magic == raw_magic &&
                     header.version == raw_version && status.st_size >= off_t{header.first_record} &&
                     header.first_record > header.window_bytes;
  if (!whole) return;
  header_ = header;
  map(path, file.get(), static_cast<std::size_t>(status.st_size));
}

namespace {

// Loads bytes of a file into memory: maps pages, or copies if they are not aligned to this machine's pages, as in a log
// from a machine with smaller pages. Returns 0 or errno.
int bring(int file, std::size_t from, char* to, std::size_t bytes, bool whole_pages) {
  if (bytes == 0) return 0;
  if (whole_pages && from % page_size() == 0)
    return ::mmap(to, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, static_cast<off_t>(from)) != MAP_FAILED ? 0
                                                                                                               : errno;
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t got = ::pread(file, to + at, bytes - at, static_cast<off_t>(from + at));
    if (got == 0) return EIO;  // the file has been truncated
    if (got < 0 && errno != EINTR) return errno;
    if (got > 0) at += static_cast<std::size_t>(got);
  }
  return 0;
}

}  // namespace

// In this order: saved records (if the window has any, only the valid ones), then the window.
void mapped_log::map(const std::filesystem::path& path, int file, std::size_t file_bytes) {
  const log_header& h = *header_;
  const std::size_t behind = h.first_record;
  const std::size_t in_window = std::min<std::size_t>(h.next - h.base, h.window_bytes) / sizeof(record);
  std::size_t saved = (file_bytes - behind) / sizeof(record);
  if (in_window > 0) saved = std::min<std::size_t>(saved, h.saved);
  const std::size_t saved_bytes = saved * sizeof(record), window_bytes = in_window * sizeof(record);
  bytes_ = saved_bytes + window_bytes;
  if (bytes_ == 0) return;
  mapped_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    throw error("read " + path.string(), describe_errno(errno));
  }
  auto* const at = static_cast<char*>(mapped_);
  const bool whole_pages = saved_bytes % page_size() == 0 || window_bytes == 0;
  int failed = bring(file, behind, at, saved_bytes, whole_pages);
  if (failed == 0) failed = bring(file, behind - h.window_bytes, at + saved_bytes, window_bytes, whole_pages);
  if (failed != 0) {
    ::munmap(std::exchange(mapped_, nullptr), bytes_);
    throw error("read " + path.string(), describe_errno(failed));
  }
  ::madvise(mapped_, bytes_, MADV_SEQUENTIAL);
  records_ = {static_cast<const record*>(mapped_), saved + in_window};
}

mapped_log::mapped_log(mapped_log&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      bytes_(other.bytes_),
      header_(other.header_),
      records_(std::exchange(other.records_, {})) {}

mapped_log& mapped_log::operator=(mapped_log&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(bytes_, other.bytes_);
  std::swap(header_, other.header_);
  std::swap(records_, other.records_);
  return *this;
}

mapped_log::~mapped_log() {
  if (mapped_ != nullptr) ::munmap(mapped_, bytes_);
}

}  // namespace lull::trace
