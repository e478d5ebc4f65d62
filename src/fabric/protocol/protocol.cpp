#include "fabric/protocol/protocol.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/received_bytes.hpp"
#include "base/thread_sanitizer.hpp"

namespace lull::fabric {
namespace {

constexpr unsigned messages_per_round = 8;  // sent between two rounds: a round is a system call over tcp
constexpr int most_rounds = 64;             // at once: a flood must not block the caller
// A transfer that this processor carries out itself moves at most this many bytes while it holds the lock.
constexpr std::size_t most_under_lock = std::size_t{1} << 20U;

// `signal` may be null. `token` 0: the target acknowledges; otherwise it replies to that token.
put_header with_signal(const envelope& sent, std::size_t offset, const signal_amo* signal, std::uint64_t token = 0) {
  put_header header{.sent = sent,
                    .has_signal = 0,
                    .signal_how = amo_op::set,
                    .signal_whole_node = 0,
                    .offset = offset,
                    .signal_offset = 0,
                    .signal_value = 0,
                    .token = token};
  if (!signal) return header;
  header.has_signal = 1;
  header.signal_how = signal->how;
  header.signal_whole_node = signal->whole_node ? 1 : 0;
  header.signal_offset = signal->offset;
  header.signal_value = signal->value;
  return header;
}

}  // namespace

protocol::protocol(pe_id me, int pes, const served_memory& memory, protocol_hooks hooks, const make_transport& make,
                   const coalescing& small_puts, const rdma_settings& by_network)
    : me_(me),
      memory_(memory),
      hooks_(std::move(hooks)),
      admission_(me, pes),
      requests_(pes, memory_, hooks_),
      server_(me, pes, memory_, hooks_),
      sender_(me, pes, admission_, requests_.completing(), hooks_, small_puts, make(*this)) {
  transport::remote_memory* const reached = remote_memory();
  if (!reached) return;
  rdma_.emplace(
      *reached, pes, requests_.completing(),
      rdma_hooks{.changed = hooks_.memory_changed,
                 .answered = [this](reply& answer) { requests_.answered(answer); },
                 .lost = [this](const char* why) { abort_on_unreachable(me_, hooks_, "reach the memory of", why); }},
      by_network);
}

protocol::~protocol() = default;

std::vector<std::byte> protocol::contact() const {
  const std::lock_guard hold(lock_);
  const std::uint64_t key = admission_.my_key();
  std::vector<std::byte> all(sizeof key);
  std::memcpy(all.data(), &key, sizeof key);
  const auto address = sender_.by().address();
  all.insert(all.end(), address.begin(), address.end());
  return all;
}

void protocol::set_peer(pe_id pe, std::span<const std::byte> contact) {
  const std::lock_guard hold(lock_);
  received_bytes read(contact, "reach PE " + std::to_string(pe.index()));
  admission_.set_key(pe, read.take<std::uint64_t>());
  sender_.by().set_address(pe.index(), read.rest());
}

int protocol::connections() const {
  const std::lock_guard hold(lock_);
  return sender_.by().connections();
}

void protocol::disconnect() {
  const std::lock_guard hold(lock_);
  sender_.by().disconnect();
}

bool protocol::arm() {
  const std::lock_guard hold(lock_);
  transport::transport& by = sender_.by();
  return by.arm() && !(by.arm_misses_events() && progress_locked());
}

// ---- Operations

void protocol::put(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                   const signal_amo* signal, std::atomic<bool>* sent, transforming how) {
  if (rdma_ && put_by_rdma(of, pe, offset, source, bytes, signal, sent)) return;
  const std::lock_guard hold(lock_);
  if (!signal) {
    if (const auto messages = sender_.coalesce(of, pe, offset, source, bytes, how)) {
      if (sent) sent->store(true, std::memory_order_relaxed);
      if (*messages != 0) opportunistic_progress(*messages);
      return;
    }
  }
  const put_header header = with_signal(sender_.to(pe), offset, signal);
  if (signal)
    sender_.send_before_other(pe);
  else
    sender_.send_coalesced(pe);
  sender_.issue(of, pe, bytes);
  if (sent && sender_.copies(bytes, how)) {
    message& m = sender_.new_message();
    const auto* const first = static_cast<const std::byte*>(source);
    m.payload.assign(first, first + bytes);
    m.copied_bytes = bytes;
    sender_.send(pe, message_kind::put, m, header, m.payload.data(), bytes, transport::order::free);
    sent->store(true, std::memory_order_relaxed);
  } else {
    sender_.send(pe, message_kind::put, sender_.new_message(sent), header, source, bytes, transport::order::free);
    if (sent && sent->load(std::memory_order_relaxed)) waited_for_source(bytes, 0);
  }
  opportunistic_progress();
}

void protocol::flush() {
  sender_.paused();
  if (!sender_.any_coalesced()) return;
  const std::lock_guard hold(lock_);
  sender_.send_all_coalesced();
}

protocol::blocks_message protocol::room_for_blocks(const block_descriptor& there, std::size_t bytes) {
  blocks_message room{std::vector<std::byte>(sizeof there + bytes)};
  std::memcpy(room.payload.data(), &there, sizeof there);
  return room;
}

void protocol::scatter(outstanding& of, pe_id pe, std::size_t offset, std::size_t first, std::size_t count,
                       blocks_message blocks, const axpy* add) {
  const std::lock_guard hold(lock_);
  blocks_header header{};
  header.sent = sender_.to(pe);
  header.offset = offset;
  header.first = first;
  header.count = count;
  if (add) {
    header.accumulates = 1;
    header.type = add->type;
    header.factor = add->factor;
  }
  sender_.send_before_other(pe);
  message& m = sender_.new_message();
  m.payload = std::move(blocks.payload);
  sender_.issue(of, pe, m.payload.size());
  sender_.send(pe, message_kind::scatter, m, header, m.payload.data(), m.payload.size(), transport::order::free);
  opportunistic_progress();
}

void protocol::gather(pe_id pe, std::size_t offset, const block_descriptor& there, std::size_t first, std::size_t count,
                      reply& answer) {
  const std::lock_guard hold(lock_);
  blocks_header header{};
  header.sent = sender_.to(pe);
  header.offset = offset;
  header.first = first;
  header.count = count;
  header.token = token_of(answer);
  sender_.send_before_other(pe);
  message& m = sender_.new_message();
  const auto* const begin = reinterpret_cast<const std::byte*>(&there);
  m.payload.assign(begin, begin + sizeof there);
  sender_.send(pe, message_kind::gather, m, header, m.payload.data(), m.payload.size());
}

void protocol::get(pe_id pe, std::size_t offset, reply& answer) {
  if (rdma_ && get_by_rdma(nullptr, pe, offset, answer.destination, answer.bytes, &answer)) return;
  const std::lock_guard hold(lock_);
  sender_.send_before_other(pe);
  sender_.send(pe, message_kind::get, sender_.new_message(),
               get_header{sender_.to(pe), offset, answer.bytes, token_of(answer)});
}

void protocol::get_nbi(outstanding& of, pe_id pe, std::size_t offset, void* destination, std::size_t bytes) {
  if (rdma_ && get_by_rdma(&of, pe, offset, destination, bytes, nullptr)) return;
  const std::lock_guard hold(lock_);
  sender_.send_before_other(pe);
  const reply& answer = requests_.new_reply(of, pe, destination, bytes);
  sender_.send(pe, message_kind::get, sender_.new_message(),
               get_header{sender_.to(pe), offset, bytes, token_of(answer)});
  opportunistic_progress();
}

void protocol::non_fetching(outstanding& of, pe_id pe, const amo& u, transforming how) {
  const std::lock_guard hold(lock_);
  if (const auto messages = sender_.coalesce(of, pe, u, how)) {
    if (*messages != 0) opportunistic_progress(*messages);
    return;
  }
  sender_.send_before_other(pe);
  sender_.issue(of, pe);
  sender_.send(pe, message_kind::amo, sender_.new_message(),
               amo_header{sender_.to(pe), u.op, u.width, u.offset, u.operand, u.compare, 0});
  opportunistic_progress();
}

void protocol::fetching(pe_id pe, const amo& u, reply& answer) {
  if (rdma_ && fetch_by_rdma(nullptr, pe, u, answer.destination, &answer)) return;
  const std::lock_guard hold(lock_);
  sender_.send_before_other(pe);
  sender_.send(pe, message_kind::amo, sender_.new_message(),
               amo_header{sender_.to(pe), u.op, u.width, u.offset, u.operand, u.compare, token_of(answer)});
}

void protocol::fetching_nbi(outstanding& of, pe_id pe, const amo& u, void* old_value) {
  if (rdma_ && fetch_by_rdma(&of, pe, u, old_value, nullptr)) return;
  const std::lock_guard hold(lock_);
  sender_.send_before_other(pe);
  const reply& answer = requests_.new_reply(of, pe, old_value, u.width);
  sender_.send(pe, message_kind::amo, sender_.new_message(),
               amo_header{sender_.to(pe), u.op, u.width, u.offset, u.operand, u.compare, token_of(answer)});
  opportunistic_progress();
}

void protocol::tickets(const outstanding& of, std::vector<ticket>& result) {
  sender_.paused();
  sender_.quieted();
  const std::lock_guard hold(lock_);
  sender_.send_all_coalesced();
  requests_.completing().tickets(of, result);
}

void protocol::tickets(const outstanding& of, std::span<const pe_id> pes, std::vector<ticket>& result) {
  sender_.paused();
  sender_.quieted();
  const std::lock_guard hold(lock_);
  for (const pe_id pe : pes) {
    sender_.send_coalesced(pe);
    requests_.completing().add_ticket(of, pe, result);
  }
}

// Replies are counted by context and by PE, not by both: those of the context are complete at these PEs when none is due
// to the context, or none by these PEs.
bool protocol::reached(const outstanding& of, std::span<const pe_id> pes, std::vector<ticket>& waiting) const {
  const completion& all = requests_.completing();
  if (!all.acknowledged(waiting)) return false;
  return !completion::reply_due(of) || std::ranges::none_of(pes, [&](pe_id pe) { return all.reply_due_by(pe); });
}

void protocol::complete(outstanding& of) {
  const std::lock_guard hold(lock_);
  requests_.completing().complete(of);
}

void protocol::fenced(const outstanding& of) {
  sender_.fenced();
  if (!rdma_) return;
  const std::lock_guard hold(lock_);
  rdma_->fenced(of);
}

std::vector<model::choice_account> protocol::choices(bool rewriting) const {
  const std::lock_guard hold(lock_);
  auto all = rewriting ? sender_.accounts() : std::vector<model::choice_account>{};
  if (rdma_) model::add(all, rdma_->accounts(sender_.predicted_costs(), sender_.costs()));
  return all;
}

// ---- Operations that the network carries out by itself

// Holds the lock only for one part at a time, so that other threads of the PE get it in between.
bool protocol::put_by_rdma(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                           const signal_amo* signal, std::atomic<bool>* sent) {
  const auto costs = sender_.costs();
  const auto* from = static_cast<const std::byte*>(source);
  std::unique_lock hold(lock_);
  if (!rdma_->takes_put(pe, offset, bytes, costs)) return false;
  while (bytes > most_under_lock && rdma_->by_processor(pe)) {
    rdma_->put(of, pe, offset, from, most_under_lock, nullptr, nullptr);
    send_rings_and_signals();
    offset += most_under_lock;
    from += most_under_lock;
    bytes -= most_under_lock;
    hold.unlock();
    hold.lock();
  }
  rdma_->put(of, pe, offset, from, bytes, signal, sent);
  send_rings_and_signals();
  return true;
}

bool protocol::get_by_rdma(outstanding* of, pe_id pe, std::size_t offset, void* destination, std::size_t bytes,
                           reply* answer) {
  const auto costs = sender_.costs();
  auto* to = static_cast<std::byte*>(destination);
  std::unique_lock hold(lock_);
  if (!rdma_->takes_get(pe, offset, bytes, costs)) return false;
  while (bytes > most_under_lock && rdma_->by_processor(pe)) {
    rdma_->get(nullptr, pe, offset, to, most_under_lock, nullptr);
    offset += most_under_lock;
    to += most_under_lock;
    bytes -= most_under_lock;
    hold.unlock();
    hold.lock();
  }
  rdma_->get(of, pe, offset, to, bytes, answer);
  return true;
}

bool protocol::fetch_by_rdma(outstanding* of, pe_id pe, const amo& u, void* old_value, reply* answer) {
  const auto costs = sender_.costs();
  const std::lock_guard hold(lock_);
  if (!rdma_->takes_fetch(pe, u, costs)) return false;
  rdma_->fetch(of, pe, u, old_value, answer);
  send_rings_and_signals();
  return true;
}

// Sends the messages that operations by RDMA need: a ring to a target that waits for what was written, and the signal
// behind data that has arrived. A signal counts in its context until the target has applied it. If its put was already
// outstanding, it counts before the put ends, so that a quiet that has begun waits for both.
void protocol::send_rings_and_signals() {
  if (!rdma_->any_due()) return;
  for (const auto& due : rdma_->take_due()) {
    if (!due.signal) {
      sender_.send(due.to, message_kind::ring, sender_.new_message(), ring_header{sender_.to(due.to)});
      continue;
    }
    sender_.send_before_other(due.to);
    std::uint64_t token = 0;
    if (due.counted)  // a quiet that already waits has no ticket for this message, but checks replies
      token = token_of(requests_.new_reply(*due.of, due.to, nullptr, 0));
    else
      sender_.issue(*due.of, due.to);
    sender_.send(due.to, message_kind::put, sender_.new_message(),
                 with_signal(sender_.to(due.to), 0, &*due.signal, token));
    if (due.counted) requests_.completing().replied(*due.of, due.to);
  }
}

rdma_counts protocol::by_rdma() const {
  const std::lock_guard hold(lock_);
  return rdma_ ? rdma_->counts() : rdma_counts{};
}

std::string protocol::why_no_rdma() const {
  const std::lock_guard hold(lock_);
  return sender_.by().why_no_rdma();
}

// ---- Progress

bool protocol::progress() {
  const std::lock_guard hold(lock_);
  return progress_locked();
}

bool protocol::progress_unless_another_does() {
  const std::unique_lock hold(lock_, std::try_to_lock);
  return hold && progress_locked();
}

// A thread that sends a stream of messages holds the lock anyway. Handling arrivals here, every few messages, saves a
// wake-up of the progress thread and a contended lock for each of them.
void protocol::opportunistic_progress(unsigned messages) {
  sent_since_progress_ += messages;
  if (sent_since_progress_ < messages_per_round) return;
  sent_since_progress_ = 0;
  progress_locked();
  opportunistic_.fetch_add(1, std::memory_order_relaxed);
}

bool protocol::progress_locked() {
  // Bounded, so that a flood of messages cannot keep the caller from checking its condition. Ends as soon as a waiting
  // thread, of this PE or another, has what it waits for, because each further round takes a system call.
  int rounds = 0;
  requests_.begin_round();
  while (rounds < most_rounds && sender_.by().progress()) {
    ++rounds;
    if (requests_.replied() || server_.has_answers()) break;
  }
  const bool traffic = rounds > 0 || server_.has_answers() || server_.has_acks();
  server_.send_answers(sender_);
  if (rdma_) send_rings_and_signals();
  server_.send_acks(sender_);
  sender_.send_overdue();
  return traffic;
}

void protocol::received(unsigned kind, std::span<const std::byte> header, const transport::incoming& payload) {
  if (!admission_.admits(kind, header)) return;  // a payload that was only announced is not fetched
  transport::transport& from = sender_.by();
  tsan_acquire();
  switch (static_cast<message_kind>(kind)) {
    case message_kind::put:
      server_.put(from, header, payload);
      break;
    case message_kind::coalesced:
      server_.coalesced(from, header, payload);
      break;
    case message_kind::scatter:
      server_.scatter(from, header, payload);
      break;
    case message_kind::get:
      server_.get(header);
      break;
    case message_kind::gather:
      server_.gather(header, payload);
      break;
    case message_kind::reply:
      if (rdma_) rdma_->answered_by(pe_id{read_header<envelope>(header.data()).from});
      requests_.received_reply(from, header, payload);
      break;
    case message_kind::amo:
      server_.amo(header);
      break;
    case message_kind::acknowledge:
      if (rdma_) rdma_->answered_by(pe_id{read_header<envelope>(header.data()).from});
      requests_.received_ack(header);
      break;
    case message_kind::ring:
      hooks_.memory_changed();
      break;
  }
  tsan_release();
}

}  // namespace lull::fabric
