#include "fabric/protocol/protocol.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/received_bytes.hpp"
#include "base/thread_sanitizer.hpp"
#include "fabric/protocol/late_payload.hpp"
#include "fabric/protocol/sending.hpp"
#include "model/machine_file.hpp"

namespace lull::fabric {
namespace {

constexpr std::size_t kept_payload = std::size_t{64} << 10U;  // a message keeps its memory for the next one up to this
constexpr unsigned messages_per_round = 8;  // of a sender, which then also receives: a round is a system call over tcp
constexpr int most_rounds = 64;             // of the transport at once: a flood must not keep the caller

}  // namespace

void message::sent() { owner->sent(*this); }

void message::lost(const char* why) { owner->lose("send to", why); }

// OpenSHMEM has no error to return, and no exception may cross its C interface: the PE ends, and with it the job.
void protocol::lose(const char* what, const char* why) {
  const std::string found = std::string("cannot ") + what + " another node: " + why;
  if (hooks_.lost) hooks_.lost(found);
  std::fprintf(stderr, "lull: PE %d: %s\n", me_.index(), found.c_str());
  std::_Exit(1);
}

protocol::protocol(pe_id me, int pes, const served_memory& memory, protocol_hooks hooks, const make_transport& make,
                   const coalescing& small_puts, const rdma_settings& by_network)
    : me_(me),
      hooks_(std::move(hooks)),
      admission_(me, pes),
      completion_(pes),
      acks_(pes),
      server_(me, memory, hooks_, acks_),
      transformer_(pes, small_puts.message_bytes, model::this_machine()),
      coalescer_(pes, small_puts.message_bytes, small_puts.longest_ns),
      transport_(make(*this)) {
  transport::remote_memory* const reached = transport_->remote();
  if (!reached) return;
  rdma_.emplace(*reached, pes, completion_,
                rdma_hooks{.changed = hooks_.memory_changed,
                           .answered = [this](reply& answer) { answered(answer); },
                           .lost = [this](const char* why) { lose("reach the memory of", why); }},
                by_network);
}

protocol::~protocol() = default;

std::vector<std::byte> protocol::contact() const {
  const std::lock_guard hold(lock_);
  const std::uint64_t key = admission_.my_key();
  std::vector<std::byte> all(sizeof key);
  std::memcpy(all.data(), &key, sizeof key);
  const auto address = transport_->address();
  all.insert(all.end(), address.begin(), address.end());
  return all;
}

void protocol::introduce(pe_id pe, std::span<const std::byte> contact) {
  const std::lock_guard hold(lock_);
  received_bytes read(contact, "reach PE " + std::to_string(pe.index()));
  admission_.introduce(pe, read.take<std::uint64_t>());
  transport_->introduce(pe.index(), read.rest());
}

int protocol::connections() const {
  const std::lock_guard hold(lock_);
  return transport_->connections();
}

void protocol::disconnect() {
  const std::lock_guard hold(lock_);
  transport_->disconnect();
}

bool protocol::arm() {
  const std::lock_guard hold(lock_);
  return transport_->arm();
}

// ---- Sending

message& protocol::new_message(std::atomic<bool>* sent) { return prepared(messages_, sent); }

message& protocol::prepared(pool<message>& from, std::atomic<bool>* sent) {
  message& m = from.take();
  m.home = &from;
  m.owner = this;
  m.sent_flag = sent;
  return m;
}

void protocol::sent(message& m) {
  if (m.sent_flag) {
    m.sent_flag->store(true, std::memory_order_release);
    hooks_.memory_changed();
  }
  m.payload_bytes = 0;
  if (m.copied_bytes != 0) {
    const std::lock_guard quickly(quick_);
    transformer_.copy_gone(std::exchange(m.copied_bytes, 0));
  }
  if (m.payload.capacity() > kept_payload) std::vector<std::byte>().swap(m.payload);
  m.home->give_back(m);
}

reply& protocol::new_reply(outstanding& of, pe_id by, void* destination, std::size_t bytes) {
  reply& answer = replies_.take();
  answer.destination = destination;
  answer.bytes = bytes;
  answer.of = &of;
  answer.by = by;
  completion_.expect_reply(of, by);
  return answer;
}

// `free_bytes`: of its payload, when that is sent with order::free.
void protocol::issue(outstanding& of, pe_id pe, std::size_t free_bytes) {
  completion_.issue(of, pe, free_bytes != 0 && free_bytes >= transport_->overtakable_from());
}

void protocol::put(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                   const signal_amo* signal, std::atomic<bool>* sent, transforming how) {
  if (rdma_ && put_by_rdma(of, pe, offset, source, bytes, signal, sent)) return;
  const std::lock_guard hold(lock_);
  if (!signal && coalescer_.takes(offset, bytes)) {
    const auto leaves = next_put(pe, bytes, how);
    if (leaves != put_transformer::way::alone) {
      coalesce(of, pe, offset, source, bytes, leaves);
      if (sent) sent->store(true, std::memory_order_relaxed);
      return;
    }
  }
  const put_header header = with_signal(to(pe), offset, signal);
  if (signal)
    send_before_other(pe);
  else
    send_coalesced(pe);
  issue(of, pe, bytes);
  if (sent && copies(bytes, how)) {
    message& m = new_message();
    const auto* const first = static_cast<const std::byte*>(source);
    m.payload.assign(first, first + bytes);
    m.copied_bytes = bytes;
    send(pe, message_kind::put, m, header, m.payload.data(), bytes, transport::order::free);
    sent->store(true, std::memory_order_relaxed);
  } else {
    send(pe, message_kind::put, new_message(sent), header, source, bytes, transport::order::free);
    if (sent && sent->load(std::memory_order_relaxed)) waited_for_source(bytes, 0);
  }
  opportunistic_progress();
}

put_transformer::way protocol::next_put(pe_id pe, std::size_t bytes, transforming how) {
  const std::lock_guard quickly(quick_);
  return transformer_.next_put(pe, bytes, how);
}

bool protocol::copies(std::size_t bytes, transforming how) {
  const std::lock_guard quickly(quick_);
  return transformer_.copies(bytes, how);
}

void protocol::waited_for_source(std::size_t bytes, std::int64_t ns) {
  const std::lock_guard quickly(quick_);
  transformer_.waited_for_source(bytes, ns);
}

bool protocol::add_to_open(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                           bool joins) {
  const std::lock_guard quickly(quick_);
  if (!coalescer_.has(pe)) return false;
  completion_.share(of, pe);  // another context may have opened it
  const bool timed = transformer_.times_copy(bytes);
  const std::int64_t begin = timed ? now_ns() : 0;
  if (!coalescer_.add(of, pe, offset, source, bytes, joins)) return false;
  if (timed) transformer_.copy_took(bytes, now_ns() - begin);
  transformer_.count_coalesced(bytes);
  return true;
}

void protocol::coalesce(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                        put_transformer::way how) {
  const bool sends = how == put_transformer::way::coalesced_and_sent;
  if (!add_to_open(of, pe, offset, source, bytes, !sends)) {
    if (send_coalesced(pe)) opportunistic_progress();
    message& empty = prepared(coalesced_messages_, nullptr);
    {
      const std::lock_guard quickly(quick_);
      coalescer_.open(pe, empty, bytes);
    }
    issue(of, pe);
    (void)add_to_open(of, pe, offset, source, bytes, false);
  }
  if (sends && send_coalesced(pe)) opportunistic_progress();
}

bool protocol::send_coalesced(pe_id pe, put_transformer::leaving why) {
  message* m = nullptr;
  {
    const std::lock_guard quickly(quick_);
    m = coalescer_.close(pe);
    if (!m) return false;
    transformer_.left(pe, why);
  }
  send(pe, message_kind::coalesced, *m, coalesced_header{to(pe)}, m->payload.data(), m->payload_bytes);
  return true;
}

void protocol::send_before_other(pe_id pe) {
  {
    const std::lock_guard quickly(quick_);
    transformer_.interrupted(pe);
  }
  send_coalesced(pe);
}

void protocol::flush_locked() {
  while (!coalescer_.waiting().empty()) send_coalesced(coalescer_.waiting().back());
}

std::vector<coalescer::late_message> protocol::overdue() {
  const std::lock_guard quickly(quick_);
  return coalescer_.overdue();
}

void protocol::flush() {
  transformer_.paused();
  if (!coalescer_.any()) return;
  const std::lock_guard hold(lock_);
  flush_locked();
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
  header.sent = to(pe);
  header.offset = offset;
  header.first = first;
  header.count = count;
  if (add) {
    header.accumulates = 1;
    header.type = add->type;
    header.factor = add->factor;
  }
  send_before_other(pe);
  message& m = new_message();
  m.payload = std::move(blocks.payload);
  issue(of, pe, m.payload.size());
  send(pe, message_kind::scatter, m, header, m.payload.data(), m.payload.size(), transport::order::free);
  opportunistic_progress();
}

void protocol::gather(pe_id pe, std::size_t offset, const block_descriptor& there, std::size_t first, std::size_t count,
                      reply& answer) {
  const std::lock_guard hold(lock_);
  blocks_header header{};
  header.sent = to(pe);
  header.offset = offset;
  header.first = first;
  header.count = count;
  header.token = token_of(answer);
  send_before_other(pe);
  message& m = new_message();
  const auto* const begin = reinterpret_cast<const std::byte*>(&there);
  m.payload.assign(begin, begin + sizeof there);
  send(pe, message_kind::gather, m, header, m.payload.data(), m.payload.size());
}

void protocol::get(pe_id pe, std::size_t offset, reply& answer) {
  if (rdma_ && get_by_rdma(nullptr, pe, offset, answer.destination, answer.bytes, &answer)) return;
  const std::lock_guard hold(lock_);
  send_before_other(pe);
  send(pe, message_kind::get, new_message(), get_header{to(pe), offset, answer.bytes, token_of(answer)});
}

void protocol::get_nbi(outstanding& of, pe_id pe, std::size_t offset, void* destination, std::size_t bytes) {
  if (rdma_ && get_by_rdma(&of, pe, offset, destination, bytes, nullptr)) return;
  const std::lock_guard hold(lock_);
  send_before_other(pe);
  const reply& answer = new_reply(of, pe, destination, bytes);
  send(pe, message_kind::get, new_message(), get_header{to(pe), offset, bytes, token_of(answer)});
  opportunistic_progress();
}

void protocol::non_fetching(outstanding& of, pe_id pe, const amo& u) {
  const std::lock_guard hold(lock_);
  send_before_other(pe);
  issue(of, pe);
  send(pe, message_kind::amo, new_message(), amo_header{to(pe), u.op, u.width, u.offset, u.operand, u.compare, 0});
  opportunistic_progress();
}

void protocol::fetching(pe_id pe, const amo& u, reply& answer) {
  if (rdma_ && fetch_by_rdma(nullptr, pe, u, answer.destination, &answer)) return;
  const std::lock_guard hold(lock_);
  send_before_other(pe);
  send(pe, message_kind::amo, new_message(),
       amo_header{to(pe), u.op, u.width, u.offset, u.operand, u.compare, token_of(answer)});
}

void protocol::fetching_nbi(outstanding& of, pe_id pe, const amo& u, void* old_value) {
  if (rdma_ && fetch_by_rdma(&of, pe, u, old_value, nullptr)) return;
  const std::lock_guard hold(lock_);
  send_before_other(pe);
  const reply& answer = new_reply(of, pe, old_value, u.width);
  send(pe, message_kind::amo, new_message(),
       amo_header{to(pe), u.op, u.width, u.offset, u.operand, u.compare, token_of(answer)});
  opportunistic_progress();
}

void protocol::tickets(const outstanding& of, std::vector<ticket>& result) {
  transformer_.paused();
  transformer_.quieted();
  const std::lock_guard hold(lock_);
  flush_locked();
  completion_.tickets(of, result);
}

void protocol::complete(outstanding& of) {
  const std::lock_guard hold(lock_);
  completion_.complete(of);
}

transforming_counts protocol::transformed() const {
  const std::lock_guard quickly(quick_);
  return transformer_.counts();
}

void protocol::fenced(const outstanding& of) {
  transformer_.fenced();
  if (!rdma_) return;
  const std::lock_guard hold(lock_);
  rdma_->fenced(of);
}

std::vector<model::choice_account> protocol::choices(bool rewriting) const {
  const std::lock_guard hold(lock_);
  const std::lock_guard quickly(quick_);
  auto all = rewriting ? transformer_.accounts() : std::vector<model::choice_account>{};
  if (rdma_) model::add(all, rdma_->accounts(transformer_.predicted_costs(), transformer_.costs()));
  return all;
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

// Who sends a stream of messages has the lock at hand anyway: handling what arrives here, every few messages, spares a
// wake-up of the progress thread and a contended lock for each of them.
void protocol::opportunistic_progress() {
  if (++sent_since_progress_ % messages_per_round != 0) return;
  progress_locked();
  opportunistic_.fetch_add(1, std::memory_order_relaxed);
}

bool protocol::progress_locked() {
  // Bounded, so that a flood of messages cannot keep the caller from looking at what it waits for; and over as soon as
  // somebody here or elsewhere waits for what has come, for another look at the sockets takes a system call.
  int rounds = 0;
  awaited_ = false;
  while (rounds < most_rounds && transport_->progress()) {
    ++rounds;
    if (awaited_ || !server_.answers().empty()) break;
  }
  const bool traffic = rounds > 0 || !server_.answers().empty() || acks_.any();
  send_answers();
  if (rdma_ && rdma_->any_due()) send_due();
  acks_.send_all([this](pe_id pe, std::uint32_t messages) {
    send(pe, message_kind::acknowledge, new_message(), acknowledge_header{to(pe), messages});
  });
  for (const auto [to, lay] : overdue())
    send_coalesced(to, lay ? put_transformer::leaving::left_lying : put_transformer::leaving::late);
  return traffic;
}

// Here and not where they are made: that is inside the transport's progress.
void protocol::send_answers() {
  for (answer& due : server_.answers()) {
    message& m = new_message();
    const reply_header header{to(due.to), due.token};
    const void* data = server_.memory() + due.offset;
    if (due.immediate) {  // the value travels in the message's own memory, behind its header
      std::memcpy(m.header + sizeof header, &due.value, sizeof due.value);
      data = m.header + sizeof header;
    } else if (!due.packed.empty()) {
      m.payload = std::move(due.packed);
      data = m.payload.data();
    }
    send(due.to, message_kind::reply, m, header, data, due.bytes, transport::order::free);
  }
  server_.answers().clear();
}

// ---- Receiving

void protocol::received(unsigned kind, std::span<const std::byte> header, const transport::incoming& payload) {
  if (!admission_.admits(kind, header)) return;  // and a payload that is still to come is not fetched
  tsan_acquire();
  switch (static_cast<message_kind>(kind)) {
    case message_kind::put:
      server_.put(*transport_, header, payload);
      break;
    case message_kind::coalesced:
      server_.coalesced(*transport_, header, payload);
      break;
    case message_kind::scatter:
      server_.scatter(*transport_, header, payload);
      break;
    case message_kind::get:
      server_.get(header);
      break;
    case message_kind::gather:
      server_.gather(header, payload);
      break;
    case message_kind::reply:
      on_reply(header, payload);
      break;
    case message_kind::amo:
      server_.amo(header);
      break;
    case message_kind::acknowledge:
      on_acknowledge(header);
      break;
    case message_kind::ring:
      hooks_.memory_changed();
      break;
  }
  tsan_release();
}

// The caller's own reply may be gone as soon as it is done, so that comes last.
void protocol::answered(reply& answer) {
  awaited_ = true;
  const bool others_may_wait = answer.of || server_.serves(answer.destination);
  if (outstanding* const of = answer.of) {
    const pe_id by = answer.by;
    replies_.give_back(answer);
    completion_.replied(*of, by);
  } else if (answer.done.complete() && hooks_.sleeper_answered) {
    hooks_.sleeper_answered();
  }
  if (others_may_wait) hooks_.memory_changed();
}

void protocol::on_reply(std::span<const std::byte> header, const transport::incoming& payload) {
  const auto come = read_header<reply_header>(header.data());
  if (rdma_) rdma_->answered_by(pe_id{come.sent.from});
  // The token is an address of this process that came back.
  auto& answer = *reinterpret_cast<reply*>(come.token);  // NOLINT(performance-no-int-to-ptr)
  const auto unpack = [&answer, this](const std::byte* packed) {
    answer.blocks->scatter(answer.destination, packed, answer.first, answer.count);
    answered(answer);
  };
  if (payload.announced && answer.blocks) {
    fetch_payload(*transport_, payload, nullptr, unpack);
  } else if (payload.announced) {
    fetch_payload(*transport_, payload, static_cast<std::byte*>(answer.destination),
                  [&answer, this](const std::byte*) { answered(answer); });
  } else if (answer.blocks) {
    unpack(static_cast<const std::byte*>(payload.data));
  } else {
    copy_bytes(answer.destination, payload.data, payload.bytes);
    answered(answer);
  }
}

void protocol::on_acknowledge(std::span<const std::byte> header) {
  const auto ack = read_header<acknowledge_header>(header.data());
  completion_.acknowledged(pe_id{ack.sent.from}, ack.count);
  if (rdma_) rdma_->answered_by(pe_id{ack.sent.from});
  hooks_.memory_changed();
}

}  // namespace lull::fabric
