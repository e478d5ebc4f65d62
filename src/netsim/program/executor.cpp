#include "netsim/program/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "netsim/counted.hpp"
#include "netsim/program/program_run.hpp"

namespace lull::netsim {
namespace {

using op = operation::kind;
using state = activity::state;

bool is_send(op of) { return of == op::send || of == op::synchronous_send || of == op::put; }

}  // namespace

executor::executor(program_run& of, std::uint32_t rank, picoseconds start)
    : run_(of), pace_(of.options(), rank), rank_(rank), run_began_(start) {
  program_.todo = run_.what().of(rank, *this);
  program_.is = state::computes;  // until it begins
  program_.since = start;
  if (dependencies* recorded = run_.recorded()) program_.last = recorded->begin(start);
}

void executor::resume(std::uint32_t number, picoseconds now) {
  const state was = of(number).is;
  wake(number, now);
  if (was == state::hands_over && !issue(number, now)) return;
  advance(number, now);
}

void executor::will_complete(std::uint32_t number, std::uint32_t slot, picoseconds at) {
  activity& a = of(number);
  a.pending.foretell(slot, at);
  record_cause(a, slot);
  if (a.is == state::awaits_any || (a.is == state::awaits && a.awaited == slot)) schedule_completion(number, slot);
}

// If the completion of the request is foretold, schedules an event for it, as the process waits for it.
void executor::schedule_completion(std::uint32_t number, std::uint32_t slot) {
  if (const picoseconds at = of(number).pending.claim(slot); at != never)
    run_.messages().host_of(rank_).note_completion({.rank = rank_, .activity = number, .slot = slot}, at);
}

void executor::completed(std::uint32_t number, std::uint32_t slot, picoseconds now) {
  activity& a = of(number);
  a.pending.complete(slot);
  record_cause(a, slot);
  if (a.is == state::awaits && a.awaited == slot) {
    record_wait(a, a.since, a.pending.at(slot).cause, now);
    wake(number, now);
    if (take(number, slot, now)) advance(number, now);
  } else if (a.is == state::awaits_any) {
    record_wait(a, a.since, a.pending.at(slot).cause, now);
    wake(number, now);
    advance(number, now);
  }
}

bool executor::wants_message(std::uint32_t from) const {
  const auto wants = [&](const activity& one) {
    if (one.is != state::awaits) return one.is == state::awaits_any;
    const requests::request& awaited = one.pending.at(one.awaited);
    return awaited.of == op::receive && (awaited.peer == any || rank_in_job(one, awaited.peer) == from);
  };
  return ended() || wants(program_) || std::ranges::any_of(collectives_, [&](const auto& one) { return wants(*one); });
}

void executor::memory_changed(picoseconds now) {
  const activity& a = program_;
  if (a.is != state::awaits_put || !put_is_here(*a.in_hand)) return;
  record_wait(program_, a.since, run_.messages().last_change(rank_, a.in_hand->peer, runs_), now);
  wake(0, now);
  advance(0, now);
}

bool executor::put_is_here(const operation& o) const {
  return run_.messages().changes(rank_, o.peer, runs_) >= o.bytes;
}

bool executor::complete(std::uint32_t request) const {
  if (leaves_out_) return true;
  const requests& pending = program_.pending;
  return pending.done(pending.slot_of(request), now_);
}

void executor::advance(std::uint32_t number, picoseconds now) {
  while (true) {
    activity& a = of(number);
    now_ = now;
    a.in_hand = number == 0 && leaves_out_ ? next_executed(a.todo) : a.todo.next();
    if (a.in_hand == nullptr ? !end(number, now) : !perform(number, now)) return;
  }
}

// These functions return whether the next operation can follow at once.

bool executor::perform(std::uint32_t number, picoseconds now) {
  activity& a = of(number);
  const operation& o = *a.in_hand;
  switch (o.what) {
    case op::compute:
      return sleep(number, state::computes, now, computing(pace_.of(o.duration)));
    case op::send:
    case op::synchronous_send:
    case op::put:
    case op::get:
    case op::atomic:
      return sleep(number, state::hands_over, now, run_.options().overhead) && issue(number, now);
    case op::receive:
    case op::collective:
      return issue(number, now);
    case op::wait:
      return await(number, a.pending.slot_of(o.request), now);
    case op::wait_any:
      return await_any(number, now);
    case op::await_put:
      if (put_is_here(o)) {
        record_wait(a, now, run_.messages().last_change(rank_, o.peer, runs_), now);
        return true;
      }
      a.is = state::awaits_put;
      a.since = now;
      return false;
    case op::iteration:
      told_iterations_ = true;
      run_.iteration_ended(iterations_++, now);
      return true;
    case op::unit:
      enter_unit(o.tag, now);
      return true;
  }
  return true;
}

// Begins a unit of a sampled simulation; otherwise does nothing.
void executor::enter_unit(std::uint32_t kind, picoseconds now) {
  sampled_units* units = run_.units();
  if (units == nullptr) return;
  if (program_.pending.active() > 0)
    mistake(fmt::format("begins a unit while it has {} to wait for", counted(program_.pending.active(), "request")),
            "");
  end_unit(now);
  const sampled_units::role role = units->role_of(runs_, units_++, kind);
  leaves_out_ = role == sampled_units::role::left_out;
  run_.messages().set_account(rank_, role == sampled_units::role::measured ? units->account_of(runs_, kind) : 0);
}

// Ends the current unit, if there is one.
void executor::end_unit(picoseconds now) {
  if (units_ == 0) return;
  const picoseconds before = std::exchange(sent_for_, spent_.sending);
  run_.units()->ended(runs_, units_ - 1, now, std::exchange(spared_, 0), sent_for_ - before);
}

// The begin of the next unit; nullptr at the end of the run.
const operation* executor::next_executed(stream& of) {
  while (const operation* o = of.next()) {
    if (o->what == op::unit) return o;
    if (o->what == op::compute) in_run_ += pace_.mean_of(o->duration);
  }
  return nullptr;
}

// How much of it is simulated.
picoseconds executor::computing(picoseconds duration) {
  const sampled_units* units = run_.units();
  if (units == nullptr) return duration;
  in_run_ += duration;
  const picoseconds executed = std::min(duration, units->cut());
  spared_ += duration - executed;
  return executed;
}

bool executor::issue(std::uint32_t number, picoseconds now) {
  activity& a = of(number);
  const operation& o = *a.in_hand;
  if (a.pending.at(a.pending.slot_of(o.request)).is != requests::state::unused)
    mistake(fmt::format("uses request {} again before it has waited for it", o.request), "wait for it first");
  const std::uint32_t slot = a.pending.begin(o);
  const completion by{.rank = rank_, .activity = number, .slot = slot};
  const std::uint64_t context = number == 0 ? std::uint64_t{o.group} << 32U : a.context;
  dependencies* recorded = run_.recorded();
  if (recorded != nullptr) [[unlikely]]
    recorded->begins_at(a.last, now);
  switch (o.what) {
    case op::send:
    case op::synchronous_send:
      run_.messages().send(o, rank_in_job(a, o.peer), context, by, now);
      break;
    case op::receive: {
      const std::uint32_t from = o.peer == any ? any : rank_in_job(a, o.peer);
      if (run_.messages().receive(o, from, context, by, now)) {
        a.pending.complete(slot);
        record_cause(a, slot);
      }
      break;
    }
    case op::collective:
      join(o, slot, now);
      break;
    default:
      (void)rank_in_job(a, o.peer);
      run_.messages().access(o, by, runs_, now);
  }
  return o.request == no_request ? await(number, 0, now) : true;
}

bool executor::await(std::uint32_t number, std::uint32_t slot, picoseconds now) {
  activity& a = of(number);
  if (a.pending.done(slot, now)) {
    record_wait(a, now, a.pending.at(slot).cause, now);
    return take(number, slot, now);
  }
  a.is = state::awaits;
  a.awaited = slot;
  a.since = now;
  schedule_completion(number, slot);
  return false;
}

bool executor::await_any(std::uint32_t number, picoseconds now) {
  activity& a = of(number);
  const std::uint32_t slots = a.pending.ripen(now);
  if (a.pending.any_done()) return true;
  a.is = state::awaits_any;
  a.since = now;
  for (std::uint32_t slot = 1; slot < slots; ++slot) schedule_completion(number, slot);
  return false;
}

// Completes the wait for a request that is complete.
bool executor::take(std::uint32_t number, std::uint32_t slot, picoseconds now) {
  const bool received = of(number).pending.take(slot, now) == op::receive;
  return sleep(number, state::takes_over, now, received ? run_.options().overhead : 0);
}

bool executor::sleep(std::uint32_t number, state as, picoseconds now, picoseconds lasts) {
  if (lasts <= 0) return true;
  activity& a = of(number);
  a.is = as;
  a.since = now;
  run_.messages().host_of(rank_).note_resume(rank_, number, now + lasts);
  return false;
}

void executor::wake(std::uint32_t number, picoseconds now) {
  activity& a = of(number);
  if (number == 0) add(spent_, a, now);
  a.is = state::runs;
}

// Begins a collective, which runs concurrently with the program.
void executor::join(const operation& o, std::uint32_t slot, picoseconds now) {
  membership& as = member_of(o.group);
  auto free = std::ranges::find(collectives_, state::ended, [](const auto& one) { return one->is; });
  if (free == collectives_.end()) free = collectives_.insert(free, std::make_unique<activity>());
  const auto number = static_cast<std::uint32_t>(free - collectives_.begin() + 1);
  activity& joined = **free;
  joined.is = state::runs;
  joined.members = {};
  joined.todo = run_.join(rank_, as, o, joined);
  joined.which = o.which;
  joined.reports_to = slot;
  joined.last = program_.last;
  advance(number, now);
}

// Ends a stream; returns whether another run of the program begins.
bool executor::end(std::uint32_t number, picoseconds now) {
  if (number > 0) {
    activity& over = of(number);
    over.is = state::ended;
    over.todo = {};
    over.pending.forget();
    if (dependencies* recorded = run_.recorded()) recorded->completes(recorded->here(over.last, now));
    completed(0, over.reports_to, now);
    return false;
  }
  activity& a = program_;
  if (!told_iterations_) run_.iteration_ended(iterations_++, now);
  told_iterations_ = false;
  if (run_.units() != nullptr) {
    end_unit(now);
    run_.units()->run_ended(std::exchange(in_run_, 0));
    units_ = 0;
    leaves_out_ = false;
  }
  run_.run_ended(runs_++, now);
  // A run that takes no time could be repeated without end.
  const bool goes_on = run_.options().together && now > std::exchange(run_began_, now);
  if (runs_ < run_.options().repeats || goes_on) {
    a.pending.begin_again();
    run_.messages().forget_changes(rank_, runs_);
    a.todo = run_.what().of(rank_, *this);
    return true;
  }
  a.is = state::ended;
  a.since = now;
  if (dependencies* recorded = run_.recorded()) recorded->ended(a.last, now);
  if (run_.options().together) run_.process_leaves(runs_, iterations_);
  run_.process_ended(now);
  return false;
}

// The activity, which came to a wait at `came`, goes on.
void executor::record_wait(activity& a, picoseconds came, std::uint32_t cause, picoseconds now) {
  dependencies* recorded = run_.recorded();
  if (recorded == nullptr) [[likely]]
    return;
  if (cause != dependencies::nothing) a.last = recorded->wait_ended(a.last, came, cause, now);
}

// What has completed, or will complete, the request, if the protocol reports it.
void executor::record_cause(activity& a, std::uint32_t slot) {
  dependencies* recorded = run_.recorded();
  if (recorded == nullptr) [[likely]]
    return;
  if (const std::uint32_t cause = recorded->take_cause(); cause != dependencies::nothing)
    a.pending.caused_by(slot, cause);
}

membership& executor::member_of(std::uint32_t group) {
  const auto found = std::ranges::find(groups_, group, &membership::group);
  if (found != groups_.end()) return *found;
  if (group == everybody) {
    groups_.push_back({.group = group, .rank = rank_, .size = run_.size()});
    return groups_.back();
  }
  const auto members = run_.what().group(group);
  const auto self = std::ranges::find(members, rank_);
  if (self == members.end())
    mistake(fmt::format("takes part in a collective of group {}, to which it does not belong", group), "");
  groups_.push_back({.group = group,
                     .rank = static_cast<std::uint32_t>(self - members.begin()),
                     .size = static_cast<std::uint32_t>(members.size())});
  return groups_.back();
}

std::uint32_t executor::rank_in_job(const activity& a, std::uint32_t peer) const {
  if (!a.members.empty()) return a.members[peer];
  if (peer >= run_.size())
    mistake(fmt::format("names rank {}, but there are {}", peer, counted(run_.size(), "process", "processes")),
            "ranks count from 0");
  return peer;
}

time_spent executor::spent(picoseconds end) const {
  time_spent all = spent_;
  if (end != never) add(all, program_, end);
  return all;
}

void executor::add(time_spent& to, const activity& a, picoseconds until) const {
  const picoseconds lasted = std::max<picoseconds>(0, until - a.since);
  switch (a.is) {
    case state::computes:
      to.computing += lasted;
      break;
    case state::hands_over:
      to.sending += lasted;
      break;
    case state::awaits:
      (is_send(a.pending.at(a.awaited).of) ? to.sending : to.waiting) += lasted;
      break;
    case state::takes_over:
    case state::awaits_any:
    case state::awaits_put:
      to.waiting += lasted;
      break;
    case state::runs:
    case state::ended:
      break;
  }
}

process_wait executor::waits_for() const { return ended() ? process_wait{} : wait_of(program_); }

process_wait executor::wait_of(const activity& a) const {
  if (a.is == state::awaits_any) return {any, fmt::format("any of {}", counted(a.pending.active(), "request"))};
  if (a.is == state::awaits_put)
    return {a.in_hand->peer, fmt::format("put {} of rank {}", a.in_hand->bytes, a.in_hand->peer)};
  if (a.is != state::awaits) return {any, "its time to run"};
  const requests::request& r = a.pending.at(a.awaited);
  const std::uint32_t peer = r.peer == any ? any : a.members.empty() ? r.peer : a.members[r.peer];
  const std::string who = peer == any ? "any rank" : fmt::format("rank {}", peer);
  const std::string tag = r.tag == any ? "any tag" : fmt::format("tag {}", r.tag);
  switch (r.of) {
    case op::receive:
      return {peer, fmt::format("a message of {} ({})", who, tag)};
    case op::send:
    case op::synchronous_send:
      return {peer, fmt::format("{} to receive ({})", who, tag)};
    case op::collective:
      for (const auto& part : collectives_)
        if (part->is != state::ended && part->reports_to == a.awaited) {
          const process_wait inner = wait_of(*part);
          return {inner.on, inner.on == any ? fmt::format("a {}", trace::name_of(part->which))
                                            : fmt::format("rank {} in a {}", inner.on, trace::name_of(part->which))};
        }
      return {any, "a collective"};
    default:
      return {peer, fmt::format("the node of {}", who)};
  }
}

void executor::mistake(const std::string& found, const std::string& fix) const {
  throw error("run the program", fmt::format("rank {} {}", rank_, found), fix);
}

}  // namespace lull::netsim
