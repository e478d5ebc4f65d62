#include "fabric/protocol/sender.hpp"

#include <utility>

#include "model/machine/machine_file.hpp"

namespace lull::fabric {
namespace {

constexpr std::size_t kept_payload = std::size_t{64} << 10U;  // a message keeps up to this much memory for reuse

}  // namespace

void message::sent() { owner->sent(*this); }

void message::lost(const char* why) { owner->lost(why); }

sender::sender(pe_id me, int pes, const admission& keys, completion& completing, const protocol_hooks& hooks,
               const coalescing& small_puts, std::unique_ptr<transport::transport> by)
    : me_(me),
      keys_(keys),
      completion_(completing),
      hooks_(hooks),
      transformer_(pes, small_puts.message_bytes, model::this_machine()),
      coalescer_(pes, small_puts.message_bytes, small_puts.longest_ns),
      transport_(std::move(by)) {}

// ---- A single message

message& sender::prepared(pool<message>& from, std::atomic<bool>* sent) {
  message& m = from.take();
  m.home = &from;
  m.owner = this;
  m.sent_flag = sent;
  return m;
}

void sender::sent(message& m) {
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

// ---- Coalesced puts

bool sender::add_to_open(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
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

std::optional<unsigned> sender::coalesce(outstanding& of, pe_id pe, std::size_t offset, const void* source,
                                         std::size_t bytes, transforming how) {
  if (!coalescer_.takes(offset, bytes)) return std::nullopt;
  const auto leaves = next_put(pe, bytes, how);
  if (leaves == put_transformer::way::alone) return std::nullopt;
  const bool sends = leaves == put_transformer::way::coalesced_and_sent;
  unsigned messages = 0;
  if (!add_to_open(of, pe, offset, source, bytes, !sends)) {
    messages += open(of, pe, bytes);
    (void)add_to_open(of, pe, offset, source, bytes, false);
  }
  if (sends && send_coalesced(pe)) ++messages;
  return messages;
}

unsigned sender::open(outstanding& of, pe_id pe, std::size_t bytes) {
  const unsigned messages = send_coalesced(pe) ? 1 : 0;
  message& empty = prepared(coalesced_messages_, nullptr);
  {
    const std::lock_guard quickly(quick_);
    coalescer_.open(pe, empty, bytes);
  }
  issue(of, pe);
  return messages;
}

bool sender::add_to_open(outstanding& of, pe_id pe, const amo& u) {
  const std::lock_guard quickly(quick_);
  if (!coalescer_.has(pe)) return false;
  completion_.share(of, pe);
  if (!coalescer_.add(of, pe, u)) return false;
  transformer_.count_coalesced_atomic();
  return true;
}

std::optional<unsigned> sender::coalesce(outstanding& of, pe_id pe, const amo& u, transforming how) {
  if (how != transforming::on || !coalescer_.takes(u.offset, sizeof(coalesced_amo))) return std::nullopt;
  const auto leaves = next_put(pe, sizeof(coalesced_amo), how);
  if (leaves == put_transformer::way::alone) return std::nullopt;
  unsigned messages = 0;
  if (!add_to_open(of, pe, u)) {
    messages += open(of, pe, sizeof(coalesced_amo));
    (void)add_to_open(of, pe, u);
  }
  if (leaves == put_transformer::way::coalesced_and_sent && send_coalesced(pe)) ++messages;
  return messages;
}

bool sender::send_coalesced(pe_id pe, put_transformer::leaving why) {
  message* m = nullptr;
  {
    const std::lock_guard quickly(quick_);
    const auto [content, puts, since_ns] = coalescer_.close(pe);
    m = content;
    if (!m) return false;
    transformer_.left(pe, why);
    if (why == put_transformer::leaving::in_time && transformer_.measures())
      transformer_.lay(pe, puts, now_ns() - since_ns);
  }
  send(pe, message_kind::coalesced, *m, coalesced_header{to(pe)}, m->payload.data(), m->payload_bytes);
  return true;
}

void sender::send_before_other(pe_id pe) {
  {
    const std::lock_guard quickly(quick_);
    transformer_.interrupted(pe);
  }
  send_coalesced(pe);
}

void sender::send_all_coalesced() {
  while (!coalescer_.waiting().empty()) send_coalesced(coalescer_.waiting().back());
}

void sender::send_overdue() {
  std::vector<coalescer::late_message> overdue;
  {
    const std::lock_guard quickly(quick_);
    overdue = coalescer_.overdue();
  }
  for (const auto [to, lay] : overdue)
    send_coalesced(to, lay ? put_transformer::leaving::left_lying : put_transformer::leaving::late);
}

// ---- Decisions about puts, and their costs

put_transformer::way sender::next_put(pe_id pe, std::size_t bytes, transforming how) {
  const std::lock_guard quickly(quick_);
  return transformer_.next_put(pe, bytes, how);
}

bool sender::copies(std::size_t bytes, transforming how) {
  const std::lock_guard quickly(quick_);
  return transformer_.copies(bytes, how);
}

void sender::waited_for_source(std::size_t bytes, std::int64_t ns) {
  const std::lock_guard quickly(quick_);
  transformer_.waited_for_source(bytes, ns);
}

model::put_costs sender::costs() const {
  const std::lock_guard quickly(quick_);
  return transformer_.costs();
}

model::put_costs sender::predicted_costs() const {
  const std::lock_guard quickly(quick_);
  return transformer_.predicted_costs();
}

transforming_counts sender::transformed() const {
  const std::lock_guard quickly(quick_);
  return transformer_.counts();
}

std::vector<model::choice_account> sender::accounts() const {
  const std::lock_guard quickly(quick_);
  return transformer_.accounts();
}

}  // namespace lull::fabric
