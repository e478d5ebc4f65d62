#include "netsim/goal/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "netsim/counted.hpp"
#include "netsim/goal/file.hpp"
#include "netsim/program/player.hpp"
#include "netsim/simulation.hpp"
#include "netsim/tolerance/tolerance.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint32_t to_begin = any;  // in place of an operation: the rank itself begins

constexpr picoseconds per_nanosecond = 1000;

}  // namespace

goal_run::goal_run(const job_setup& setup, std::shared_ptr<const goal_graph> graph)
    : asked_(setup.asked),
      options_(setup),
      graph_(std::move(graph)),
      hosts_(setup.size(), host(*this)),
      messages_(setup, options_, hosts_, hosts_by_rank(setup.job().nodes), *this),
      run_ends_(setup.size()),
      running_(setup.size()) {
  if (asked_.tolerance) {
    messages_.record(recorded_.emplace(setup.size(), asked_.network.nic_delay));
    steps_.emplace(*recorded_, *graph_);
  }
  ranks_.reserve(setup.size());
  for (std::uint32_t rank = 0; rank < setup.size(); ++rank) {
    ranks_.push_back({.runs = goal_process(graph_->ranks[rank]), .takes = pace(options_, rank)});
    messages_.host_of(rank).begin(setup.job().start, rank, to_begin);
  }
}

void goal_run::resume(std::uint32_t rank, std::uint32_t number, picoseconds now) {
  rank_state& r = ranks_[rank];
  if (number == to_begin) {
    r.begun = true;
    r.run_began = now;
    begin_run(rank, now);
  } else {
    const std::uint8_t cpu = r.runs.at(number).cpu;
    r.runs.leave_cpu(cpu);
    cpu_is_done(rank, number, now);
    use_cpu(rank, cpu, now);
  }
  go_on(rank, now);
}

// A send has left, or the message of a receive has arrived.
void goal_run::completed(const completion& what, picoseconds now) {
  goal_process& runs = ranks_[what.rank].runs;
  if (steps_) steps_->caused_by(what.rank, what.slot, recorded_->take_cause());
  if (runs.at(what.slot).what == goal_kind::send) {
    if (steps_) steps_->completed(what.rank, what.slot, now);
    ended(what.rank, what.slot, now);
  } else
    arrived(what.rank, what.slot, now);
  go_on(what.rank, now);
}

// Begins all operations that may begin, also those of later runs.
void goal_run::go_on(std::uint32_t rank, picoseconds now) {
  rank_state& r = ranks_[rank];
  while (!r.ended) {
    for (std::uint32_t number = 0; r.runs.take_ready(number);) {
      if (r.runs.at(number).what == goal_kind::receive) {
        post(rank, number, now);
      } else {
        r.runs.wait_for_cpu(number);
        use_cpu(rank, r.runs.at(number).cpu, now);
      }
    }
    if (!r.runs.all_ended()) return;
    run_ended(rank, now);
  }
}

// Gives a free CPU to the operations that wait for it, until one takes time.
void goal_run::use_cpu(std::uint32_t rank, std::uint8_t cpu, picoseconds now) {
  goal_process& runs = ranks_[rank].runs;
  for (std::uint32_t number = 0; runs.take_cpu(cpu, number);) {
    const goal_operation& o = runs.at(number);
    if (steps_) steps_->takes_cpu(rank, number, now);
    if (o.what != goal_kind::receive) begun(rank, number, now);
    const picoseconds lasts = o.what == goal_kind::calc
                                  ? ranks_[rank].takes.of(static_cast<picoseconds>(o.size) * per_nanosecond)
                                  : options_.overhead;
    if (lasts > 0) return messages_.host_of(rank).note_resume(rank, number, now + lasts);
    runs.leave_cpu(cpu);
    cpu_is_done(rank, number, now);
  }
}

void goal_run::cpu_is_done(std::uint32_t rank, std::uint32_t number, picoseconds now) {
  goal_process& runs = ranks_[rank].runs;
  const goal_operation& o = runs.at(number);
  if (steps_) steps_->leaves_cpu(rank, number, now);
  if (o.what != goal_kind::send) return ended(rank, number, now);
  if (steps_) recorded_->begins_at(steps_->at(rank, number), now);
  messages_.send({.what = operation::kind::send, .peer = o.peer, .tag = o.tag, .bytes = o.size}, o.peer, 0,
                 {.rank = rank, .activity = 0, .slot = number}, now);
}

void goal_run::post(std::uint32_t rank, std::uint32_t number, picoseconds now) {
  goal_process& runs = ranks_[rank].runs;
  const goal_operation& o = runs.at(number);
  begun(rank, number, now);
  if (steps_) recorded_->begins_at(steps_->at(rank, number), now);
  const operation receive{.what = operation::kind::receive, .peer = o.peer, .tag = o.tag, .bytes = o.size};
  if (messages_.receive(receive, o.peer, 0, {.rank = rank, .activity = 0, .slot = number}, now)) {
    if (steps_) steps_->caused_by(rank, number, recorded_->take_cause());
    arrived(rank, number, now);
  }
}

void goal_run::arrived(std::uint32_t rank, std::uint32_t number, picoseconds now) {
  goal_process& runs = ranks_[rank].runs;
  if (steps_) steps_->completed(rank, number, now);
  if (options_.overhead == 0) return ended(rank, number, now);
  runs.wait_for_cpu(number);
  use_cpu(rank, runs.at(number).cpu, now);
}

void goal_run::begin_run(std::uint32_t rank, picoseconds now) {
  if (steps_) steps_->begin(rank, now);
  ranks_[rank].runs.begin(now);
}

void goal_run::begun(std::uint32_t rank, std::uint32_t number, picoseconds now) {
  if (steps_) steps_->passed(rank, number, goal_edge::when::begun, now);
  ranks_[rank].runs.begun(number, now);
}

void goal_run::ended(std::uint32_t rank, std::uint32_t number, picoseconds now) {
  if (steps_) steps_->passed(rank, number, goal_edge::when::ended, now);
  ranks_[rank].runs.ended(number, now);
}

// Begins the next run, if there is one.
void goal_run::run_ended(std::uint32_t rank, picoseconds now) {
  rank_state& r = ranks_[rank];
  run_ends_.add(static_cast<std::size_t>(r.ended_runs++), now);
  // A run that takes no time, as of a rank without operations, could be repeated without end.
  const bool goes_on = options_.together && now > std::exchange(r.run_began, now);
  if (r.ended_runs < options_.repeats || goes_on) return begin_run(rank, now);
  if (options_.together) run_ends_.leave(static_cast<std::size_t>(r.ended_runs));
  r.ended = true;
  if (steps_) steps_->ended(rank, now);
  --running_;
  ended_ = std::max(ended_, now);
}

process_wait goal_run::wait_of(std::uint32_t rank) const {
  const rank_state& r = ranks_[rank];
  if (r.ended) return {};
  if (!r.begun) return {any, "its time to run"};
  const auto count = static_cast<std::uint32_t>(graph_->ranks[rank].operations.size());
  std::uint32_t first = count;
  std::uint64_t others = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!r.runs.runs(i)) continue;
    if (first == count)
      first = i;
    else
      ++others;
  }
  if (first == count) return {any, "its time to run"};
  const goal_operation& o = r.runs.at(first);
  const std::string place = graph_->place_of(rank, first);
  const std::string more = others > 0 ? fmt::format(" and {}", counted(others, "other operation")) : "";
  if (o.what == goal_kind::calc) return {any, fmt::format("{}: calc{}", place, more)};
  const std::string tag = o.tag == any ? "any tag" : fmt::format("tag {}", o.tag);
  const std::string who = o.peer == any ? "any rank" : fmt::format("rank {}", o.peer);
  return {o.peer,
          fmt::format("{}: {} {} ({}){}", place, o.what == goal_kind::send ? "send to" : "recv from", who, tag, more)};
}

std::string goal_run::who_waits() const {
  std::vector<process_wait> waits;
  waits.reserve(ranks_.size());
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) waits.push_back(wait_of(rank));
  return in_words(waits);
}

void goal_run::add_to(job_result& result, picoseconds end) const {
  result.run_ends = result.iteration_ends = run_ends_.times();
  result.ended = std::max(result.ended, ended_);
  result.memory_messages = messages_.memory_messages();
  result.memory_bytes = messages_.memory_bytes();
  process_time& time = result.time.emplace();
  for (const rank_state& r : ranks_) {
    const time_spent spent = r.runs.spent(end == never ? 0 : end);
    time.computing += static_cast<double>(spent.computing);
    time.sending += static_cast<double>(spent.sending);
    time.waiting += static_cast<double>(spent.waiting);
  }
  if (recorded_ && running_ == 0) result.tolerance = find_tolerance(*recorded_, asked_, result.started);
  if (graph_->several_nics)
    result.remarks.emplace_back("operations name several nics; a node has one interface, which they share");
  if (running_ > 0) {
    if (at_a_stand()) result.remarks.push_back("the processes are deadlocked: " + who_waits());
    return;
  }
  for (std::string& line : messages_.leftovers()) result.remarks.push_back(std::move(line));
}

namespace {

key goal_key() {
  return {.name = "goal",
          .meaning = "GOAL file, text or binary; a relative path begins at the folder of this file",
          .of = kind::text,
          .otherwise = "required; it implies pattern = \"goal\""};
}

// Those of programs, without the algorithms of collectives.
std::vector<key> keys_of_goal() {
  std::vector<key> keys{goal_key()};
  const std::vector<key> collectives = collective_keys();
  for (const key& k : program_keys())
    if (find(collectives, k.name) == nullptr) keys.push_back(k);
  return keys;
}

std::unique_ptr<workload> run_goal(const job_setup& setup) {
  const reader from(find_workload("goal").keys, setup.job().own);
  setup.require(from.has("goal"), "goal", "is missing", "name a GOAL file");
  setup.require(!setup.asked.sample, "pattern", "is goal, which has no units of which some could be left out",
                "leave out [sample]");
  auto graph = read_goal(from.word("goal"));
  const std::size_t ranks = graph->ranks.size();
  setup.require(setup.size() == ranks, "processes",
                fmt::format("is {}, but the file has {} ranks", setup.size(), ranks), "leave it out");
  return std::make_unique<goal_run>(setup, std::move(graph));
}

std::optional<std::int64_t> ranks_of_job(const values& own) {
  const auto path = own.find("goal");
  if (path == own.end()) return std::nullopt;
  return ranks_of_goal(std::get<std::string>(path->second.is));
}

}  // namespace

workload_entry goal_entry() {
  return {.name = "goal",
          .meaning = "each process executes the operations of its rank in a GOAL file",
          .keys = keys_of_goal(),
          .make = run_goal,
          .is_program = true,
          .processes = ranks_of_job};
}

}  // namespace lull::netsim
