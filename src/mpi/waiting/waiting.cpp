#include "mpi/waiting.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/launcher.hpp"
#include "base/settings.hpp"
#include "base/ticks.hpp"
#include "base/topology.hpp"
#include "model/machine/machine_file.hpp"
#include "mpi/waiting/call_sites.hpp"
#include "mpi/waiting/epochs.hpp"
#include "mpi/waiting/idle_loop.hpp"
#include "mpi/waiting/openmpi.h"
#include "mpi/waiting/report.hpp"
#include "regions/record_folder.hpp"

namespace lull::mpi {

constinit thread_local call_under_way this_call;
scope_duty duty_of_scopes = scope_duty::nothing;

namespace {

// The longest single sleep. Open MPI itself checks for new connections a hundred times a second.
constexpr std::int64_t longest_sleep_ns = 10'000'000;
// What counts as a wait if the library's idle loop is unchanged, so that looks are not counted.
constexpr std::int64_t shortest_wait_ns = 5'000;
// A poll() of the library counts as this many looks, since a system call takes that long.
constexpr std::uint32_t looks_in_a_poll = 15;
// Consecutive tests within this time count as one poll: a program that computes in between takes longer.
constexpr double most_between_ns = 250;
// Sleeps that were refused for a shorter time are not reported: the other ranks may only have joined later.
constexpr std::int64_t long_enough_to_come_ns = 2'000'000'000;

// Maps the endpoint of a message in shared memory to the receiver's bell. Called for each fragment that is sent, by any
// thread: a load and a comparison, some nanoseconds.
class receivers {
 public:
  // -1: its bell is not known yet.
  int bell_of(const void* endpoint, const node_bells& bells) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(endpoint);
    std::atomic<std::uint64_t>& entry = entries_[address / 64 % entries_.size()];
    const std::uint64_t known = entry.load(std::memory_order_relaxed);
    if (known >> bits_of_bell == address) return static_cast<int>(known & most_bells);
    const int rank = lull_openmpi_rank_of(endpoint);
    const int bell = rank < 0 ? -1 : bells.index_of(rank);
    // An address that does not fit next to a bell is looked up every time.
    if (bell >= 0 && bell <= most_bells && address >> (64 - bits_of_bell) == 0)
      entry.store(address << bits_of_bell | static_cast<std::uint64_t>(bell), std::memory_order_relaxed);
    return bell;
  }

 private:
  static constexpr unsigned bits_of_bell = 16;
  static constexpr int most_bells = (1 << bits_of_bell) - 1;
  std::array<std::atomic<std::uint64_t>, 1024> entries_{};  // address and bell in one word
};

// Lives from start_waiting() to the end of the process, because threads may be using it at any time.
struct attached {
  waiting_process process;
  receivers to;
  call_sites sites;
  replace_function replace = nullptr;
  int rank = 0;
  bool counted = false;  // LULL_STATS
  bool engaged = false;
  std::optional<epochs> comparison;
  std::int64_t begin_ns = 0, cpu_begin_ns = 0;
  std::uint64_t begin_ticks = 0;

  [[nodiscard]] double ticks_per_ns() const noexcept {
    return static_cast<double>(ticks() - begin_ticks) /
           static_cast<double>(std::max<std::int64_t>(now_ns() - begin_ns, 1));
  }
};
attached* here = nullptr;

struct counted_call {
  std::int64_t begin_ns, cpu_begin_ns;
};
constinit thread_local counted_call this_counted_call{};
constinit thread_local bool compares = false;  // this thread switches the waiting method, epoch by epoch

idle_loop& loop_of_thread() {
  // A pointer, because a library that is loaded late gets only some bytes of static thread-local storage.
  thread_local std::unique_ptr<idle_loop> loop;
  if (!loop) loop = std::make_unique<idle_loop>(here->process);
  return *loop;  // NOLINT(clang-analyzer-cplusplus.NewDelete): it takes the variable for one of this call
}

// The functions in the front's slots.

void progress_instead() {
  call_under_way& call = this_call;
  waiting_process& process = here->process;
  if (call.looking) return process.progress();  // a call from within progress
  if (!call.active) {
    look(process, call);
  } else if (call.looks < process.looks_before_waiting) {
    ++call.looks;
    look(process, call);
  } else {
    loop_of_thread().look_again(call);
  }
}

// Open MPI yields the core if its progress has found nothing to do, which this detects.
int yield_instead() {
  call_under_way& call = this_call;
  waiting_process& process = here->process;
  if (!call.looking) return process.yield();
  call.idle = true;
  return call.active || !process.library_yields ? 0 : process.yield();
}

int poll_instead(pollfd* fds, nfds_t count, int timeout) {
  waiting_process& process = here->process;
  const int ready = process.poll(fds, count, timeout);
  call_under_way& call = this_call;
  if (!call.looking || timeout != 0) return ready;
  const int problem = errno;
  if (!call.waited) call.looks += looks_in_a_poll;
  call.polled = true;
  if (ready > 0) call.descriptors_ready = true;
  if (call.copy_descriptors) process.descriptors.assign(fds, fds + count);
  errno = problem;
  return ready;
}

void engage(bool with_policy) {
  const waiting_process& process = here->process;
  if (with_policy == here->engaged) return;
  here->engaged = with_policy;
  const auto slot = [&](const char* name, auto ours, auto theirs) {
    here->replace(name, with_policy ? reinterpret_cast<void (*)()>(ours) : reinterpret_cast<void (*)()>(theirs));
  };
  slot("opal_progress", progress_instead, process.progress);
  slot("sched_yield", yield_instead, process.yield);
  slot("poll", poll_instead, process.poll);
  lull_openmpi_yield_when_idle(with_policy || process.library_yields);
}

// Called for messages.

void message_sent(const void* endpoint) {
  node_bells& bells = *here->process.bells;
  const int receiver = here->to.bell_of(endpoint, bells);
  if (receiver >= 0) return bells.ring(receiver);
  for (int i = 0; i < bells.ranks_of_node(); ++i) bells.ring(i);  // the receiver is one of them
}
void fragment_sent(const void* endpoint) {
  node_bells& bells = *here->process.bells;
  const int receiver = here->to.bell_of(endpoint, bells);
  if (receiver >= 0) bells.sent_to(receiver);
}
void message_sent_to_self() {
  if (here->process.several_threads) here->process.bells->ring_me();
}

std::string name_of_job_on_this_node() {
  const auto text = [](const char* value) { return std::string(value != nullptr ? value : ""); };
  // One process serves all processes of a job on a node; its address distinguishes nodes, even those that share a
  // kernel.
  std::string id = text(job_of_pmix()) + '@' + text(server_of_pmix());
  if (id.size() == 1) id = std::to_string(getpid());  // started without a launcher
  return fmt::format("/lull-mpi-{}-{:016x}", getuid(), std::hash<std::string>{}(id));
}

template <class F>
bool find_in_libc(const char* name, F& function) {
  void* const libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  function = libc != nullptr ? reinterpret_cast<F>(dlsym(libc, name)) : nullptr;
  return function != nullptr;
}

double ticks_per_ns_now() {
  const std::uint64_t ticks_before = ticks();
  const std::int64_t ns_before = now_ns();
  usleep(5'000);
  return static_cast<double>(ticks() - ticks_before) / static_cast<double>(now_ns() - ns_before);
}

void say(const std::string& line) { std::fprintf(stderr, "lull: %s\n", line.c_str()); }

wait::wait_policy policy_asked() {
  return wait::wait_policy_named(setting_text("LULL_WAIT")).value_or(wait::wait_policy::poll);
}

// Null: this process waits as its library does.
std::unique_ptr<attached> attach(void* library, replace_function replace) {
  const auto policy = policy_asked();
  auto made = std::make_unique<attached>();
  made->counted = setting_text("LULL_STATS") != "0";
  lull_openmpi library_found{};
  const char* const why = lull_openmpi_open(&library_found, library);
  made->rank = library_found.rank;
  const bool is_reporter = why != nullptr ? lull::is_reporter() : made->rank == 0;
  const auto declined = [&](const std::string& found) {
    if (policy == wait::wait_policy::poll && made->counted && is_reporter)
      say(fmt::format("count waits by LULL_STATS: {}; nothing is counted", found));
    if (policy != wait::wait_policy::poll && is_reporter)
      say(fmt::format("wait by LULL_WAIT={}: {}; the program continues with the library's own waiting",
                      wait::wait_policy_names[static_cast<std::size_t>(policy)], found));
    return nullptr;
  };
  if (why != nullptr) return declined(why);

  waiting_process& process = made->process;
  process.policy = policy;
  if (!model::choosers_correct()) process.history.keep_nothing();
  process.limits = {.spin_ns = setting_integer("LULL_WAIT_SPIN_US") * 1000,
                    .yields = static_cast<int>(setting_integer("LULL_WAIT_YIELDS")),
                    .timeout_ns = std::min(setting_integer("LULL_WAIT_TIMEOUT_MS") * 1'000'000, longest_sleep_ns),
                    .oversubscribed = library_found.yields,
                    .threshold = setting_size("LULL_WAIT_THRESHOLD")};
  if (library_found.yields) process.looks_before_waiting = 0;
  process.progress = library_found.progress;
  process.library_yields = library_found.yields;
  process.several_threads = library_found.several_threads;
  process.detailed = made->counted;
  if (!find_in_libc("sched_yield", process.yield) || !find_in_libc("poll", process.poll))
    return declined("this C library is not supported");
  process.bells = node_bells::join(name_of_job_on_this_node(), library_found.rank, library_found.ranks_of_node);
  if (!process.bells) return declined("shared memory for wake-ups: " + describe_errno(errno));
  process.somebody = process.bells->somebody();
  made->replace = replace;
  if (wait::lowers_frequency(policy)) {
    auto attempt = wait::core_frequency::make(setting_text("LULL_SYSROOT"), allowed_cores());
    process.frequency = std::move(attempt.frequency);
    if (!process.frequency && is_reporter)
      say("lower the frequency while waiting: " + attempt.problem + "; continuing without");
  }
  made->begin_ns = now_ns();
  made->begin_ticks = ticks();
  made->cpu_begin_ns = process_cpu_ns();
  if (const std::int64_t ms = setting_integer("LULL_MPI_COMPARE"); ms > 0 && policy != wait::wait_policy::poll)
    made->comparison.emplace(
        static_cast<unsigned>(std::lround(std::log2(static_cast<double>(ms) * 1e6 * ticks_per_ns_now()))));
  return made;
}

// For each kind of epoch: the number of epochs, their calls, seconds, CPU seconds, and the median and 90th percentile
// of calls per second.
void report_comparison(const epochs& of, std::string_view policy, int rank, double ticks_per_s) {
  const wait::wait_counts all = here->process.totals.totals();
  const auto in_json = [&](const epochs::sums& sums) {
    std::vector<float> rates = sums.calls_per_tick;
    std::ranges::sort(rates);
    const auto rate = [&](std::size_t percent) {
      return rates.empty() ? 0.0 : static_cast<double>(rates[rates.size() * percent / 100]) * ticks_per_s;
    };
    return nlohmann::ordered_json{{"epochs", sums.epochs},
                                  {"calls", sums.calls},
                                  {"seconds", sums.ticks / ticks_per_s},
                                  {"cpu_s", static_cast<double>(sums.cpu_ns) * 1e-9},
                                  {"median_calls_per_s", rate(50)},
                                  {"p90_calls_per_s", rate(90)}};
  };
  const nlohmann::ordered_json file{{"schema", 1},
                                    {"rank", rank},
                                    {"policy", policy},
                                    {"with", in_json(of.with_policy())},
                                    {"without", in_json(of.without())},
                                    {"waits", all.waits},
                                    {"sleeps", all.sleeps},
                                    {"missed", all.missed}};
  const std::string folder = setting_text("LULL_RECORD");
  const int error = folder.empty() ? 0 : regions::leave(folder, "comparison", file.dump() + "\n");
  if (error != 0) say(fmt::format("write a comparison into {}: {}", folder, describe_errno(error)));
  if (folder.empty()) say(fmt::format("rank {}: {}", rank, file.dump()));
}

}  // namespace

void wait_scope::begin_counted(call_under_way& call) noexcept {
  if (here->comparison && compares) {
    const std::uint64_t now = ticks();
    if (here->comparison->another_epoch(now)) engage(here->comparison->began({now, process_cpu_ns()}));
  }
  if (!here->counted) return;
  here->sites.called(call.function, call.site);
  if (here->engaged) return;
  this_counted_call = {now_ns(), thread_cpu_ns()};
  call.waited = true;
}

void wait_scope::end_waited(call_under_way& call) noexcept {
  wait::wait_counts counts;
  if (here->engaged) {
    counts = loop_of_thread().over(call);
  } else {
    call.waited = false;
    counts.ns_waited = now_ns() - this_counted_call.begin_ns;
    if (counts.ns_waited < shortest_wait_ns) return;
    counts.waits = 1;
    counts.ns_cpu = thread_cpu_ns() - this_counted_call.cpu_begin_ns;
  }
  if (here->counted) here->sites.waited(call.function, call.site, counts);
}

namespace {

// A thread's unsuccessful queries, by call site; added to the process's when another site takes the entry, and at the
// end. Consecutive calls count as one poll, including the time between them.
class polls_of_thread {
 public:
  ~polls_of_thread() { leave(); }

  void count(const char* function, const void* site, std::uint64_t begin, bool found_nothing) noexcept {
    const std::uint64_t now = ticks();
    entry& of = entries_[(reinterpret_cast<std::uintptr_t>(site) >> 2U) % entries_.size()];
    if (of.function != function || of.site != site) {
      leave(of);
      of = {function, site};
    }
    ++of.calls;
    if (found_nothing) {
      const std::uint64_t most_between =
          std::max(now - begin, static_cast<std::uint64_t>(most_between_ns * here->ticks_per_ns()));
      of.ticks += now - (begin - last_ <= most_between ? last_ : begin);
      last_ = now;
    }
  }
  void leave() noexcept {
    for (entry& one : entries_) leave(one);
  }

 private:
  struct entry {
    const char* function = nullptr;
    const void* site = nullptr;
    std::uint64_t calls = 0, ticks = 0;
  };
  static void leave(entry& of) noexcept {
    if (of.function == nullptr) return;
    wait::wait_counts counts;
    counts.operations = of.calls;
    counts.ns_waited = counts.ns_cpu = static_cast<std::int64_t>(static_cast<double>(of.ticks) / here->ticks_per_ns());
    here->sites.waited(of.function, of.site, counts);
    of = {};
  }

  std::array<entry, 16> entries_{};
  std::uint64_t last_ = 0;  // when the last unsuccessful call ended
};

polls_of_thread& polls() {
  thread_local std::unique_ptr<polls_of_thread> mine;
  if (!mine) mine = std::make_unique<polls_of_thread>();
  return *mine;  // NOLINT(clang-analyzer-cplusplus.NewDelete): as loop_of_thread()
}

}  // namespace

void poll_scope::count(bool found_nothing) const noexcept { polls().count(function_, site_, begin_, found_nothing); }

bool waiting_wanted() {
  return setting_is_set("LULL_WAIT") &&
         (policy_asked() != wait::wait_policy::poll || setting_text("LULL_STATS") != "0");
}

void start_waiting(void* library, replace_function replace) noexcept try {
  if (here != nullptr || !setting_is_set("LULL_WAIT")) return;
  here = attach(library, replace).release();
  if (here == nullptr) return;
  const bool by_policy = here->process.policy != wait::wait_policy::poll;
  if (by_policy) {
    lull_openmpi_tell_of_sends(here->process.somebody, message_sent, fragment_sent, message_sent_to_self);
    here->process.bells->will_ring();
    if (!here->comparison) engage(true);
  }
  compares = here->comparison.has_value();
  if (by_policy || here->counted)
    duty_of_scopes = here->comparison || here->counted ? scope_duty::mark_and_count : scope_duty::mark;
} catch (const std::exception& error) {
  say(error.what());
}

void end_waiting() noexcept try {
  if (here == nullptr) return;
  const auto policy = wait::wait_policy_names[static_cast<std::size_t>(here->process.policy)];
  here->process.bells->remove_name();
  if (here->process.bells->missed()) here->process.totals.waited({}, {.missed = 1});
  if (here->process.last_refused_ns - here->process.first_refused_ns > long_enough_to_come_ns &&
      !here->process.bells->complete())
    say(fmt::format("rank {} did not sleep: of {} ranks on its node {} wait by a policy; set LULL_WAIT for all of them",
                    here->rank, here->process.bells->ranks_of_node(), here->process.bells->ranks_here()));
  if (here->comparison) report_comparison(*here->comparison, policy, here->rank, ticks_per_ns_now() * 1e9);
  if (!here->counted) return;
  polls().leave();
  rank_times times{.ns_wall = now_ns() - here->begin_ns, .ns_cpu = process_cpu_ns() - here->cpu_begin_ns};
  if (const auto* const frequency = here->process.frequency.get()) {
    times.frequency_changes = frequency->changes();
    times.ns_changing_frequency = frequency->ns_changing();
  }
  report_waiting(*here->process.bells, policy, here->rank, times, here->sites, setting_text("LULL_STATS") == "pe");
} catch (const std::exception& error) {
  say(error.what());
}

}  // namespace lull::mpi
