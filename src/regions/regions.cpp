// lull/meter.h: keeps the regions and metrics of this process and writes them as one JSON file, which appears when it
// is complete.
//
//   {"schema": 2, "node": host, "pid": n, "pe": the launcher's number or null, "begun": visits, "ended": visits,
//    "regions": [{"name", "begin_ns", "end_ns", "cpu_ns"}],
//    "metrics": [{"name", "value", "unit", "combination": "sum" | "mean" | "min" | "max"}]}
//
// The recorder is made at the first call and never destroyed, so that calls from destructors at exit still find it. It
// is made only if LULL_RECORD is set; otherwise `the_recorder` stays null, and every call ends after one atomic load.
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/launcher.hpp"
#include "base/settings.hpp"
#include "lull/meter.h"
#include "regions/record_folder.hpp"
#include "regions/visit_counts.hpp"
#include "trace/recording/recorder.hpp"

namespace lull::regions {
namespace {

struct visit {
  std::string name;
  std::thread::id thread;
  std::int64_t begin_ns, begin_cpu_ns;
  std::int64_t end_ns = 0, cpu_ns = 0;

  void end_now() {
    end_ns = now_ns();
    cpu_ns = process_cpu_ns() - begin_cpu_ns;
  }
};

struct metric {
  std::string name;
  double value;
  std::string unit;
  std::string_view combination;  // a literal
};

std::optional<int> whole_number(std::string_view digits) {
  int number = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (status != std::errc{} || end != digits.data() + digits.size() || number < 0) return std::nullopt;
  return number;
}

// The number that a launcher gave this process, if one started it.
nlohmann::json pe_number() {
  const char* const rank = rank_of_launcher();
  const auto number = rank != nullptr ? whole_number(rank) : std::nullopt;
  return number ? nlohmann::json(*number) : nlohmann::json();
}

class recorder {
 public:
  explicit recorder(std::string folder) : folder_(std::move(folder)), counts_(folder_) {}

  void begin(const char* name) {
    const std::scoped_lock lock(lock_);
    counts_.begun();
    open_.push_back(
        {.name = name, .thread = std::this_thread::get_id(), .begin_ns = now_ns(), .begin_cpu_ns = process_cpu_ns()});
  }

  // False when `name` is not the innermost region of this thread.
  bool end(const char* name) {
    const std::scoped_lock lock(lock_);
    const auto innermost = std::find_if(open_.rbegin(), open_.rend(),
                                        [](const visit& v) { return v.thread == std::this_thread::get_id(); });
    if (innermost == open_.rend() || innermost->name != name) return false;
    innermost->end_now();
    counts_.ended();
    done_.push_back(std::move(*innermost));
    open_.erase(std::next(innermost).base());
    return true;
  }

  // False when `next` has another unit or combination than an earlier report of its name.
  bool report(metric next) {
    const std::scoped_lock lock(lock_);
    const auto known = std::ranges::find(metrics_, next.name, &metric::name);
    if (known == metrics_.end()) {
      metrics_.push_back(std::move(next));
      return true;
    }
    if (known->unit != next.unit || known->combination != next.combination) return false;
    known->value = next.value;
    return true;
  }

  // 0 or errno.
  int write(bool is_last) {
    const std::scoped_lock lock(lock_);
    nlohmann::ordered_json regions = nlohmann::json::array();
    const auto add = [&](const visit& v) {
      regions.push_back({{"name", v.name}, {"begin_ns", v.begin_ns}, {"end_ns", v.end_ns}, {"cpu_ns", v.cpu_ns}});
    };
    for (const visit& v : done_) add(v);
    for (visit v : open_) {
      v.end_now();
      add(v);
    }
    nlohmann::ordered_json metrics = nlohmann::json::array();
    for (const metric& m : metrics_)
      metrics.push_back({{"name", m.name}, {"value", m.value}, {"unit", m.unit}, {"combination", m.combination}});
    const nlohmann::ordered_json file{{"schema", 2},
                                      {"node", host_of_record()},
                                      {"pid", getpid()},
                                      {"pe", pe_number()},
                                      {"begun", counts_.all_begun()},
                                      {"ended", counts_.all_ended()},
                                      {"regions", regions},
                                      {"metrics", metrics}};
    const int error =
        leave(folder_, "regions", file.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    if (error == 0 && (is_last || open_.empty())) counts_.remove();
    return error;
  }

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::mutex& lock() { return lock_; }

 private:
  const std::string folder_;
  std::mutex lock_;
  visit_counts counts_;
  std::vector<visit> open_, done_;
  std::vector<metric> metrics_;
};

std::atomic<recorder*> the_recorder = nullptr;  // owns; never freed in the process that made it
std::atomic<bool> looked = false;               // whether LULL_RECORD has been read in this process
std::mutex making;

void write_at_exit() {
  recorder* const mine = the_recorder.load();
  if (mine == nullptr) return;
  try {
    if (const int error = mine->write(true))
      fmt::print(stderr, "lull: write the regions into {}: {}; set LULL_RECORD to a folder that exists\n",
                 mine->folder(), describe_errno(error));
  } catch (...) {
    std::fputs("lull: write the regions: out of memory\n", stderr);
  }
}

// A child has its parent's memory but is another process: it starts with a new recorder. Both locks are held across the
// fork, so that the child does not find a half-finished change of a thread that does not exist in it.
void before_fork() {
  making.lock();
  if (recorder* const mine = the_recorder.load()) mine->lock().lock();
}

void after_fork() {
  if (recorder* const mine = the_recorder.load()) mine->lock().unlock();
  making.unlock();
}

void after_fork_in_child() {
  after_fork();
  const std::unique_ptr<recorder> of_parent(the_recorder.exchange(nullptr));
  looked = false;
}

recorder* find_recorder() {
  if (looked.load(std::memory_order_acquire)) return the_recorder.load(std::memory_order_acquire);
  const std::scoped_lock lock(making);
  if (looked.load()) return the_recorder.load();
  static const bool registered = [] {
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
    return std::atexit(write_at_exit) == 0;
  }();
  (void)registered;
  if (const std::string folder = setting_text("LULL_RECORD"); !folder.empty())
    the_recorder.store(std::make_unique<recorder>(std::filesystem::absolute(folder)).release(),
                       std::memory_order_release);
  looked.store(true, std::memory_order_release);
  return the_recorder.load();
}

// Under LULL_TRACE, regions are in the trace of this thread, too.
class regions_in_trace {
 public:
  void put(const char* name, trace::kind what) noexcept {
    if (!wanted_) return;
    try {
      trace::recorder::of_process().log().put({.begin = ticks(), .region = number(name), .what = what});
    } catch (...) {  // out of memory: the region is not in the trace
    }
  }

 private:
  std::uint16_t number(const std::string& name) {
    const std::scoped_lock lock(lock_);
    const auto next = static_cast<std::uint16_t>(trace::first_user_region + numbers_.size());
    const auto [found, is_new] = numbers_.try_emplace(name, next);
    if (is_new) trace::recorder::of_process().define_regions("user", next, std::array{std::string_view(found->first)});
    return found->second;
  }

  const bool wanted_ = trace::recorder::wanted();
  std::mutex lock_;
  std::unordered_map<std::string, std::uint16_t> numbers_;
};

regions_in_trace& in_trace() {
  static auto& mine = *std::make_unique<regions_in_trace>().release();  // still usable by destructors at exit
  return mine;
}

// Runs `act` on the recorder, if there is one. No exception reaches a C program.
template <class Act>
int guarded(Act act) noexcept {
  try {
    recorder* const mine = find_recorder();
    return mine != nullptr ? act(*mine) : LULL_METER_OK;
  } catch (...) {
    return LULL_METER_NO_MEMORY;
  }
}

bool good_name(const char* name) { return name != nullptr && *name != '\0'; }

int report(const char* name, double value, const char* unit, std::string_view combination) {
  if (!good_name(name)) return LULL_METER_BAD_NAME;
  if (!std::isfinite(value)) return LULL_METER_BAD_VALUE;
  return guarded([&](recorder& r) {
    return r.report({name, value, unit != nullptr ? unit : "", combination}) ? LULL_METER_OK : LULL_METER_CONFLICT;
  });
}

}  // namespace
}  // namespace lull::regions

using lull::regions::good_name;
using lull::regions::guarded;
using lull::regions::in_trace;
using lull::regions::recorder;

int lull_region_begin(const char* name) {
  if (!good_name(name)) return LULL_METER_BAD_NAME;
  in_trace().put(name, lull::trace::kind::region_enter);
  return guarded([&](recorder& r) {
    r.begin(name);
    return LULL_METER_OK;
  });
}

int lull_region_end(const char* name) {
  if (!good_name(name)) return LULL_METER_BAD_NAME;
  in_trace().put(name, lull::trace::kind::region_leave);
  return guarded([&](recorder& r) { return r.end(name) ? LULL_METER_OK : LULL_METER_NOT_INNERMOST; });
}

int lull_metric_sum(const char* name, double value, const char* unit) {
  return lull::regions::report(name, value, unit, "sum");
}

int lull_metric_mean(const char* name, double value, const char* unit) {
  return lull::regions::report(name, value, unit, "mean");
}

int lull_metric_min(const char* name, double value, const char* unit) {
  return lull::regions::report(name, value, unit, "min");
}

int lull_metric_max(const char* name, double value, const char* unit) {
  return lull::regions::report(name, value, unit, "max");
}

int lull_region_flush(void) {
  return guarded([](recorder& r) {
    const int error = r.write(false);
    errno = error != 0 ? error : errno;
    return error == 0 ? LULL_METER_OK : LULL_METER_NOT_WRITTEN;
  });
}

const char* lull_meter_strerror(int code) {
  switch (code) {
    case LULL_METER_OK:
      return "no error";
    case LULL_METER_BAD_NAME:
      return "the name is NULL or empty";
    case LULL_METER_BAD_VALUE:
      return "the value is infinite or not a number";
    case LULL_METER_NOT_INNERMOST:
      return "the innermost region open in this thread has another name, or there is none";
    case LULL_METER_NOT_WRITTEN:
      return "the file of regions could not be written into the folder LULL_RECORD";
    case LULL_METER_NO_MEMORY:
      return "out of memory";
    case LULL_METER_CONFLICT:
      return "the metric was reported before with another unit, or combined in another way";
    default:
      return "unknown code of lull/meter.h";
  }
}
