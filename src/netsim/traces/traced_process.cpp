#include "netsim/traces/traced_process.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace lull::netsim {
namespace {

using trace::event;
using trace::happening;
using trace::no_one;

constexpr std::size_t most_buffered = 64;
constexpr std::size_t most_puts = 1024;
constexpr std::uint64_t lock_bytes = 8;

bool is_send(const event& e) { return e.what == happening::send; }
bool is_receive(const event& e) { return e.what == happening::receive; }
bool is_asked_in_vain(const event& e) { return e.what == happening::request_tested; }

}  // namespace

trace_in_work::trace_in_work(const trace::definitions& of, std::string asked_for)
    : all(of),
      asked(std::move(asked_for)),
      ranks(of, asked),
      operations(std::make_unique<encoded_operations>(ranks.count(), asked)),
      collectives(ranks, *operations, asked, of.creator.starts_with("Score-P")),
      puts(ranks.count()),
      missing(of.regions.size()) {}

std::vector<not_replayed> omissions::all(const trace::definitions& of) const {
  std::vector<not_replayed> found;
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    if (regions_[r] == 0) continue;
    const bool computes = rule_of(of.regions[r]).is == call_rule::kind::files;
    found.push_back({.name = of.regions[r].name,
                     .times = regions_[r],
                     .instead = computes ? "its time counts as computing" : "its time is left out"});
  }
  constexpr std::array<std::pair<const char*, const char*>, others> words{
      {{"messages with partners that are not in the trace", "left out"},
       {"cancelled sends", "sent nevertheless"},
       {"exclusive locks of windows", "a round trip, whichever process holds them"},
       {"collectives of inter-communicators", "replayed as those of one group of both sides"}}};
  for (std::size_t what = 0; what < others; ++what)
    if (others_[what] > 0)
      found.push_back({.name = words[what].first, .times = others_[what], .instead = words[what].second});
  std::ranges::stable_sort(found, std::greater{}, &not_replayed::times);
  return found;
}

traced_process::traced_process(trace_in_work& in, std::uint32_t process)
    : in_(in), process_(process), rank_(in.ranks.of(process)), shmem_(in.all.processes[process].paradigm == "shmem") {}

// Time

void traced_process::begins(std::uint64_t now) {
  if (std::exchange(now_.begun, true)) return;
  now_.since = now;
}

// A pause between two polls that is no longer than the first counts as part of the polling.
void traced_process::compute_until(std::uint64_t now, bool polls) {
  if (now <= now_.since) return;
  const std::uint64_t gap = now - now_.since;
  if (!(polls && gap <= now_.vain)) now_.computing += gap;
  now_.since = now;
}

void traced_process::flush() {
  now_.communicated = true;
  if (now_.computing == 0) return;
  in_.operations->add(rank_, does::compute(static_cast<picoseconds>(now_.computing) * 1000));
  now_.computing = 0;
}

void traced_process::emit(const operation& o) {
  flush();
  in_.operations->add(rank_, o);
}

void traced_process::ends_iteration(std::uint64_t now) {
  if (now_.ended) return;
  compute_until(now);
  emit(does::iteration());
}

void traced_process::finish(std::uint64_t now) {
  if (now_.begun && !now_.ended) compute_until(now);
  wait_for_puts();
  if (now_.computing > 0) flush();
  in_.operations->end(rank_);
}

// Requests

std::uint32_t traced_process::take_slot() {
  if (free_slots_.empty()) return slots_++;
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void traced_process::wait(std::uint32_t slot) {
  emit(does::wait(slot));
  free_slots_.push_back(slot);
}

// Calls

void traced_process::on(const call& c) {
  using kind = call_rule::kind;
  if (now_.ended) return;
  const call_rule& rule = c.rule;
  if (rule.is == kind::files) return in_.missing.count(c.region);
  if (rule.is == kind::computes && c.events.empty()) return;
  if (rule.is == kind::begins) {
    if (!now_.communicated)
      now_.computing = 0;  // earlier work is not part of the program
    else
      compute_until(c.begin);
    now_.since = std::max(now_.since, c.end);
    return;
  }
  if (c.location != now_.location && now_.location != no_one) {
    if (c.events.empty() && rule.is == kind::waits) return;  // a probe by another thread
    if (c.begin < now_.since)
      throw error(in_.asked, fmt::format("rank {} communicates in two threads at the same time", rank_),
                  "trace it with only one thread of each process communicating at a time");
  }
  compute_until(c.begin, rule.polls);
  if (rule.completes_puts) wait_for_puts();
  const bool both_ways = std::ranges::any_of(c.events, is_send) && std::ranges::any_of(c.events, is_receive);
  for (const event& e : c.events) handle(e, rule, both_ways);
  for (const std::uint32_t slot : at_end_of_call_) wait(slot);
  at_end_of_call_.clear();
  after(c);
  now_.vain = rule.asks && std::ranges::all_of(c.events, is_asked_in_vain) ? c.end - c.begin : 0;
  now_.since = std::max(now_.since, c.end);
  now_.location = c.location;
}

// What the call does in addition to its events.
void traced_process::after(const call& c) {
  using kind = call_rule::kind;
  const bool nothing_known = c.events.empty();
  bool counted = c.rule.counted || (nothing_known && c.rule.is == kind::not_replayed);
  if (nothing_known && c.rule.is == kind::memory_wait) counted = !wait_for_memory();
  if (nothing_known && c.rule.is == kind::allocates)
    take_part({.rank = rank_,
               .of = traced_collectives::sequence::of_allocation,
               .which = 0,
               .group = everybody,
               .operation = collective::barrier,
               .root = no_one,
               .sent = 0,
               .received = 0});
  if (c.rule.is == kind::ends) now_.ended = true;
  if (counted) in_.missing.count(c.region);
}

void traced_process::on(const event& e, std::uint64_t now) {
  if (now_.ended) return;
  compute_until(now);
  now_.vain = 0;
  handle(e, {.communicates = true, .shmem = shmem_}, false);
}

void traced_process::handle(const event& e, const call_rule& rule, bool both_ways) {
  using sequence = traced_collectives::sequence;
  switch (e.what) {
    case happening::send:
    case happening::isend:
      return send(e, rule, both_ways);
    case happening::isend_complete:
      return sent(e);
    case happening::receive:
      return receive(e);
    case happening::irecv_request: {
      const std::uint32_t slot = take_slot();
      flush();
      requests_[e.request] = {request::kind::receive, slot, in_.operations->add_gap(rank_, slot)};
      return;
    }
    case happening::irecv:
      return received(e);
    case happening::request_cancelled:
      return cancelled(e);
    case happening::collective_end:
      if (rule.neighbours) return;
      if (const auto p = part_of(e, sequence::blocking)) take_part(*p);
      return;
    case happening::window_collective_end:
      if (const auto p = part_of(e, sequence::of_window)) take_part(*p);
      return;
    case happening::icollective_request:
      return post_collective(e, rule);
    case happening::icollective_complete:
      return complete_collective(e);
    case happening::put:
    case happening::get:
    case happening::atomic:
      return one_sided(e, rule);
    case happening::one_sided_blocking_complete:
    case happening::one_sided_complete:
      return complete_one_sided(e, rule);
    case happening::lock_acquired:
      return acquire_lock(e);
    default:
      return;
  }
}

// Messages

std::optional<operation> traced_process::message(const event& e, operation::kind what) {
  const std::uint32_t peer = in_.ranks.peer(e.communicator, process_, e.peer);
  if (peer == no_one) {
    in_.missing.count(omissions::absent_peer);
    return std::nullopt;
  }
  return operation{
      .what = what, .peer = peer, .group = in_.ranks.group_of(e.communicator), .tag = e.tag, .bytes = e.bytes};
}

void traced_process::send(const event& e, const call_rule& rule, bool both_ways) {
  using kind = operation::kind;
  const bool posted = e.what == happening::isend;
  auto o = message(e, rule.synchronous ? kind::synchronous_send : kind::send);
  if (!o || (!posted && !rule.buffered && !both_ways)) {
    if (o) emit(*o);
    if (!o && posted) requests_[e.request] = {request::kind::ignored};
    return;
  }
  o->request = take_slot();
  emit(*o);
  if (rule.buffered) {
    if (posted) requests_[e.request] = {request::kind::ignored};
    buffered_.push_back(o->request);
    if (buffered_.size() > most_buffered) {
      wait(buffered_.front());
      buffered_.erase(buffered_.begin());
    }
  } else if (posted) {
    requests_[e.request] = {request::kind::send, o->request};
  } else {
    at_end_of_call_.push_back(o->request);
  }
}

void traced_process::sent(const event& e) {
  const auto found = requests_.find(e.request);
  if (found == requests_.end()) return;
  const request r = found->second;
  requests_.erase(found);
  if (r.is == request::kind::send) wait(r.slot);
}

void traced_process::receive(const event& e) {
  if (const auto o = message(e, operation::kind::receive)) emit(*o);
}

void traced_process::received(const event& e) {
  const auto found = requests_.find(e.request);
  if (found == requests_.end() || found->second.is != request::kind::receive) return receive(e);
  const request r = found->second;
  requests_.erase(found);
  const auto o = message(e, operation::kind::receive);
  if (!o) return free_slots_.push_back(r.slot);
  in_.operations->fill(r.gap, *o);
  wait(r.slot);
}

void traced_process::cancelled(const event& e) {
  const auto found = requests_.find(e.request);
  if (found == requests_.end()) return;
  if (found->second.is == request::kind::receive) free_slots_.push_back(found->second.slot);
  if (found->second.is == request::kind::send) in_.missing.count(omissions::cancelled_send);
  requests_.erase(found);
}

// Collectives

std::optional<traced_collectives::part> traced_process::part_of(const event& e, traced_collectives::sequence of) {
  const bool of_window = of == traced_collectives::sequence::of_window;
  std::uint32_t communicator = e.communicator;
  if (of_window)
    communicator = communicator < in_.all.windows.size() ? in_.all.windows[communicator].communicator : no_one;
  if (communicator >= in_.all.communicators.size()) {
    in_.missing.count(omissions::absent_peer);
    return std::nullopt;
  }
  const traced_collectives::part p{.rank = rank_,
                                   .of = of,
                                   .which = e.communicator,
                                   .group = in_.ranks.group_of(communicator),
                                   .operation = e.operation,
                                   .root = e.peer < 0 ? no_one : in_.ranks.peer(communicator, process_, e.peer),
                                   .sent = e.bytes,
                                   .received = e.received};
  if (!in_.collectives.involves_others(p)) return std::nullopt;
  if (!in_.all.communicators[communicator].remote.empty()) in_.missing.count(omissions::two_sided_group);
  return p;
}

void traced_process::take_part(const traced_collectives::part& p) {
  const auto number = in_.collectives.join(p);
  if (!number) return;
  flush();
  in_.operations->add(rank_, *number, no_request);
}

void traced_process::post_collective(const event& e, const call_rule& rule) {
  if (rule.neighbours) {
    requests_[e.request] = {request::kind::ignored};
    return;
  }
  const std::uint32_t slot = take_slot();
  flush();
  const auto gap = in_.operations->add_gap(rank_, slot);
  requests_[e.request] = {request::kind::collective, slot, gap};
  posts_.push_back({.request = e.request, .gap = gap});
}

// Its communicator is known only now, so earlier collectives must be complete before it can be numbered.
void traced_process::complete_collective(const event& e) {
  const auto found = requests_.find(e.request);
  if (found == requests_.end()) {
    if (const auto p = part_of(e, traced_collectives::sequence::blocking)) take_part(*p);
    return;
  }
  const request r = found->second;
  requests_.erase(found);
  if (r.is != request::kind::collective) return;
  const auto of = std::ranges::find(posts_, e.request, &post::request);
  of->part = part_of(e, traced_collectives::sequence::non_blocking);
  of->complete = true;
  if (of->part)
    wait(r.slot);
  else
    free_slots_.push_back(r.slot);
  for (; !posts_.empty() && posts_.front().complete; posts_.erase(posts_.begin()))
    if (const post& first = posts_.front(); first.part)
      if (const auto number = in_.collectives.join(*first.part)) in_.operations->fill(first.gap, *number);
}

// One-sided communication

void traced_process::one_sided(const event& e, const call_rule& rule) {
  using kind = operation::kind;
  const std::uint32_t communicator =
      e.communicator < in_.all.windows.size() ? in_.all.windows[e.communicator].communicator : no_one;
  operation o{.what = e.what == happening::put   ? kind::put
                      : e.what == happening::get ? kind::get
                                                 : kind::atomic,
              .peer = in_.ranks.peer(communicator, process_, e.peer),
              .bytes = std::max(e.bytes, e.received)};
  if (o.peer == no_one) return in_.missing.count(omissions::absent_peer);
  if (rule.shmem && rule.returns_value) return emit(o);
  o.request = take_slot();
  emit(o);
  puts_.push_back({o.request, e.request});
  if (puts_.size() > most_puts) {
    wait(puts_.front().slot);
    puts_.pop_front();
  }
}

// Archives of OpenSHMEM, of Lull and other tools, record only that the source may be reused.
void traced_process::complete_one_sided(const event& e, const call_rule& rule) {
  if (rule.shmem) return;
  for (std::size_t i = 0; i < puts_.size();) {
    if (puts_[i].request != e.request) {
      ++i;
      continue;
    }
    wait(puts_[i].slot);
    puts_.erase(puts_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void traced_process::wait_for_puts() {
  for (; !puts_.empty(); puts_.pop_front()) wait(puts_.front().slot);
}

bool traced_process::wait_for_memory() {
  const traced_puts::put& last = in_.puts.last(rank_);
  if (last.number == 0) return false;
  if (!(last == awaited_)) emit({.what = operation::kind::await_put, .peer = last.from, .bytes = last.number});
  awaited_ = last;
  return true;
}

void traced_process::acquire_lock(const event& e) {
  const std::uint32_t communicator =
      e.communicator < in_.all.windows.size() ? in_.all.windows[e.communicator].communicator : no_one;
  const std::uint32_t peer = in_.ranks.peer(communicator, process_, e.peer);
  if (peer == no_one) return in_.missing.count(omissions::absent_peer);
  if (e.tag == 1) in_.missing.count(omissions::exclusive_lock);
  emit({.what = operation::kind::atomic, .peer = peer, .bytes = lock_bytes});
}

}  // namespace lull::netsim
