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
#include "mpi/waiting/engine.hpp"
#include "mpi/waiting/epochs.hpp"
#include "mpi/waiting/idle_loop.hpp"
#include "mpi/waiting/loop_probe.hpp"
#include "mpi/waiting/networks/network.hpp"
#include "mpi/waiting/node_of_job.hpp"
#include "mpi/waiting/port.hpp"
#include "mpi/waiting/report.hpp"
#include "regions/record_folder.hpp"

namespace lull::mpi {

constinit thread_local call_under_way this_call;
scope_duty duty_of_scopes = scope_duty::nothing;
std::uint32_t first_beat = 1;

namespace {
constexpr std::uint32_t no_sleepers = 0;
}
const std::uint32_t* sleepers_to_ring = &no_sleepers;
const std::uint32_t* sleepers_of_node = &no_sleepers;

namespace {

// The longest single sleep. Open MPI itself checks for new connections a hundred times a second.
constexpr std::int64_t longest_sleep_ns = 10'000'000;
// What counts as a wait if the library's idle loop is unchanged, so that looks are not counted.
constexpr std::int64_t shortest_wait_ns = 5'000;
// Consecutive tests within this time count as one poll: a program that computes in between takes longer.
constexpr double most_between_ns = 250;
// A call that takes longer and finds nothing has lost its core: the rest is no CPU time.
constexpr double most_of_a_poll_ns = 50'000;
// Sleeps that were refused for a shorter time are not reported: the other ranks may only have joined later.
constexpr std::int64_t long_enough_to_come_ns = 2'000'000'000;

// Lives from start_waiting() to the end of the process, because threads may be using it at any time.
struct attached {
  waiting_process process;
  call_sites sites;
  loop_probe probe;
  std::string library;  // name and version
  int rank = 0;
  bool counted = false;         // LULL_STATS
  bool waits_in_loops = false;  // LULL_MPI_LOOPS
  bool engaged = false;
  std::optional<epochs> comparison;
  std::int64_t begin_ns = 0, cpu_begin_ns = 0;
  std::uint64_t begin_ticks = 0;

  [[nodiscard]] bool probes_loop() const noexcept { return !comparison && probe.is_open(); }
  [[nodiscard]] double ticks_per_ns() const noexcept {
    return static_cast<double>(ticks() - begin_ticks) /
           static_cast<double>(std::max<std::int64_t>(now_ns() - begin_ns, 1));
  }
};
attached* here = nullptr;

// The program's loop of queries in which this thread is, if policies apply to such loops.
struct own_loop {
  const char* function = nullptr;  // null: none
  const void* site = nullptr;
  std::uint64_t last = 0;   // when its last query ended
  std::uint32_t turns = 0;  // before this query
};
constinit thread_local own_loop own_loop_here{};

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

void engage(bool by_policy) {
  if (by_policy == here->engaged) return;
  here->engaged = by_policy;
  here->process.through->engage(by_policy);
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

// The name and version, without how the library was configured.
std::string name_in(const char* text) {
  const std::string_view all = text;
  std::string line(all.substr(0, std::min(all.find_first_of(",\n"), std::size_t{60})));
  std::ranges::replace(line, '\t', ' ');
  return line;
}

// An empty text, or why this process waits as its library does.
std::string find_way(waiting_process& process, const library_of_waiting& library) {
  const auto found = std::ranges::find_if(all_ports(), [&](const port* one) { return one->is_for(library); });
  std::string why = (*found)->open(library, process.facts);
  if (why.empty()) process.through = *found;
  return why;
}

// Null: this process waits as its library does.
std::unique_ptr<attached> attach(const library_of_waiting& library) {
  const auto policy = policy_asked();
  const bool by_policy = policy != wait::wait_policy::poll;
  auto made = std::make_unique<attached>();
  made->counted = setting_text("LULL_STATS") != "0";
  made->waits_in_loops = by_policy && setting_text("LULL_MPI_LOOPS") != "none";
  made->rank = library.rank;
  made->library = name_in(library.version);
  const auto declined = [&](const std::string& found) {
    if (!by_policy && made->counted && library.rank == 0)
      say(fmt::format("count waits by LULL_STATS: {}; nothing is counted", found));
    if (by_policy && library.rank == 0)
      say(fmt::format("wait by LULL_WAIT={}: {}; the program continues with the library's own waiting",
                      wait::wait_policy_names[static_cast<std::size_t>(policy)], found));
    return nullptr;
  };

  waiting_process& process = made->process;
  process.policy = policy;
  if (by_policy)
    if (const std::string why = find_way(process, library); !why.empty()) return declined(why);
  if (!model::choosers_correct()) process.history.keep_nothing();
  process.limits = {.spin_ns = setting_integer("LULL_WAIT_SPIN_US") * 1000,
                    .yields = static_cast<int>(setting_integer("LULL_WAIT_YIELDS")),
                    .timeout_ns = std::min(setting_integer("LULL_WAIT_TIMEOUT_MS") * 1'000'000, longest_sleep_ns),
                    .oversubscribed = process.facts.library_yields,
                    .threshold = setting_size("LULL_WAIT_THRESHOLD")};
  process.several_threads = library.several_threads;
  process.has_other_jobs = library.spawned;
  process.detailed = made->counted;
  node_of_job node = find_node_of_job(library.rank, library.ranks);
  if (process.facts.ranks_of_node > 0) node.ranks = process.facts.ranks_of_node;
  if (node.ranks <= 0 || node.ranks > library.ranks)
    return declined(
        "the launcher does not say how many ranks share a node (OMPI_COMM_WORLD_LOCAL_SIZE, MPI_LOCALNRANKS, "
        "PALS_LOCAL_SIZE, JSM_NAMESPACE_LOCAL_SIZE, SLURM_STEP_TASKS_PER_NODE, or FLUX_JOB_NNODES if it is 1)");
  process.spans_nodes = library.ranks > node.ranks;
  process.bells = node_bells::join(node.name, library.rank, node.ranks);
  if (!process.bells) return declined("shared memory for wake-ups: " + describe_errno(errno));
  if (wait::lowers_frequency(policy)) {
    auto attempt = wait::core_frequency::make(setting_text("LULL_SYSROOT"), allowed_cores());
    process.frequency = std::move(attempt.frequency);
    if (!process.frequency && library.rank == 0)
      say("lower the frequency while waiting: " + attempt.problem + "; continuing without");
  }
  made->begin_ns = now_ns();
  made->begin_ticks = ticks();
  made->cpu_begin_ns = process_cpu_ns();
  if (const std::int64_t ms = setting_integer("LULL_MPI_COMPARE"); ms > 0 && by_policy)
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

// The program has left that loop, or found something in it. Afterwards, the thread is in no call.
void leave_own_loop(call_under_way& call, bool found) noexcept {
  const own_loop left = std::exchange(own_loop_here, {});
  if (left.function == nullptr) return;
  call.active = call.own_loop = false;
  wait::wait_counts counts = loop_of_thread().over(call, found);
  counts.ns_waited = counts.ns_cpu = 0;  // that of the queries is counted already
  if (here->counted && counts.waits != 0) here->sites.waited(left.function, left.site, counts);
}

// Consecutive queries: a program that does something in between takes longer.
bool follows(std::uint64_t begin, std::uint64_t last_end) noexcept {
  return begin - last_end <= static_cast<std::uint64_t>(most_between_ns * here->ticks_per_ns());
}

}  // namespace

void wait_scope::begin_counted(call_under_way& call) noexcept {
  if (own_loop_here.function != nullptr) {
    leave_own_loop(call, false);
    call.beats = 0;
  }
  if (here->comparison && compares) {
    const std::uint64_t now = ticks();
    if (here->comparison->another_epoch(now)) engage(here->comparison->began({now, process_cpu_ns()}));
  }
  if (here->counted) here->sites.called(call.function, call.site);
  if (here->engaged ? !here->probes_loop() : !here->counted) return;
  this_counted_call = {now_ns(), thread_cpu_ns()};
  call.waited = true;  // so that its end is noticed
}

namespace {

// No thread sleeps in such a loop: the library waits as without Lull.
void say_that_loop_is_silent(const char* function, std::int64_t cpu_ns) noexcept try {
  if (!here->process.bells->first_to_say()) return;
  say(fmt::format(
      "wait by LULL_WAIT={}: the waiting loop of {} calls nothing that Lull sees (in eight calls such as {}, "
      "which used its core for {:.1f} ms); there the program waits as without Lull",
      wait::wait_policy_names[static_cast<std::size_t>(here->process.policy)], here->library, function,
      static_cast<double>(cpu_ns) * 1e-6));
} catch (const std::exception& error) {
  say(error.what());
}

void look_at_loop(const call_under_way& call) noexcept {
  const std::int64_t cpu_ns = thread_cpu_ns() - this_counted_call.cpu_begin_ns;
  if (here->probe.is_silent_after(call.function, call.size, cpu_ns, std::uint64_t{call.beats} + call.came))
    say_that_loop_is_silent(call.function, cpu_ns);
  if (!here->probe.is_open() && !here->counted && !here->waits_in_loops) duty_of_scopes = scope_duty::mark;
}

}  // namespace

void wait_scope::end_waited(call_under_way& call) noexcept {
  wait::wait_counts counts;
  if (here->engaged || loop_of_thread().is_in_a_call()) {
    counts = loop_of_thread().over(call);
    if (here->engaged && here->probes_loop()) look_at_loop(call);
    if (counts.waits == 0) return;
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
      const double per_ns = here->ticks_per_ns();
      const std::uint64_t most_between = std::max(now - begin, static_cast<std::uint64_t>(most_between_ns * per_ns));
      const std::uint64_t took = now - (begin - last_ <= most_between ? last_ : begin);
      of.ticks += took;
      of.ticks_of_cpu += std::min(took, static_cast<std::uint64_t>(most_of_a_poll_ns * per_ns));
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
    std::uint64_t calls = 0, ticks = 0, ticks_of_cpu = 0;
  };
  static std::int64_t in_ns(std::uint64_t ticks) noexcept {
    return static_cast<std::int64_t>(static_cast<double>(ticks) / here->ticks_per_ns());
  }
  static void leave(entry& of) noexcept {
    if (of.function == nullptr) return;
    wait::wait_counts counts;
    counts.operations = of.calls;
    counts.ns_waited = in_ns(of.ticks);
    counts.ns_cpu = in_ns(of.ticks_of_cpu);
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

void poll_scope::begun() const noexcept {
  call_under_way& call = this_call;
  if (!here->waits_in_loops || !here->engaged || call.active) return;
  own_loop& loop = own_loop_here;
  const bool goes_on = loop.function == function_ && loop.site == site_ && follows(begin_, loop.last);
  if (!goes_on) {
    leave_own_loop(call, false);
    call.begin(function_, site_, 0, -1, 0);
    call.own_loop = true;
    loop = {function_, site_};
  }
  loop.turns = turns_so_far();
  call.active = true;
}

void poll_scope::count(bool found_nothing) const noexcept {
  if (here->counted) polls().count(function_, site_, begin_, found_nothing);
  own_loop& loop = own_loop_here;
  call_under_way& call = this_call;
  if (loop.function == nullptr) return;
  if (found_nothing) query_is_over(loop.turns);
  call.active = false;
  if (found_nothing)
    loop.last = ticks();
  else
    leave_own_loop(call, true);
}

bool waiting_wanted() {
  return setting_is_set("LULL_WAIT") &&
         (policy_asked() != wait::wait_policy::poll || setting_text("LULL_STATS") != "0");
}

bool waits_by_policy() noexcept { return here != nullptr && here->engaged; }

void query_is_over(std::uint32_t turns_before) noexcept {
  if (turns_so_far() == turns_before) beat(turn::idle);
}

bool senders_ring() { return sleepers_to_ring != &no_sleepers; }

void ring_sleepers() noexcept { here->process.bells->ring_others(); }

void beat_of_engine(call_under_way& call, turn found) noexcept { loop_of_thread().beat(call, found); }

void ring_in_turn() noexcept { here->process.something_came(); }

std::uint32_t announced_sleep() noexcept { return this_call.waited ? loop_of_thread().announcement() : 0; }

void prepare_waiting(const library_of_waiting& library) noexcept try {
  if (policy_asked() == wait::wait_policy::poll) return;
  prepare_networks(library);
  for (const port* const one : all_ports())
    if (one->prepare != nullptr) one->prepare(library);
} catch (const std::exception& error) {
  say(error.what());
}

void start_waiting(const library_of_waiting& library) noexcept try {
  if (here != nullptr || !setting_is_set("LULL_WAIT")) return;
  here = attach(library).release();
  if (here == nullptr) return;
  waiting_process& process = here->process;
  const bool by_policy = process.through != nullptr;
  if (by_policy) {
    first_beat = process.facts.rings_exactly && !process.facts.library_yields ? process.facts.beats_before_clock : 1;
    if (process.through->ring_with != nullptr) process.through->ring_with(*process.bells, process.several_threads);
    if (!process.facts.rings_exactly && process.bells->ranks_of_node() > 1)
      sleepers_to_ring = process.bells->somebody();
    sleepers_of_node = process.bells->somebody();
    process.bells->will_ring();
    if (!here->comparison) engage(true);
  }
  compares = here->comparison.has_value();
  if (by_policy || here->counted)
    duty_of_scopes = here->comparison || here->counted || here->waits_in_loops || here->probes_loop()
                         ? scope_duty::mark_and_count
                         : scope_duty::mark;
} catch (const std::exception& error) {
  say(error.what());
}

void end_waiting() noexcept try {
  if (here == nullptr) return;
  leave_own_loop(this_call, false);
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
