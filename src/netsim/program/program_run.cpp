#include "netsim/program/program_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "netsim/program/player.hpp"
#include "netsim/simulation.hpp"
#include "netsim/tolerance/tolerance.hpp"

namespace lull::netsim {
program_run::program_run(const job_setup& setup, std::unique_ptr<program> what)
    : asked_(setup.asked),
      options_(setup),
      what_(std::move(what)),
      size_(setup.size()),
      hosts_(setup.size(), host(*this)),
      messages_(setup, options_, hosts_, hosts_by_rank(setup.job().nodes), *this),
      iteration_ends_(size_),
      run_ends_(size_),
      running_(setup.size()) {
  if (setup.asked.sample) units_.emplace(setup, *what_);
  if (asked_.tolerance) messages_.record(recorded_.emplace(size_, asked_.network.nic_delay));
  const picoseconds start = setup.job().start;
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
    executors_.emplace_back(*this, rank, start);
    messages_.host_of(rank).begin(start, rank);
  }
}

stream program_run::join(std::uint32_t rank, membership& as, const operation& o, activity& joined) {
  const std::uint64_t context = std::uint64_t{o.group} << 32U | ++as.calls;
  const auto [found, is_first] = collectives_.try_emplace(context);
  begun_collective& c = found->second;
  if (is_first) {
    const std::size_t family = family_of(o.which);
    const collective_algorithm* asked = options_.algorithms[family];
    c = {
        .which = o.which,
        .root = o.peer,
        .root_in_group = root_in_group(o),
        .first = rank,
        .left = as.size,
        .bytes = o.bytes,
        .algorithm = asked != nullptr ? asked : &chosen_algorithm(all_collective_families()[family], as.size, o.bytes)};
  }
  if (c.which != o.which || (has_root(o.which) && c.root != o.peer))
    throw error(
        "run the program",
        fmt::format("rank {} begins a {} of root {}, and rank {} a {} of root {}, as number {} of group {}", rank,
                    trace::name_of(o.which), o.peer, c.first, trace::name_of(c.which), c.root, as.calls, o.group),
        "all processes of a group must begin the same collectives in the same order");
  const collective_call call{.rank = as.rank, .size = as.size, .root = c.root_in_group, .bytes = c.bytes};
  joined.context = context;
  if (o.group != everybody) joined.members = what_->group(o.group);
  const collective_algorithm& by = *c.algorithm;
  if (--c.left == 0) collectives_.erase(found);
  return by.schedule(call);
}

std::uint32_t program_run::root_in_group(const operation& o) const {
  if (!has_root(o.which)) return 0;
  if (o.group == everybody && o.peer < size_) return o.peer;
  const auto members = o.group == everybody ? std::span<const std::uint32_t>{} : what_->group(o.group);
  const auto found = std::ranges::find(members, o.peer);
  if (found == members.end())
    throw error("run the program", fmt::format("the root of a {}, rank {}, is not in its group {}",
                                               trace::name_of(o.which), o.peer, o.group));
  return static_cast<std::uint32_t>(found - members.begin());
}

void program_run::process_ended(picoseconds now) {
  --running_;
  ended_ = std::max(ended_, now);
}

std::string program_run::who_waits() const {
  std::vector<process_wait> waits;
  for (const executor& e : executors_) waits.push_back(e.waits_for());
  return in_words(waits);
}

void program_run::add_to(job_result& result, picoseconds end) const {
  result.iteration_ends = iteration_ends_.times();
  result.run_ends = run_ends_.times();
  result.ended = std::max(result.ended, ended_);
  result.memory_messages = messages_.memory_messages();
  result.memory_bytes = messages_.memory_bytes();
  process_time& time = result.time.emplace();
  for (const executor& e : executors_) {
    const time_spent spent = e.spent(end);
    time.computing += static_cast<double>(spent.computing);
    time.sending += static_cast<double>(spent.sending);
    time.waiting += static_cast<double>(spent.waiting);
  }
  if (units_) result.sampled = units_->estimate();
  result.remarks = what_->remarks();
  if (recorded_ && running_ == 0) result.tolerance = find_tolerance(*recorded_, asked_, result.started);
  if (running_ > 0) {
    if (at_a_stand()) result.remarks.push_back("the processes are deadlocked: " + who_waits());
    return;
  }
  for (std::string& line : messages_.leftovers()) result.remarks.push_back(std::move(line));
}

std::unique_ptr<workload> play(const job_setup& setup, std::unique_ptr<program> what) {
  return std::make_unique<program_run>(setup, std::move(what));
}

workload_entry program_entry(const char* name, const char* meaning, std::vector<key> keys,
                             std::unique_ptr<program> (*make)(const job_setup&)) {
  keys.insert(keys.end(), program_keys().begin(), program_keys().end());
  return {.name = name,
          .meaning = meaning,
          .keys = std::move(keys),
          .make = [make](const job_setup& setup) { return play(setup, make(setup)); },
          .is_program = true};
}

}  // namespace lull::netsim
