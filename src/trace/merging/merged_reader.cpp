// read_merged_file(): chunk by chunk, so that damaged ones leave the others readable.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "trace/merging/definition_lines.hpp"
#include "trace/merging/log_classes.hpp"
#include "trace/merging/merged_file.hpp"
#include "trace/merging/rank_places.hpp"
#include "trace/merging/recordings.hpp"
#include "trace/recording/log_records.hpp"

namespace lull::trace::merging {
namespace {

namespace fs = std::filesystem;
using folding::byte_reader;
using content = std::span<const std::uint8_t>;

class mapped_file {
 public:
  explicit mapped_file(const fs::path& path) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) failed(path);
    bytes_ = static_cast<std::size_t>(status.st_size);
    if (bytes_ == 0) return;
    at_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (at_ == MAP_FAILED) failed(path);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file() {
    if (at_ != nullptr) ::munmap(at_, bytes_);
  }
  [[nodiscard]] content all() const { return {static_cast<const std::uint8_t*>(at_), bytes_}; }

 private:
  [[noreturn]] static void failed(const fs::path& path) {
    throw error("read " + path.string(), describe_errno(errno), "name a trace that lull archive merge has made");
  }
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

// The log of a class, of which only its own structure is made when it is read.
class merged_log : public stored_log {
 public:
  std::shared_ptr<const mapped_file> file;
  std::shared_ptr<const log_class> of;
  std::size_t member = 0;
  places where;
  content times = {};
  folding::expander::handles given_up;

  // A structure that cannot be made has no calls: the expander says that it is damaged.
  [[nodiscard]] folded_log open(bytes& structure) const override {
    structure = of->structure_of(member, where).value_or(bytes());
    return {{structure}, {times}, of->records(), given_up};
  }
};

struct read_log {
  std::string ending;
  std::uint64_t thread = 0, lost = 0;
  folding::expander::handles given_up = {};
};

class merged_reader {
 public:
  explicit merged_reader(const fs::path& path) : path_(path), file_(std::make_shared<mapped_file>(path)) {
    const content all = file_->all();
    file_header header;
    if (all.size() >= sizeof header) std::memcpy(&header, all.data(), sizeof header);
    if (all.size() < sizeof header || header.magic != merged_magic)
      throw error("read " + path.string(), "it is no merged trace", "name a file that lull archive merge has made");
    if (header.version != merged_version)
      throw error("read " + path.string(), fmt::format("its version is {}", header.version),
                  "read it with the version of Lull that made it");
    find_chunks(all.subspan(sizeof header));
  }

  recordings run() {
    const auto templates = lines_ ? definition_lines::read_templates(*lines_) : std::nullopt;
    if (!templates || recordings_.empty())
      throw error("read " + path_.string(), "it is damaged: the definitions of its processes are lost",
                  "merge the recordings again");
    recordings made;
    for (const content one : recordings_) take_recording(one, *templates, made);
    std::ranges::sort(made.all, {}, [](const recording& r) { return r.process.name; });
    made.energy = std::move(energy_);
    return made;
  }

 private:
  void find_chunks(content left) {
    while (left.size() >= sizeof(chunk_header)) {
      chunk_header header;
      std::memcpy(&header, left.data(), sizeof header);
      if (header.mark != chunk_header::right_mark || header.header_sum != header.right_header_sum()) {
        left = behind_damage(left.subspan(1));
        continue;
      }
      left = left.subspan(sizeof header);
      if (header.bytes > left.size()) return;
      const content here = left.first(header.bytes);
      left = left.subspan(header.bytes);
      if (static_cast<std::uint32_t>(checksum(here)) == header.sum) take_chunk(header.what, here);
    }
  }
  static content behind_damage(content left) {
    std::array<std::uint8_t, 4> mark;
    std::memcpy(mark.data(), &chunk_header::right_mark, mark.size());
    const auto found = std::search(left.begin(), left.end(), mark.begin(), mark.end());
    return left.subspan(static_cast<std::size_t>(found - left.begin()));
  }
  void take_chunk(chunk what, content here) {
    byte_reader from({here});
    switch (what) {
      case chunk::templates:
        lines_ = here;
        break;
      case chunk::recording:
        recordings_.push_back(here);
        break;
      case chunk::log_class:
        if (auto read = log_class::read(here, most_logs())) {
          const auto shared = std::make_shared<const log_class>(std::move(*read));
          for (std::size_t i = 0; i < shared->logs().size(); ++i) class_of_[shared->logs()[i]] = {shared, i};
        }
        break;
      case chunk::times: {
        const std::uint64_t log = from.number();
        times_of_[log] = from.rest();
        break;
      }
      case chunk::energy: {
        auto name = read_text(from), text = read_text(from);
        if (name && text) energy_.emplace_back(std::move(*name), std::move(*text));
        break;
      }
      case chunk::end:
        break;
    }
  }

  // Each log has a chunk for its times.
  [[nodiscard]] std::uint64_t most_logs() const { return file_->all().size() / sizeof(chunk_header); }

  void take_recording(content here, const definition_lines& lines, recordings& to) const {
    byte_reader from({here});
    const auto name = read_text(from);
    const std::uint64_t first = from.number();
    std::vector<read_log> logs;
    for (std::uint64_t left = from.number(); left > 0; --left) {
      auto log = take_log(from);
      if (!log) return;
      logs.push_back(std::move(*log));
    }
    auto text = lines.read(from);
    if (!name || !text) return;
    std::istringstream definitions(*text);
    recording made{read_definitions(*name, definitions), std::move(*text)};
    const places where = places_of(made.process);
    for (std::size_t i = 0; i < logs.size(); ++i) add_log(made.process, std::move(logs[i]), first + i, where);
    to.all.push_back(std::move(made));
  }
  static std::optional<read_log> take_log(byte_reader& from) {
    auto ending = read_text(from);
    if (!ending) return {};
    read_log made{.ending = std::move(*ending), .thread = from.number(), .lost = from.number()};
    for (std::uint64_t lives = from.number(); lives > 0 && !from.failed(); --lives) {
      const std::uint64_t life = from.number();
      made.given_up[life] = from.number();
    }
    return from.failed() ? std::nullopt : std::optional(std::move(made));
  }
  void add_log(raw_process& p, read_log&& log, std::uint64_t number, const places& where) const {
    const auto of = class_of_.find(number);
    const auto times = times_of_.find(number);
    if (of == class_of_.end() || times == times_of_.end()) {
      if (p.damaged.empty()) p.damaged = "its calls are damaged in " + path_.filename().string() + ", and are left out";
      return;
    }
    auto stored = std::make_shared<merged_log>();
    stored->file = file_;
    stored->of = of->second.first;
    stored->member = of->second.second;
    stored->where = where;
    stored->times = times->second;
    stored->given_up = std::move(log.given_up);
    p.logs.push_back({.path = path_.parent_path() / (p.name + log.ending + folded_extension),
                      .thread = log.thread,
                      .lost = log.lost,
                      .records = stored->of->records(),
                      .stored = stored});
  }

  fs::path path_;
  std::shared_ptr<const mapped_file> file_;
  std::optional<content> lines_;
  std::vector<content> recordings_;
  std::map<std::uint64_t, std::pair<std::shared_ptr<const log_class>, std::size_t>> class_of_;
  std::map<std::uint64_t, content> times_of_;
  std::vector<std::pair<std::string, std::string>> energy_;
};

}  // namespace

recordings read_merged_file(const fs::path& path) { return merged_reader(path).run(); }

}  // namespace lull::trace::merging
