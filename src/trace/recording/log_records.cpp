#include "trace/recording/log_records.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "trace/folding/folded_file.hpp"

namespace lull::trace {

namespace {

using folding::chunk;
using folding::running_state;

constexpr std::size_t records_at_once = 2048;

template <typename T>
std::optional<T> read_at(std::span<const std::uint8_t> content, std::size_t at) {
  if (at > content.size() || content.size() - at < sizeof(T)) return {};
  T made;
  std::memcpy(&made, content.data() + at, sizeof made);
  return made;
}

}  // namespace

// A whole file, mapped to be read.
class log_records::mapping {
 public:
  explicit mapping(const std::filesystem::path& path) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) throw error("read " + path.string(), describe_errno(errno));
    bytes_ = static_cast<std::size_t>(status.st_size);
    if (bytes_ == 0) return;
    at_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (at_ == MAP_FAILED) {
      at_ = nullptr;
      throw error("read " + path.string(), describe_errno(errno));
    }
    ::madvise(at_, bytes_, MADV_SEQUENTIAL);
  }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  ~mapping() {
    if (at_ != nullptr) ::munmap(at_, bytes_);
  }
  [[nodiscard]] std::span<const std::uint8_t> content() const {
    return {static_cast<const std::uint8_t*>(at_), at_ != nullptr ? bytes_ : 0};
  }
  // What the process had not written into the file; copied, because it is small.
  std::unique_ptr<running_state> running;

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

log_records::log_records(const raw_log& log) {
  if (log.stored == nullptr) {
    *this = log_records(log.path);
    return;
  }
  stored_ = log.stored;
  thread_ = log.thread;
  lost_ = log.lost;
  whole_ = stored_->open(structure_);
  count_ = whole_->records;
  valid_ = true;
  expander_.emplace(whole_->structure, whole_->times, whole_->records, whole_->given_up);
}
log_records::log_records(const std::filesystem::path& path) {
  if (path.extension() == folded_extension)
    open_folded(path);
  else
    open_raw(path);
}
log_records::log_records(log_records&&) noexcept = default;
log_records& log_records::operator=(log_records&&) noexcept = default;
log_records::~log_records() = default;

void log_records::open_raw(const std::filesystem::path& path) {
  raw_.emplace(path);
  if (!raw_->header()) return;
  valid_ = true;
  thread_ = raw_->header()->thread;
  lost_ = raw_->header()->lost;
  left_ = raw_->records();
  count_ = left_.size();
}

void log_records::open_folded(const std::filesystem::path& path) {
  folded_ = std::make_unique<mapping>(path);
  std::span<const std::uint8_t> file = folded_->content();
  const auto header = read_at<folding::file_header>(file, 0);
  if (!header || header->magic != folding::folded_magic || header->version != folding::folded_version ||
      header->times != folding::times_kept::exact)
    return;
  thread_ = header->thread;
  running_state::part behind;
  std::filesystem::path beside = path;
  beside.replace_extension(".records");
  if (std::filesystem::exists(beside)) {
    raw_.emplace(beside);
    const mapping records(beside);
    const std::size_t at = raw_->header() ? raw_->header()->first_record - raw_->header()->window_bytes -
                                                std::size_t{raw_->header()->folding_bytes}
                                          : 0;
    if (const auto state = read_at<running_state>(records.content(), at); at > 0 && state && state->valid < 2) {
      folded_->running = std::make_unique<running_state>(*state);
      behind = state->parts[state->valid];
      file = file.first(std::min<std::size_t>(file.size(), behind.file_bytes));
      lost_ = raw_->header()->lost;
      std::span<const record> window = raw_->records();
      if (behind.window == state->window) window = window.subspan(std::min<std::size_t>(window.size(), behind.taken));
      window_.assign(window.begin(), window.end());
    }
  }
  bool is_whole = folded_->running != nullptr;
  folding::expander::pieces structure, times;
  folding::expander::handles given_up;
  std::uint64_t folded = behind.records;
  for (std::size_t at = sizeof *header; const auto head = read_at<folding::chunk_header>(file, at);) {
    at += sizeof *head;
    const auto content = file.subspan(at, std::min<std::size_t>(head->bytes, file.size() - at));
    at += content.size();
    if (head->what == chunk::structure) structure.push_back(content);
    if (head->what == chunk::times) times.push_back(content);
    if (head->what == chunk::end)
      if (const auto end = read_at<folding::file_end>(content, 0)) {
        folded = end->records;
        is_whole = true;
      }
    if (head->what == chunk::given_up)
      for (std::size_t i = 0; const auto one = read_at<folding::request_life>(content, i); i += sizeof *one)
        given_up[one->life] = one->handle;
  }
  valid_ = is_whole;
  if (folded_->running) {
    const running_state& state = *folded_->running;
    structure.push_back(
        std::span(state.structure).first(std::min<std::size_t>(behind.structure_bytes, state.structure.size())));
    times.push_back(std::span(state.times).first(std::min<std::size_t>(behind.times_bytes, state.times.size())));
  }
  // Records in the window name requests by the library's handles.
  std::map<std::uint64_t, std::uint64_t> lives;
  for (std::size_t i = 0; i < std::min<std::size_t>(behind.open, running_state::most_open); ++i)
    lives[behind.requests[i].handle] = behind.requests[i].life;
  for (record& r : window_) {
    const auto life = folding::names_request(r.what) ? lives.find(r.begin) : lives.end();
    if (life == lives.end()) continue;
    if (folding::is_about_request(r.what))
      r.begin = life->second;
    else
      lives.erase(life);  // it is used again
  }
  count_ = folded + window_.size();
  if (is_whole && !folded_->running) whole_ = {structure, times, folded, given_up};
  expander_.emplace(std::move(structure), std::move(times), folded, std::move(given_up));
}

bool log_records::fetch() {
  if (!expander_) return false;
  buffer_.erase(buffer_.begin(), buffer_.end() - static_cast<std::ptrdiff_t>(left_.size()));
  const std::size_t before = buffer_.size();
  while (buffer_.size() < before + records_at_once && expander_->next(buffer_)) {
  }
  if (buffer_.size() < before + records_at_once) {
    buffer_.insert(buffer_.end(), window_.begin(), window_.end());
    window_.clear();
  }
  left_ = buffer_;
  return buffer_.size() > before;
}

std::span<const record> log_records::next_call() {
  for (;;) {  // to the begin of a call
    while (!left_.empty() && !begins_call(left_.front().what)) left_ = left_.subspan(1);
    if (!left_.empty()) break;
    if (!fetch()) return {};
  }
  std::size_t count = 1;
  do {
    while (count < left_.size() && !begins_call(left_[count].what)) ++count;
  } while (count == left_.size() && fetch());
  const auto call = left_.first(count);
  left_ = left_.subspan(count);
  return call;
}

}  // namespace lull::trace
