#include "trace/merging/merged_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "trace/merging/definition_lines.hpp"
#include "trace/merging/log_classes.hpp"
#include "trace/merging/merged_file.hpp"
#include "trace/merging/rank_places.hpp"
#include "trace/merging/recordings.hpp"
#include "trace/merging/whole_log.hpp"

namespace lull::trace::merging {
namespace {

namespace fs = std::filesystem;
using folding::put_number;
using content = std::vector<std::span<const std::uint8_t>>;

// A file next to `path`, which takes its place when it is whole.
class whole_file {
 public:
  explicit whole_file(const fs::path& path)
      : path_(path), aside_(path.parent_path() / fmt::format(".{}-{}", path.filename().string(), ::getpid())) {
    to_.open(aside_, std::ios::binary | std::ios::trunc);
    check();
    const file_header header;
    write({reinterpret_cast<const std::uint8_t*>(&header), sizeof header});
  }
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;
  ~whole_file() {
    std::error_code ignored;
    fs::remove(aside_, ignored);
  }

  void put(chunk what, std::span<const std::uint8_t> all) {
    chunk_header header{.what = what, .bytes = all.size(), .sum = static_cast<std::uint32_t>(checksum(all))};
    header.header_sum = header.right_header_sum();
    write({reinterpret_cast<const std::uint8_t*>(&header), sizeof header});
    write(all);
  }
  void keep() {
    to_.close();
    check();
    const descriptor file(::open(aside_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file || ::fsync(file.get()) != 0) failed(describe_errno(errno));
    std::error_code why;
    fs::rename(aside_, path_, why);
    if (why) failed(why.message());
  }
  [[nodiscard]] std::uint64_t bytes_written() const { return written_; }

 private:
  void write(std::span<const std::uint8_t> all) {
    to_.write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
    check();
    written_ += all.size();
  }
  void check() const {
    if (!to_) failed(describe_errno(errno));
  }
  [[noreturn]] void failed(const std::string& why) const {
    throw error("write " + path_.string(), why, "choose a file that you may write, with space for it");
  }

  fs::path path_, aside_;
  std::ofstream to_;
  std::uint64_t written_ = 0;
};

void put_lives(bytes& to, const folding::expander::handles& given_up) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted(given_up.begin(), given_up.end());
  std::ranges::sort(sorted);
  put_number(to, sorted.size());
  for (const auto& [life, handle] : sorted) {
    put_number(to, life);
    put_number(to, handle);
  }
}

class merger {
 public:
  merger(recordings from, const fs::path& file, const merging_progress& progress)
      : from_(std::move(from)), to_(file), progress_(progress) {
    for (const recording& r : from_.all) logs_ += r.process.logs.size();
  }

  merged run() {
    for (const recording& r : from_.all) take(r);
    bytes templates;
    lines_.put_templates(templates);
    to_.put(chunk::templates, templates);
    for (const bytes& one : merge_logs(structures_)) {
      to_.put(chunk::log_class, one);
      made_.call_bytes += one.size();
      ++made_.classes;
    }
    structures_.clear();
    for (const bytes& one : recordings_) to_.put(chunk::recording, one);
    put_times();
    for (const auto& [name, text] : from_.energy) {
      bytes one;
      put_text(one, name);
      put_text(one, text);
      to_.put(chunk::energy, one);
    }
    bytes end;
    put_number(end, logs_);
    to_.put(chunk::end, end);
    to_.keep();
    made_.recordings = from_.all.size();
    made_.logs = logs_;
    made_.bytes = to_.bytes_written();
    return std::move(made_);
  }

 private:
  // The calls and definitions of a recording; its times follow later, so that they need no memory.
  void take(const recording& r) {
    const raw_process& p = r.process;
    bytes one;
    put_text(one, p.name);
    put_number(one, structures_.size());
    put_number(one, p.logs.size());
    if (!p.damaged.empty()) made_.remarks.push_back(p.name + ": " + p.damaged);
    const places where = places_of(p);
    for (const raw_log& log : p.logs) {
      const whole_log folded(log, p.logs.size() > 1);
      if (folded.is_damaged())
        made_.remarks.push_back(fmt::format("{}: its records are damaged; what came before is kept", p.name));
      put_text(one, log.path.stem().extension().string());
      put_number(one, log.thread);
      put_number(one, log.lost);
      put_lives(one, folded.given_up());
      structures_.push_back({folded.structure(), folded.records(), where});
      made_.records += folded.records();
      beat();
    }
    lines_.put(one, r.definitions);
    recordings_.push_back(std::move(one));
  }
  void put_times() {
    std::uint64_t number = 0;
    for (const recording& r : from_.all)
      for (const raw_log& log : r.process.logs) {
        const whole_log folded(log, r.process.logs.size() > 1);
        bytes one;
        put_number(one, number++);
        for (const auto piece : folded.times()) one.insert(one.end(), piece.begin(), piece.end());
        to_.put(chunk::times, one);
        beat();
      }
  }
  void beat() {
    if (progress_ && !progress_(++done_, 2 * logs_)) throw error("merge the trace", "it was interrupted");
  }

  recordings from_;
  whole_file to_;
  const merging_progress& progress_;
  std::uint64_t logs_ = 0, done_ = 0;
  definition_lines lines_;
  std::vector<folded_structure> structures_;
  std::vector<bytes> recordings_;
  merged made_;
};

}  // namespace

merged merge_recordings(const fs::path& raw, const fs::path& file, const merging_progress& progress) {
  recordings from = read_all_recordings(raw);
  if (from.all.empty())
    throw error("merge the trace " + raw.string(), "no process has recorded anything",
                "the program must use MPI and be dynamically linked");
  return merger(std::move(from), file, progress).run();
}

}  // namespace lull::trace::merging
