#include "netsim/program/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "netsim/counted.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint64_t longest_message = std::uint64_t{1} << 30;

}  // namespace

std::vector<std::uint32_t> hosts_by_rank(const std::vector<std::uint32_t>& nodes) {
  std::unordered_map<std::uint32_t, std::uint32_t> by_node;
  std::vector<std::uint32_t> hosts;
  hosts.reserve(nodes.size());
  for (const std::uint32_t node : nodes)
    hosts.push_back(by_node.try_emplace(node, static_cast<std::uint32_t>(by_node.size())).first->second);
  return hosts;
}

protocol::protocol(const job_setup& setup, const play_options& options, std::span<host> hosts,
                   std::vector<std::uint32_t> host_of, listener& tells)
    : options_(options),
      hosts_(hosts),
      host_of_(std::move(host_of)),
      nodes_(setup.job().nodes),
      job_(setup.index),
      tells_(tells),
      ends_(setup.size()) {}

void protocol::send(const operation& o, std::uint32_t to, std::uint64_t context, const completion& by,
                    picoseconds now) {
  const std::uint32_t label = transfers_.take();
  transfer& t = transfers_[label];
  t.context = context;
  t.bytes = o.bytes;
  t.begun_by = by;
  t.to = to;
  t.tag = o.tag;
  if (own(context)) {
    t.pair = pair_of(by.rank, to);
    t.order = pairs_[t.pair].sent++;
  }
  const bool asks = o.what == operation::kind::synchronous_send || o.bytes > options_.eager;
  carry(label, asks ? stage::ask : stage::eager, asks ? 0 : o.bytes, now);
}

// Most processes send to the same others in the same order again and again.
std::uint32_t protocol::pair_of(std::uint32_t from, std::uint32_t to) {
  end_of_process& end = ends_[from];
  const std::uint32_t before = end.sent_last;
  std::uint32_t pair = before == nowhere ? nowhere : pairs_[before].then;
  if (pair == nowhere || pairs_[pair].to != to) {
    pair = end.sends_to.number_of(to, static_cast<std::uint32_t>(pairs_.size()));
    if (pair == pairs_.size()) pairs_.push_back({.to = to});
    if (before != nowhere) pairs_[before].then = pair;
  }
  if (const std::uint32_t next = pairs_[pair].then; next != nowhere) __builtin_prefetch(&pairs_[next]);
  return end.sent_last = pair;
}

bool protocol::receive(const operation& o, std::uint32_t from, std::uint64_t context, const completion& by,
                       picoseconds now) {
  const auto found = ends_[by.rank].matched.post(
      {.from = from, .tag = o.tag, .context = context, .room = o.bytes, .activity = by.activity, .slot = by.slot});
  if (!found) {
    if (recorded_ != nullptr) [[unlikely]]
      recorded_->posted(receive_key(by.rank, by.activity, by.slot));
    return false;
  }
  transfer& t = transfers_[*found];
  check_room(t, o.bytes);
  if (t.is == stage::eager) {
    if (recorded_ != nullptr) [[unlikely]]
      recorded_->completes(recorded_->arrival_of(*found));
    transfers_.put_back(*found);
    return true;
  }
  t.activity = by.activity;
  t.slot = by.slot;
  if (recorded_ != nullptr) [[unlikely]]
    recorded_->also_after(*found);
  carry(*found, stage::go_on, 0, now);
  return false;
}

void protocol::access(const operation& o, const completion& by, std::uint32_t run, picoseconds now) {
  const std::uint32_t label = transfers_.take();
  transfer& t = transfers_[label];
  t.bytes = o.bytes;
  t.begun_by = by;
  t.to = o.peer;
  t.order = run;
  t.acknowledged = o.request != no_request;
  t.changes = o.what != operation::kind::get;
  if (o.what == operation::kind::put)
    carry(label, stage::put, o.bytes, now);
  else
    carry(label, stage::question, o.what == operation::kind::atomic ? o.bytes : 0, now);
}

// Sends the messages of a stage.
void protocol::carry(std::uint32_t label, stage is, std::uint64_t bytes, picoseconds now) {
  transfer& t = transfers_[label];
  t.is = is;
  const bool back = is == stage::go_on || is == stage::acknowledgement || is == stage::answer;
  const std::uint32_t from = back ? t.to : t.begun_by.rank;
  const std::uint32_t to = back ? t.begun_by.rank : t.to;
  host& here = host_of(from);
  if (host_of_[from] == host_of_[to]) {
    t.not_sent = t.not_here = 1;
    ++under_way_;
    ++memory_messages_;
    memory_bytes_ += bytes;
    if (recorded_ != nullptr) [[unlikely]]
      recorded_->carried(label, nowhere, bytes, now);
    const picoseconds sent = now + options_.memory_time(bytes);
    will_have_sent(label, sent);
    will_have_arrived(label, sent + options_.memory_delay);
    return;
  }
  std::uint64_t left = std::max<std::uint64_t>(1, bytes + options_.envelope);
  if (recorded_ != nullptr) [[unlikely]]
    recorded_->carried(label, host_of_[from], left, now);
  t.not_sent = t.not_here = static_cast<std::uint32_t>((left + longest_message - 1) / longest_message);
  under_way_ += t.not_here;
  while (left > 0) {
    const auto part = static_cast<std::uint32_t>(std::min(left, longest_message));
    here.offer({.created = now,
                .to = nodes_[to],
                .bytes = part,
                .left = part,
                .label = label,
                .job = job_,
                .account = ends_[t.begun_by.rank].account});
    left -= part;
  }
}

void protocol::will_have_sent(std::uint32_t label, picoseconds at) {
  transfer& t = transfers_[label];
  if (--t.not_sent > 0) return;
  if (recorded_ != nullptr) [[unlikely]]
    recorded_->sent(label, at);
  if (t.is == stage::eager || t.is == stage::data || (t.is == stage::put && !t.acknowledged)) {
    if (recorded_ != nullptr) [[unlikely]]
      recorded_->completes(recorded_->departure_of(label));
    tells_.will_complete(t.begun_by, at);
  }
}

void protocol::will_have_arrived(std::uint32_t label, picoseconds at) {
  transfer& t = transfers_[label];
  --under_way_;
  if (--t.not_here > 0) return;
  if (recorded_ != nullptr) [[unlikely]]
    recorded_->arrived(label, at);
  switch (t.is) {
    case stage::eager:
    case stage::ask: {
      if (t.is == stage::eager && let_in_early(label, at)) return;
      if (!own(t.context)) return host_of(t.to).note_arrival(label, at);
      message_order& pair = pairs_[t.pair];
      ++pair.due;
      return host_of(t.to).note_arrival(label, std::max(at, pair.last));
    }
    case stage::put:
    case stage::question:
      return host_of(t.to).note_arrival(label, at);
    case stage::go_on:
      return host_of(t.begun_by.rank).note_arrival(label, at);
    case stage::data:
    case stage::acknowledgement:
    case stage::answer:
      break;
  }
  const completion done = t.is == stage::data ? completion{t.to, t.activity, t.slot} : t.begun_by;
  if (recorded_ != nullptr) [[unlikely]]
    recorded_->completes(recorded_->arrival_of(label));
  transfers_.put_back(label);
  tells_.will_complete(done, at);
}

// Matches a message ahead of its arrival if a receive is certain to take it: one posted for exactly this message, if no
// earlier message of the sender is still to come. Returns whether it did.
bool protocol::let_in_early(std::uint32_t label, picoseconds at) {
  const transfer& t = transfers_[label];
  end_of_process& end = ends_[t.to];
  message_order* pair = nullptr;
  if (own(t.context)) {
    pair = &pairs_[t.pair];
    if (t.order != pair->let_in || pair->due > 0 || !end.early.empty()) return false;
  }
  const auto receive =
      end.matched.foretell({.from = t.begun_by.rank, .tag = t.tag, .context = t.context, .transfer = label});
  if (!receive) return false;
  check_room(t, receive->room);
  if (pair != nullptr) {
    ++pair->let_in;
    at = pair->last = std::max(at, pair->last);
  }
  const completion done{t.to, receive->activity, receive->slot};
  if (recorded_ != nullptr) [[unlikely]] {
    recorded_->arrived(label, at);
    recorded_->completes(recorded_->arrival_of(label));
  }
  transfers_.put_back(label);
  tells_.will_complete(done, at);
  return true;
}

void protocol::has_arrived(std::uint32_t label, picoseconds now) {
  const transfer& t = transfers_[label];
  const std::uint32_t at = t.to;
  const std::uint64_t by = change_key(t.begun_by.rank, t.order);
  if (t.is == stage::eager || t.is == stage::ask) return let_in(label, now);
  dependencies::end_of_step arrival = dependencies::nothing;
  if (recorded_ != nullptr) [[unlikely]] {
    arrival = recorded_->arrival_of(label);
    recorded_->begins_after(label);
  }
  if (t.is == stage::go_on) return carry(label, stage::data, t.bytes, now);
  const bool changes = t.changes;
  if (t.is == stage::question)
    carry(label, stage::answer, t.bytes, now);
  else if (t.acknowledged)
    carry(label, stage::acknowledgement, 0, now);
  else
    transfers_.put_back(label);
  if (changes) change_memory(at, by, arrival, now);
}

void protocol::change_memory(std::uint32_t rank, std::uint64_t by, dependencies::end_of_step cause, picoseconds now) {
  memory_changes& changes = ends_[rank].changes[by];
  ++changes.count;
  changes.latest = cause;
  tells_.memory_changed(rank, now);
}

// Messages of the program are matched in the order in which their sender sent them.
void protocol::let_in(std::uint32_t label, picoseconds now) {
  const transfer& t = transfers_[label];
  if (!own(t.context)) return match(label, now);
  const std::uint32_t number = t.pair;
  std::vector<std::uint32_t>& early = ends_[t.to].early;
  message_order& pair = pairs_[number];
  --pair.due;
  if (t.order != pair.let_in) {
    early.push_back(label);
    return;
  }
  ++pair.let_in;
  match(label, now);
  while (true) {
    const auto next = std::ranges::find_if(early, [&](std::uint32_t other) {
      return transfers_[other].pair == number && transfers_[other].order == pairs_[number].let_in;
    });
    if (next == early.end()) return;
    const std::uint32_t its_turn = *next;
    early.erase(next);
    ++pairs_[number].let_in;
    match(its_turn, now);
  }
}

void protocol::match(std::uint32_t label, picoseconds now) {
  transfer& t = transfers_[label];
  if (recorded_ != nullptr) [[unlikely]]
    recorded_->arrived(label, now);
  const auto receive =
      ends_[t.to].matched.arrive({.from = t.begun_by.rank, .tag = t.tag, .context = t.context, .transfer = label});
  if (!receive) return;
  check_room(t, receive->room);
  t.activity = receive->activity;
  t.slot = receive->slot;
  if (t.is == stage::ask) {
    if (recorded_ != nullptr) [[unlikely]] {
      recorded_->begins_after(label);
      recorded_->also_when_posted(receive_key(t.to, t.activity, t.slot));
    }
    return carry(label, stage::go_on, 0, now);
  }
  const completion done{t.to, receive->activity, receive->slot};
  if (recorded_ != nullptr) [[unlikely]]
    recorded_->completes(recorded_->arrival_of(label));
  transfers_.put_back(label);
  tells_.completed(done, now);
}

void protocol::check_room(const transfer& t, std::uint64_t room) const {
  if (!own(t.context) || t.bytes <= room) return;
  throw error("run the program",
              fmt::format("rank {} sends {} bytes to rank {} (tag {}), which receives {} at most", t.begun_by.rank,
                          t.bytes, t.to, t.tag, room),
              "make the receive as long as the longest possible message");
}

std::vector<std::string> protocol::leftovers() const {
  std::uint64_t messages = 0;
  std::uint64_t receives = 0;
  std::string first;
  for (std::uint32_t rank = 0; rank < ends_.size(); ++rank) {
    const matching& m = ends_[rank].matched;
    messages += m.unexpected().size();
    receives += m.unmatched_receives();
    if (first.empty() && !m.unexpected().empty()) {
      const matching::arrival& a = m.unexpected().front();
      first = fmt::format("from rank {} to rank {} (tag {})", a.from, rank, a.tag);
    }
  }
  std::vector<std::string> found;
  if (messages > 0)
    found.push_back(fmt::format("{} never received, the first {}", counted(messages, "message"), first));
  if (receives > 0) found.push_back(fmt::format("no message has arrived for {}", counted(receives, "receive")));
  return found;
}

}  // namespace lull::netsim
