#include "fabric/transfers/transfers.hpp"

#include <vector>

#include "base/clock.hpp"
#include "base/settings.hpp"

namespace lull::fabric {
namespace {

constexpr unsigned fetches_per_round = 8;  // of the PE's own memory: progress takes a system call over tcp

}  // namespace

transfers::transfers(pe_id me, const symmetric_memory& memory, wait::waiting& waits, protocol* remote,
                     progress_thread* progress, bool oversubscribed)
    : me_(me),
      memory_(memory),
      waits_(waits),
      remote_(remote),
      progress_(progress),
      oversubscribed_(oversubscribed),
      transform_(transforming_named(setting_text("LULL_TRANSFORM")).value_or(transforming::automatic)),
      most_outstanding_(static_cast<std::uint64_t>(setting_integer("LULL_MAX_OUTSTANDING"))) {}

// A program that repeatedly fetches a word of its own memory waits for a message. The progress thread could not run
// before it yields the core, so the caller makes progress itself from time to time, like a thread that tests.
void transfers::polled_own_memory() {
  thread_local unsigned fetches = 0;
  if (++fetches % fetches_per_round == 0) drive();
}

void transfers::wait_until_there_is_room(const context& c, wait::operation what, pe_id pe) {
  waits_.until({what, 0, pe.index(), c.policy, true}, [&] { return remote_->under_way(pe) < most_outstanding_; });
}

bool transfers::join(const context& c, void* target, const void* source, std::size_t bytes, pe_id pe) {
  if (!remote_->join(c.outstanding_, pe, memory_.offset_of(target), source, bytes, rewriting(c))) return false;
  unconfirmed_.add(bytes, pe);
  return true;
}

bool transfers::join(const context& c, void* target, amo u, pe_id pe) {
  u.offset = memory_.offset_of(target);
  return remote_->join(c.outstanding_, pe, u, rewriting(c));
}

void transfers::put_remote(context& c, void* target, const void* source, std::size_t bytes, pe_id pe,
                           const signal_amo* signal, bool blocking) {
  wait_for_room(c, wait::operation::put, pe);
  unconfirmed_.add(bytes, pe);
  const std::size_t offset = memory_.offset_of(target);
  const transforming how = rewriting(c);
  if (!blocking) return remote_->put(c.outstanding_, pe, offset, source, bytes, signal, nullptr, how);
  std::atomic<bool> sent{false};
  remote_->put(c.outstanding_, pe, offset, source, bytes, signal, &sent, how);
  if (sent.load(std::memory_order_acquire)) return tsan_acquire();
  const std::int64_t begin = now_ns();
  waits_.until({wait::operation::put, bytes, pe.index(), c.policy, true},
               [&] { return sent.load(std::memory_order_acquire); });
  remote_->waited_for_source(bytes, now_ns() - begin);
}

void transfers::put_signal(context& c, void* target, const void* source, std::size_t bytes, const signal& then,
                           pe_id pe, bool blocking) {
  if (void* const there = memory_.direct(target, pe)) {
    copy_bytes(there, source, bytes);
    apply_amo({then.how, 8, 0, then.value, 0}, memory_.direct(then.word, pe));
    if (then.whole_node)
      memory_.ring_node();
    else
      memory_.bell_of(pe).ring_for_store_after_atomic();
    return;
  }
  const signal_amo wanted{memory_.offset_of(then.word), then.value, then.how, then.whole_node};
  put_remote(c, target, source, bytes, pe, &wanted, blocking);
}

void transfers::wait_for(reply& answer, wait::awaited what) {
  what.ends_with = &answer.done;
  waits_.until(what, [&] { return answer.done.done(); });
}

void transfers::get_nbi_remote(context& c, void* destination, const void* source, std::size_t bytes, pe_id pe) {
  wait_for_room(c, wait::operation::get, pe);
  remote_->get_nbi(c.outstanding_, pe, memory_.offset_of(source), destination, bytes);
}

void transfers::get_remote(context& c, void* destination, const void* source, std::size_t bytes, pe_id pe) {
  reply answer{.destination = destination, .bytes = bytes};
  remote_->get(pe, memory_.offset_of(source), answer);
  wait_for(answer, {wait::operation::get, bytes, pe.index(), c.policy, true});
}

void transfers::non_fetching_remote(context& c, void* target, amo u, pe_id pe) {
  wait_for_room(c, wait::operation::atomic, pe);
  u.offset = memory_.offset_of(target);
  remote_->non_fetching(c.outstanding_, pe, u, rewriting(c));
}

std::uint64_t transfers::fetching_remote(context& c, void* target, amo u, pe_id pe) {
  std::uint64_t old = 0;
  reply answer{.destination = &old, .bytes = u.width};
  u.offset = memory_.offset_of(target);
  remote_->fetching(pe, u, answer);
  wait_for(answer, {wait::operation::atomic, u.width, pe.index(), c.policy, true});
  return old;
}

void transfers::fetching_nbi(context& c, void* old_value, void* target, amo u, pe_id pe) {
  if (memory_.direct(target, pe)) {
    const std::uint64_t old = fetching(c, target, u, pe);
    std::memcpy(old_value, &old, u.width);  // Lull runs only on little-endian machines
    return;
  }
  wait_for_room(c, wait::operation::atomic, pe);
  u.offset = memory_.offset_of(target);
  remote_->fetching_nbi(c.outstanding_, pe, u, old_value);
}

void transfers::fence(context& c) {
  std::atomic_thread_fence(std::memory_order_release);
  if (!remote_) return;
  // Messages to one PE are applied in order, except those that the transport lets later ones overtake.
  if (protocol::must_complete_to_order(c.outstanding_)) quiet(c);
  remote_->fenced(c.outstanding_);
}

void transfers::quiet(context& c) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (c.outstanding_.none()) return;
  std::vector<ticket> waiting;
  remote_->tickets(c.outstanding_, waiting);
  const auto [bytes, peer] = unconfirmed_.take();
  waits_.until({wait::operation::quiet, bytes, peer, c.policy, true},
               [&] { return remote_->reached(c.outstanding_, waiting); });
  remote_->complete(c.outstanding_);
}

void transfers::quiet(context& c, std::span<const pe_id> pes) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (c.outstanding_.none()) return;
  std::vector<ticket> waiting;
  remote_->tickets(c.outstanding_, pes, waiting);
  waits_.until({wait::operation::quiet, 0, pes.size() == 1 ? pes[0].index() : -1, c.policy, true},
               [&] { return remote_->reached(c.outstanding_, pes, waiting); });
  remote_->complete(c.outstanding_);
}

void transfers::all_complete() {
  if (!remote_) return;
  remote_->flush();
  waits_.until({wait::operation::quiet}, [&] { return remote_->all_complete(); });
}

}  // namespace lull::fabric
