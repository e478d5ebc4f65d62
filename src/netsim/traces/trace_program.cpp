#include "netsim/traces/trace_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "netsim/counted.hpp"
#include "netsim/extrapolation/extrapolation.hpp"
#include "netsim/keys/key.hpp"
#include "netsim/program/player.hpp"
#include "netsim/simulation.hpp"
#include "netsim/traces/traced_ranks.hpp"
#ifdef LULL_WITH_OTF2
#include "trace/archive/archive_reader.hpp"
#endif

namespace lull::netsim {
namespace {

std::string asked_of(const std::string& path) { return "replay the trace " + path; }

#ifdef LULL_WITH_OTF2
namespace fs = std::filesystem;

// Identifies the version of an archive.
struct version {
  fs::path anchor;
  fs::file_time_type written;
  std::string iteration;
  bool operator==(const version&) const = default;
};

class recent_traces {
 public:
  [[nodiscard]] std::shared_ptr<const converted_trace> find(const version& v) {
    const std::scoped_lock lock(lock_);
    const auto found = std::ranges::find(known_, v, &entry::first);
    return found == known_.end() ? nullptr : found->second;
  }
  void keep(version v, std::shared_ptr<const converted_trace> trace) {
    const std::scoped_lock lock(lock_);
    known_.insert(known_.begin(), {std::move(v), std::move(trace)});
    if (known_.size() > most) known_.pop_back();
  }

 private:
  using entry = std::pair<version, std::shared_ptr<const converted_trace>>;
  static constexpr std::size_t most = 4;
  std::mutex lock_;
  std::vector<entry> known_;  // the newest first
};

recent_traces& recent() {
  static recent_traces traces;
  return traces;
}

version version_of(const std::string& path, const std::string& iteration) {
  const fs::path anchor = fs::absolute(trace::find_anchor(path));
  std::error_code failed;
  return {.anchor = anchor, .written = fs::last_write_time(anchor, failed), .iteration = iteration};
}
#endif

key path_key(const char* name, const char* meaning, const char* otherwise) {
  return {.name = name, .meaning = meaning, .of = kind::text, .otherwise = otherwise};
}

std::string text_or_none(const reader& from, const char* name) { return from.has(name) ? from.word(name) : ""; }

std::unique_ptr<program> make(const job_setup& setup) {
  const reader from(find_workload("trace").keys, setup.job().own);
  setup.require(from.has("trace"), "trace", "is missing",
                "name the folder of a trace, or its file .otf2 or .lulltrace");
  const std::string iteration = text_or_none(from, "trace_iteration");
  auto larger = std::make_unique<trace_program>(read_trace(from.word("trace"), iteration));
  const std::uint32_t traced = larger->processes();
  setup.require(setup.size() >= traced, "processes", fmt::format("is {}, but the trace has {}", setup.size(), traced),
                "a trace cannot be replayed by fewer processes");
  const std::string smaller = text_or_none(from, "trace_smaller");
  if (setup.size() == traced) {
    setup.require(smaller.empty(), "trace_smaller", fmt::format("is set, but the trace has all {} processes", traced),
                  "leave it out; it is for more processes than were traced");
    return larger;
  }
  setup.require(!smaller.empty(), "processes", fmt::format("is {}, but the trace has {}", setup.size(), traced),
                "for more processes, set trace_smaller to a trace of the same program on fewer processes");
  const trace_program first(read_trace(smaller, iteration));
  return extrapolate({first, first.processes()}, {*larger, traced}, setup.size(), asked_of(from.word("trace")));
}

}  // namespace

std::vector<std::string> trace_program::remarks() const {
  const auto times = [](std::uint64_t n) { return n == 1 ? std::string("once") : fmt::format("{} times", n); };
  std::vector<std::string> lines = trace_->missing;
  for (const not_replayed& one : trace_->left_out)
    lines.push_back(fmt::format("not replayed: {}, {} ({})", one.name, times(one.times), one.instead));
  if (trace_->too_early > 0)
    lines.push_back(fmt::format(
        "according to the clocks of the trace, {} received before {} sent, by up to {:.3g} us; in the replay none is",
        counted(trace_->too_early, "message is", "messages are"), trace_->too_early == 1 ? "it was" : "they were",
        static_cast<double>(trace_->most_too_early_ns) * 1e-3));
  if (trace_->went_back > 0)
    lines.push_back(fmt::format(
        "the clocks of the trace go back {}, by {:.3g} us in total; the replay's time does not advance meanwhile",
        times(trace_->went_back), static_cast<double>(trace_->went_back_ns) * 1e-3));
  return lines;
}

#ifdef LULL_WITH_OTF2

std::shared_ptr<const converted_trace> read_trace(const std::string& path, const std::string& iteration,
                                                  const conversion_progress& progress) {
  version wanted = version_of(path, iteration);
  if (auto known = recent().find(wanted)) return known;
  trace::archive_reader archive(path);
  conversion converted(archive.all(), {.asked = asked_of(path), .iteration = iteration});
  archive.read(converted, progress);
  converted_trace finished = converted.finish();
  finished.missing = archive.remarks();
  auto made = std::make_shared<const converted_trace>(std::move(finished));
  recent().keep(std::move(wanted), made);
  return made;
}

std::optional<std::int64_t> processes_of_trace(const values& own) {
  const auto path = own.find("trace");
  if (path == own.end()) return std::nullopt;
  const auto& name = std::get<std::string>(path->second.is);
  const trace::archive_reader archive(name);
  return traced_ranks(archive.all(), asked_of(name)).count();
}

#else

std::shared_ptr<const converted_trace> read_trace(const std::string& path, const std::string& /*iteration*/,
                                                  const conversion_progress& /*progress*/) {
  throw error(asked_of(path), "this Lull was built without OTF2",
              "install libopen-trace-format2-dev and build it again");
}

std::optional<std::int64_t> processes_of_trace(const values& own) {
  const auto path = own.find("trace");
  if (path != own.end()) (void)read_trace(std::get<std::string>(path->second.is), "");
  return std::nullopt;
}

#endif

workload_entry trace_entry() {
  workload_entry made = program_entry(
      "trace", "each process repeats its operations of a trace",
      {path_key("trace",
                "folder of an OTF2 trace or a merged trace, or its .otf2 or .lulltrace file; a relative path begins at "
                "the folder of this file",
                "required; it implies pattern = \"trace\""),
       path_key("trace_smaller",
                "trace of the same program on fewer processes, to simulate more processes than were traced", "none"),
       path_key("trace_iteration", "region of the traced program whose end is the end of an iteration", "none")},
      make);
  made.processes = processes_of_trace;
  return made;
}

}  // namespace lull::netsim
