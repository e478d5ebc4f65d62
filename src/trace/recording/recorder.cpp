#include "trace/recording/recorder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/launcher.hpp"
#include "base/pages.hpp"
#include "base/settings.hpp"
#include "base/topology.hpp"
#include "trace/recording/folded_writer.hpp"

namespace lull::trace {
namespace {

using nlohmann::json;

constexpr std::size_t window_bytes = 64 << 10;  // 2048 records; a multiple of the largest pages
constexpr std::int64_t clocks_every_ns = 1'000'000'000;

std::string first_line(const char* path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

std::string program_name() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).filename().string();
}

// Runs of consecutive ranks, [first, count] each, so that a world of any size is one run.
json runs_of(std::span<const int> ranks) {
  json runs = json::array();
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    runs.push_back({ranks[i], end - i});
    i = end;
  }
  return runs;
}

json clocks() {
  std::uint64_t best = ~std::uint64_t{0};
  json pair;
  for (int attempt = 0; attempt < 5; ++attempt) {  // the narrowest bracket had no interruption
    const std::uint64_t before = ticks();
    const std::int64_t monotonic = now_ns();
    const std::uint64_t after = ticks();
    const std::int64_t real = ns_on(CLOCK_REALTIME);
    if (after - before >= best) continue;
    best = after - before;
    pair = {
        {"is", "clocks"}, {"ticks", before + (after - before) / 2}, {"monotonic_ns", monotonic}, {"realtime_ns", real}};
  }
  return pair;
}

// An invalid setting must not end the user's program: lull trace has rejected it before.
std::size_t limit() noexcept {
  try {
    return setting_size("LULL_TRACE_LIMIT");
  } catch (...) {
    return std::size_t{1} << 30;
  }
}

bool is_folded() noexcept {
  try {
    return setting_text("LULL_TRACE_FORM") == "folded";
  } catch (...) {
    return false;
  }
}

std::string text_of(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"; }

recorder* the_recorder = nullptr;  // for callbacks of the system: fork, exit, the end of a thread

}  // namespace

constinit thread_local thread_log* recorder::of_thread_ = nullptr;

// --- one thread ---

thread_log::thread_log(recorder& owner) : owner_(owner) {}

thread_log::~thread_log() { end(); }

void thread_log::open(const std::string& path) noexcept {
  const std::size_t folding_bytes = owner_.folds_ ? round_up(sizeof(folding::running_state), page_size()) : 0;
  const std::size_t bytes = page_size() + folding_bytes + window_bytes;
  file_ = descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
  // Allocates the blocks now, so that a full disk is an error here instead of a signal at a later store.
  int failed = errno;
  void* const mapped = file_ ? map_pages(file_.get(), bytes, failed) : nullptr;
  if (mapped == nullptr) {
    owner_.complain(describe_errno(failed).c_str());
    file_.close();
    return;
  }
  mapped_bytes_ = bytes;
  header_ = static_cast<log_header*>(mapped);
  window_ = reinterpret_cast<record*>(static_cast<char*>(mapped) + page_size() + folding_bytes);
  next_ = window_;
  end_ = window_ + window_bytes / sizeof(record);
  *header_ = {.magic = raw_magic,
              .version = raw_version,
              .first_record = static_cast<std::uint32_t>(bytes),
              .window_bytes = window_bytes,
              .folding_bytes = static_cast<std::uint32_t>(folding_bytes),
              .thread = static_cast<std::uint64_t>(::syscall(SYS_gettid)),
              .lost = 0,
              .saved = 0,
              .base = reinterpret_cast<std::uint64_t>(window_),
              .next = reinterpret_cast<std::uint64_t>(window_)};
  if (owner_.folds_ && !fold_into(path)) full_ = true;
}

bool thread_log::fold_into(const std::string& path) noexcept {
  try {
    path_ = path;
    const std::string folded = std::filesystem::path(path).replace_extension(".folded").string();
    folded_file_ = descriptor(::open(folded.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
    if (!folded_file_) {
      owner_.complain(describe_errno(errno).c_str());
      return false;
    }
    auto& state = *new (reinterpret_cast<char*>(header_) + page_size()) folding::running_state;
    folded_ = std::make_unique<folded_writer>(state, header_->thread, [this](const void* from, std::size_t bytes) {
      return append(folded_file_.get(), from, bytes);
    });
    return folded_->is_open();
  } catch (...) {
    owner_.complain("out of memory");
    return false;
  }
}

bool thread_log::save() noexcept {
  if (header_ == nullptr) return false;
  if (!full_ && (folded_ != nullptr ? fold_window(false) : write_window())) return true;
  full_ = true;
  ++header_->lost;
  return false;
}

bool thread_log::append(int file, const void* from, std::size_t bytes) noexcept {
  if (!owner_.may_take(bytes)) {
    owner_.complain("LULL_TRACE_LIMIT is reached");
    return false;
  }
  const auto* const first = static_cast<const char*>(from);
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t written = ::write(file, first + at, bytes - at);
    if (written > 0) {
      at += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      owner_.complain(describe_errno(errno).c_str());
      return false;  // a part may have been written; it is not counted as saved
    }
  }
  return true;
}

bool thread_log::write_window() noexcept {
  const auto bytes = static_cast<std::size_t>(next_ - window_) * sizeof(record);
  if (!append(file_.get(), window_, bytes)) return false;
  // Keeps this order: if the process is killed in between, the window is empty, and all records after it count.
  next_ = window_;
  tell_next();
  std::atomic_ref(header_->saved).fetch_add(bytes / sizeof(record), std::memory_order_release);
  owner_.clocks_now_and_then();
  return true;
}

bool thread_log::fold_window(bool is_last) noexcept {
  try {
    const std::span<const record> window(window_, next_);
    const std::ptrdiff_t taken = folded_->take(window, owner_.logs_made_ > 1, is_last);
    if (taken < 0) return false;
    // Keeps this order: if the process is killed in between, no record counts twice.
    next_ = std::copy(window_ + taken, next_, window_);
    tell_next();
    folded_->next_window();
    owner_.clocks_now_and_then();
    return true;
  } catch (...) {
    owner_.complain("out of memory");
    return false;
  }
}

void thread_log::end() noexcept {
  if (header_ == nullptr) return;
  if (folded_ != nullptr) {
    // The records file goes when the other is whole.
    if (!full_ && (next_ == window_ || fold_window(true)) && folded_->finish()) ::unlink(path_.c_str());
  } else if (!full_ && next_ != window_) {
    write_window();
  }
  forget();
  file_.close();
  folded_file_.close();
}

void thread_log::forget() noexcept {
  folded_.reset();
  if (header_ != nullptr) ::munmap(header_, mapped_bytes_);
  next_ = end_ = window_ = nullptr;
  header_ = nullptr;
}

// --- the process ---

bool recorder::wanted() noexcept { return setting_is_set("LULL_TRACE"); }

recorder& recorder::of_process() {
  static recorder* const mine = [] {  // never destroyed: calls from destructors at exit still use it
    auto made = std::unique_ptr<recorder>(new recorder(setting_text("LULL_TRACE")));
    the_recorder = made.get();
    pthread_atfork([] { the_recorder->lock_.lock(); }, [] { the_recorder->lock_.unlock(); },
                   [] { the_recorder->stop_in_child(); });
    std::atexit([] { the_recorder->at_exit(); });
    return made.release();
  }();
  return *mine;
}

recorder::recorder(const std::string& folder) : left_(limit()), folds_(is_folded()) {
  const std::filesystem::path raw = std::filesystem::absolute(folder) / "raw";
  std::error_code failed;
  std::filesystem::create_directories(raw, failed);
  std::string host = host_name();
  if (host.empty()) host = "unknown";
  const std::string name = fmt::format("{}-{}", host, getpid());
  for (int number = 1; number < 1000; ++number) {  // another process with a reused number may have taken a name
    path_ = (raw / (number == 1 ? name : fmt::format("{}-{}", name, number))).string();
    definitions_ =
        descriptor(::open((path_ + ".definitions").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
    if (definitions_ || errno != EEXIST) break;
  }
  if (!definitions_) {
    complain(describe_errno(errno).c_str());
    off_ = true;
    return;
  }
  append(text_of({{"is", "process"},
                  {"version", raw_version},
                  {"host", host},
                  {"boot", first_line("/proc/sys/kernel/random/boot_id")},
                  {"pid", getpid()},
                  {"job", job_of_launcher()},  // distinguishes the jobs of a trace
                  {"program", program_name()}}));
  take_clocks();
}

thread_log& recorder::make_log() noexcept {
  static pthread_key_t at_end_of_thread;
  static const bool keyed = pthread_key_create(&at_end_of_thread, [](void* log) {
                              static_cast<thread_log*>(log)->end();
                              of_thread_ = nullptr;
                            }) == 0;
  static thread_log nothing(*this);  // accepts no records
  if (off_) return nothing;
  try {
    thread_log* mine = nullptr;
    std::size_t number = 0;
    {
      const std::scoped_lock lock(lock_);
      number = logs_.size();
      logs_.push_back(std::unique_ptr<thread_log>(new thread_log(*this)));
      mine = logs_.back().get();
      logs_made_ = logs_.size();
    }
    mine->open(fmt::format("{}.{}.records", path_, number));
    if (keyed) pthread_setspecific(at_end_of_thread, mine);
    of_thread_ = mine;
    return *mine;
  } catch (...) {
    complain("out of memory");
    return nothing;
  }
}

void recorder::append(const std::string& line) noexcept {
  if (off_) return;
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t written = ::write(definitions_.get(), line.data() + at, line.size() - at);
    if (written > 0) {
      at += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      complain(describe_errno(errno).c_str());
      return;
    }
  }
}

void recorder::complain(const char* found) noexcept {
  if (complained_.exchange(true)) return;
  std::array<char, 512> line{};
  const int length = std::snprintf(line.data(), line.size(),
                                   "lull: record the calls of process %d in %s: %s; later calls are only counted\n",
                                   static_cast<int>(getpid()), path_.c_str(), found);
  if (length > 0 &&
      ::write(STDERR_FILENO, line.data(), std::min(static_cast<std::size_t>(length), line.size() - 1)) < 0)
    errno = 0;
}

bool recorder::may_take(std::size_t bytes) noexcept {
  std::size_t left = left_.load(std::memory_order_relaxed);
  while (left >= bytes)
    if (left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
  return false;
}

void recorder::clocks_now_and_then() noexcept {
  std::int64_t before = clocks_taken_ns_.load(std::memory_order_relaxed);
  const std::int64_t now = now_ns();
  if (now - before > clocks_every_ns && clocks_taken_ns_.compare_exchange_strong(before, now)) take_clocks();
}

void recorder::at_exit() noexcept {
  if (off_) return;
  take_clocks();
  append("{\"is\":\"exit\"}\n");
}

void recorder::let_go_of_files() noexcept {
  off_ = true;
  for (const auto& log : logs_) {
    log->forget();
    log->file_.close();
    log->folded_file_.close();
  }
  definitions_.close();
}

void recorder::stop_in_child() noexcept {
  let_go_of_files();
  lock_.unlock();
}

void recorder::withdraw() noexcept {
  const std::scoped_lock lock(lock_);
  if (off_) return;
  let_go_of_files();
  for (std::size_t number = 0; number < logs_.size(); ++number)
    for (const char* const extension : {"records", "folded"})
      ::unlink(fmt::format("{}.{}.{}", path_, number, extension).c_str());
  ::unlink((path_ + ".definitions").c_str());
}

double recorder::ticks_per_ns() const noexcept {
  constexpr std::int64_t long_enough_ns = 1'000'000;
  std::int64_t now = now_ns();
  while (now - began_ns_ < long_enough_ns) now = now_ns();
  return static_cast<double>(ticks() - began_ticks_) / static_cast<double>(now - began_ns_);
}

// No exception reaches the program: a definition for which there is no memory is dropped.
void recorder::take_clocks() noexcept {
  try {
    clocks_taken_ns_ = now_ns();
    append(text_of(clocks()));
  } catch (...) {
    complain("out of memory");
  }
}

void recorder::define_regions(std::string_view paradigm, std::uint16_t first,
                              std::span<const std::string_view> names) noexcept {
  try {
    append(text_of({{"is", "regions"},
                    {"paradigm", paradigm},
                    {"first", first},
                    {"names", std::vector<std::string_view>(names.begin(), names.end())}}));
  } catch (...) {
    complain("out of memory");
  }
}

void recorder::define_process(int rank, int size, std::string_view paradigm, std::string_view library) noexcept {
  try {
    append(text_of({{"is", "rank"}, {"rank", rank}, {"size", size}, {"paradigm", paradigm}, {"library", library}}));
    take_clocks();
  } catch (...) {
    complain("out of memory");
  }
}

void recorder::define_communicator(std::uint16_t number, std::span<const int> members, std::string_view name,
                                   std::span<const int> remote) noexcept {
  try {
    json line{
        {"is", "communicator"}, {"ticks", ticks()}, {"number", number}, {"members", runs_of(members)}, {"name", name}};
    if (!remote.empty()) line["remote"] = runs_of(remote);
    append(text_of(line));
  } catch (...) {
    complain("out of memory");
  }
}

void recorder::name_communicator(std::uint16_t number, std::string_view name) noexcept {
  try {
    append(text_of({{"is", "communicator name"}, {"number", number}, {"name", name}}));
  } catch (...) {
    complain("out of memory");
  }
}

void recorder::define_window(std::uint16_t number, std::uint16_t communicator, std::string_view name) noexcept {
  try {
    append(text_of(
        {{"is", "window"}, {"ticks", ticks()}, {"number", number}, {"communicator", communicator}, {"name", name}}));
  } catch (...) {
    complain("out of memory");
  }
}

void recorder::close() noexcept {
  if (off_) return;
  take_clocks();
  append("{\"is\":\"end\"}\n");
  off_ = true;
  // Other threads may still use their logs: these stay mapped, and their unused part zero.
  if (of_thread_ != nullptr) of_thread_->end();
}

}  // namespace lull::trace
