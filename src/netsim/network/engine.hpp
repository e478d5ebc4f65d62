// Runs a simulation on a topology: chooses one of the two switch models, divides the network among threads, and measures
// the time.
#pragma once
#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "netsim/network/eager_queues.hpp"
#include "netsim/network/explicit_queues.hpp"
#include "netsim/network/turns.hpp"
#include "netsim/sampling/estimate.hpp"

namespace lull::netsim {

namespace detail {

inline double cpu_seconds() { return static_cast<double>(thread_cpu_ns()) * 1e-9; }

// The parts of one run, from their construction to the result.
template <class Model, topology_shape T>
class parts_of {
 public:
  parts_of(const T& topology, const simulation& asked, unsigned threads, const progress& shown)
      : began_(cpu_seconds()), shared_(topology, asked, Model::has_channels, threads, shown) {
    for (unsigned part = 0; part < threads; ++part) parts_.push_back(std::make_unique<Model>(shared_, part));
  }

  // The calling thread is one of those that simulate, and the one that calls `shown`.
  result run(const progress& shown);
  [[nodiscard]] const std::vector<std::unique_ptr<Model>>& parts() const { return parts_; }

 private:
  using clock = std::chrono::steady_clock;
  void alone(const progress& shown);
  void together(const progress& shown, std::vector<double>& cpu);  // fills in the CPU time of each thread
  void show(const Model& part, std::uint64_t events, std::uint64_t messages, const progress& shown);
  [[nodiscard]] bool are_over();
  void report_if_stuck() const;
  [[nodiscard]] result outcome();

  double began_;
  shared_network<T> shared_;
  std::vector<std::unique_ptr<Model>> parts_;
  bool stopped_ = false;  // by `shown`
  bool over_ = false;     // together: every program has ended a run
  // For the thread that calls it.
  std::uint64_t look_at_ = 0;  // the number of events at which to read the clock
  unsigned windows_ = 0;
  std::uint64_t windows_together_ = 0;
  clock::time_point show_at_ = clock::now() + std::chrono::milliseconds(100);
};

template <class Model, topology_shape T>
result parts_of<Model, T>::run(const progress& shown) {
  const double ready = cpu_seconds();
  const clock::time_point loop_began = clock::now();
  std::vector<double> cpu(parts_.size());
  if (parts_.size() == 1) {
    alone(shown);
    cpu[0] = cpu_seconds() - ready;
  } else {
    together(shown, cpu);
  }
  if (!stopped_ && !over_ && shared_.asked.end == never) report_if_stuck();
  const std::chrono::duration<double> loop_took = clock::now() - loop_began;
  result r = outcome();
  r.setup_cpu_s = ready - began_;
  r.loop_wall_s = loop_took.count();
  for (const double s : cpu) r.loop_cpu_s += s;
  return r;
}

template <class Model, topology_shape T>
void parts_of<Model, T>::alone(const progress& shown) {
  Model& part = *parts_.front();
  part.begin();
  for (std::int64_t window; !stopped_ && !over_ && (window = part.wanted()) <= shared_.last_window;) {
    part.simulate(window);
    if (shared_.asked.together) over_ = are_over();
    show(part, part.events(), part.delivered().messages_done(), shown);
  }
}

template <class Model, topology_shape T>
void parts_of<Model, T>::together(const progress& shown, std::vector<double>& cpu) {
  turns in_turns(shared_.parts, shared_.last_window);
  std::vector<std::exception_ptr> failures(parts_.size());
  const auto simulate_as = [&](unsigned thread) {
    const own_core core(thread, shared_.parts);
    const double from = cpu_seconds();
    in_turns.take(thread, [&](unsigned number, std::int64_t window) {
      Model& part = *parts_[number];
      try {
        if (window == turns::preparation) {
          part.begin();
        } else {
          part.simulate(window);
          in_turns.report(number, part.events(), part.delivered().messages_done());
          if (thread == 0) show(part, in_turns.events(), in_turns.messages(), shown);
          if (thread == 0 && stopped_) return turns::stop;
        }
        return part.wanted();
      } catch (...) {
        failures[number] = std::current_exception();
        return turns::stop;
      }
    });
    cpu[thread] = cpu_seconds() - from;
  };
  {
    std::vector<std::jthread> others;
    others.reserve(parts_.size() - 1);
    try {
      while (others.size() + 1 < parts_.size())
        others.emplace_back(simulate_as, static_cast<unsigned>(others.size() + 1));
    } catch (const std::system_error&) {
      in_turns.abandon();
      throw error("simulate the network",
                  fmt::format("thread {} of {} cannot be started", others.size() + 1, parts_.size()),
                  "set threads to fewer, or raise the limit of processes (ulimit -u)");
    }
    simulate_as(0);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

// Calls `shown` if it is time. `events` and `messages` of all parts so far.
template <class Model, topology_shape T>
void parts_of<Model, T>::show(const Model& part, std::uint64_t events, std::uint64_t messages, const progress& shown) {
  constexpr auto between = std::chrono::milliseconds(100);
  if (!shown || (events < look_at_ && ++windows_ % 256 != 0)) return;
  look_at_ = events + 16384;
  if (clock::now() < show_at_) return;
  show_at_ = clock::now() + between;
  stopped_ = !shown({part.window_begin(), events, messages, shared_.jobs.expected()});
}

// Whether programs that run together have all ended a run. A deadlocked one would keep the others running without end.
template <class Model, topology_shape T>
bool parts_of<Model, T>::are_over() {
  constexpr std::uint64_t between = 1 << 16U;  // windows
  if (shared_.jobs.all_have_run()) return true;
  if (++windows_together_ % between != 0) return false;
  if (const std::string found = shared_.jobs.deadlock(); !found.empty())
    throw error("simulate the network", "a program is deadlocked, and would never end a run: " + found);
  return false;
}

template <class Model, topology_shape T>
void parts_of<Model, T>::report_if_stuck() const {
  std::size_t packets = 0;
  for (const auto& part : parts_) packets += part->packets_left();
  if (packets == 0 && shared_.jobs.waiting() == 0) return;
  picoseconds last = 0;
  for (const auto& part : parts_) last = std::max(last, part->delivered().last);
  for (link_id link = 0; link < shared_.links.count(); ++link)
    last = std::max(last, shared_.links.port_of(link).busy_until);
  parts_.front()->report_deadlock(packets, last);
}

template <class Model, topology_shape T>
result parts_of<Model, T>::outcome() {
  Model& first = *parts_.front();
  for (std::size_t part = 1; part < parts_.size(); ++part) first.delivered().add(parts_[part]->delivered());
  const network_state& links = shared_.links;
  const simulation& asked = shared_.asked;
  const picoseconds at = over_ ? first.window_begin() + first.window_length() : asked.end;
  result r = first.delivered().counted(shared_.jobs, at);
  for (const auto& part : parts_) {
    r.events += part->events();
    r.messages_created += part->messages_created();
  }
  r.stopped = stopped_;
  r.threads = static_cast<unsigned>(parts_.size());
  r.virtual_channels = links.channels();
  r.fifo = !Model::has_channels;
  r.window = first.window_length();
  r.ended = stopped_ ? first.window_begin() : at != never ? at : first.delivered().last;
  if (over_)
    for (job_result& j : r.jobs) j.ended = r.ended;
  r.policy = first.policy();
  r.links.reserve(links.count());
  for (link_id link = 0; link < links.count(); ++link) {
    const std::uint32_t lp = links.from_node(link) ? links.port_of(link).far_lp : links.switch_of(link);
    r.links.push_back(parts_[shared_.part_of[lp]]->close(link, r.ended));
    r.packet_hops += r.links.back().packets;
  }
  for (std::size_t part = 1; part < parts_.size(); ++part) first.paused().add(parts_[part]->paused());
  const std::vector<link_policy> savings = asked.saving_policies();
  for (std::size_t i = 0; i < savings.size(); ++i) r.savings.push_back({savings[i], first.paused().of(i)});
  if (asked.sample) {
    r.sampled.emplace();
    for (const job_result& j : r.jobs) r.sampled->jobs.push_back(j.sampled.value_or(job_estimate{}));
    estimate_whole(r, asked, first.lost());
  }
  return r;
}

// Programs share records between their processes, so they run in one thread.
[[nodiscard]] inline bool is_program(const job& j) {
  return static_cast<bool>(j.make) || find_workload(j.pattern).is_program;
}

}  // namespace detail

template <topology_shape T>
result run_engine(const T& topology, const simulation& asked, const progress& shown) {
  using model = network_parameters::queue_model;
  const model wanted = asked.network.queues;
  const auto program = std::ranges::find_if(asked.jobs, detail::is_program);
  const unsigned threads =
      program != asked.jobs.end() ? 1 : std::clamp(asked.threads, 1U, std::min(topology.switches(), most_parts));
  const auto with_note = [&](result r) {
    if (asked.threads > 1 && program != asked.jobs.end())
      r.jobs[static_cast<std::size_t>(program - asked.jobs.begin())].remarks.push_back(
          "simulated by one thread, because programs cannot use several");
    return r;
  };
  std::string why_not = "explicit queues were requested";
  if (wanted != model::explicit_queues) {
    why_not = eager_queues<T>::why_not(topology, asked);
    if (why_not.empty()) {
      detail::parts_of<eager_queues<T>, T> eager(topology, asked, threads, shown);
      result r = eager.run(shown);
      picoseconds longest_wait = 0;
      for (const auto& part : eager.parts()) longest_wait = std::max(longest_wait, part->longest_wait());
      why_not = eager_queues<T>::why_not_exact(asked, longest_wait);
      if (why_not.empty() || r.stopped) return with_note(std::move(r));
    }
    if (wanted == model::fifo)
      throw error("simulate with network.queues = fifo", why_not,
                  "enlarge the buffer, or set network.queues to explicit or auto");
  }
  detail::parts_of<explicit_queues<T>, T> full(topology, asked, threads, shown);
  result r = full.run(shown);
  r.why_not_fifo = why_not;
  return with_note(std::move(r));
}

}  // namespace lull::netsim
