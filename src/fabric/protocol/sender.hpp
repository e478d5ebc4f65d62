// How messages leave this PE. The sender takes them from pools, gives each the key of its target, coalesces small puts
// into one message, and passes all to the transport. A message belongs to the transport until the transport reports it
// as sent; then it returns to its pool.
//
// Call with the lock of the protocol held, except where a comment says otherwise. A second, quick lock guards the open
// coalesced messages and the decisions about puts. It is the only lock of join(), by which most puts of a stream of
// small ones leave. A caller that needs both locks takes the quick lock last.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/units.hpp"
#include "fabric/operations/completion.hpp"
#include "fabric/operations/quick_lock.hpp"
#include "fabric/protocol/admission.hpp"
#include "fabric/protocol/coalescer.hpp"
#include "fabric/protocol/hooks.hpp"
#include "fabric/protocol/messages.hpp"
#include "fabric/protocol/transforming.hpp"
#include "transport/pool.hpp"
#include "transport/transport.hpp"

namespace lull::fabric {

// LULL_COALESCE and LULL_COALESCE_US.
struct coalescing {
  std::size_t message_bytes;  // 0: no puts are coalesced
  std::int64_t longest_ns;
};

using make_transport = std::function<std::unique_ptr<transport::transport>(transport::receiver&)>;

class sender {
 public:
  sender(pe_id me, int pes, const admission& keys, completion& completing, const protocol_hooks& hooks,
         const coalescing& small_puts, std::unique_ptr<transport::transport> by);
  sender(const sender&) = delete;
  sender& operator=(const sender&) = delete;

  [[nodiscard]] transport::transport& by() { return *transport_; }
  [[nodiscard]] const transport::transport& by() const { return *transport_; }

  // ---- A single message

  [[nodiscard]] envelope to(pe_id pe) const { return {keys_.key_of(pe), me_.index()}; }
  // `sent`, if not null, turns true once the transport has sent the message.
  [[nodiscard]] message& new_message(std::atomic<bool>* sent = nullptr) { return prepared(messages_, sent); }
  // Counts the next message to `pe` as an operation of this context. `free_bytes`: the size of its payload if it is
  // sent with order::free.
  void issue(outstanding& of, pe_id pe, std::size_t free_bytes = 0) {
    completion_.issue(of, pe, free_bytes != 0 && free_bytes >= transport_->overtakable_from());
  }
  // Times one small message of many, from which the transformer learns the cost of a message for its sender.
  template <class Header>
  void send(pe_id pe, message_kind kind, message& m, const Header& header, const void* data = nullptr,
            std::size_t bytes = 0, transport::order wanted = transport::order::kept) {
    const std::size_t header_bytes = m.set(header);
    const auto give = [&] {
      transport_->send(pe.index(), static_cast<unsigned>(kind), m, {m.header, header_bytes}, data, bytes, wanted);
    };
    constexpr unsigned messages_per_sample = 16;  // one small message of this many is timed
    constexpr std::size_t small = 512;            // the first, which connects, never is
    if (bytes > small || ++messages_seen_ % messages_per_sample != 0 || !transformer_.measures()) return give();
    const std::int64_t begin = now_ns();
    give();
    const std::int64_t took = now_ns() - begin;
    const std::lock_guard quickly(quick_);
    transformer_.message_took(took);
  }
  // Called by the messages, which the transport reports as sent or lost.
  void sent(message& m);
  [[noreturn]] void lost(const char* why) const { abort_on_unreachable(me_, hooks_, "send to", why); }

  // ---- Coalesced puts

  // Adds a small put to the open message of this context, at the cost of the quick lock and a copy. False: there is no
  // such message, or the put may not join it; nothing has changed. Call without the lock of the protocol.
  [[nodiscard]] bool join(const outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                          transforming how) {
    if (bytes >= put_transformer::least_timed_copy || !coalescer_.any()) return false;
    const std::lock_guard quickly(quick_);
    if (!transformer_.goes_on(pe, bytes, how) || !coalescer_.add_another(of, pe, offset, source, bytes)) return false;
    transformer_.joined(pe, bytes);
    return true;
  }
  // The same for an atomic without answer, if the rewriting is `on`.
  [[nodiscard]] bool join(const outstanding& of, pe_id pe, const amo& u, transforming how) {
    if (how != transforming::on || !coalescer_.any()) return false;
    const std::lock_guard quickly(quick_);
    if (!transformer_.goes_on(pe, sizeof(coalesced_amo), how) || !coalescer_.add_another(of, pe, u)) return false;
    transformer_.joined_by_atomic(pe);
    return true;
  }
  // Adds the put to the open message, which it may open first and send afterwards. Returns the number of messages that
  // have left; empty: the put must be a message of its own.
  [[nodiscard]] std::optional<unsigned> coalesce(outstanding& of, pe_id pe, std::size_t offset, const void* source,
                                                 std::size_t bytes, transforming how);
  [[nodiscard]] std::optional<unsigned> coalesce(outstanding& of, pe_id pe, const amo& u, transforming how);
  // Sends the open message to `pe`; false: there is none.
  bool send_coalesced(pe_id pe, put_transformer::leaving why = put_transformer::leaving::in_time);
  void send_before_other(pe_id pe);  // the same, before an operation of another kind
  void send_all_coalesced();
  void send_overdue();
  [[nodiscard]] bool any_coalesced() const { return coalescer_.any(); }       // without the lock
  [[nodiscard]] int deadline_fd() const { return coalescer_.deadline_fd(); }  // readable when a message is overdue

  // ---- Decisions about puts, and their costs; without the lock

  [[nodiscard]] bool copies(std::size_t bytes, transforming how);  // whether a blocking put copies its source
  void waited_for_source(std::size_t bytes, std::int64_t ns);
  void paused() { transformer_.paused(); }
  void quieted() { transformer_.quieted(); }
  void fenced() { transformer_.fenced(); }
  [[nodiscard]] model::put_costs costs() const;
  [[nodiscard]] model::put_costs predicted_costs() const;
  [[nodiscard]] transforming_counts transformed() const;
  [[nodiscard]] std::vector<model::choice_account> accounts() const;

 private:
  [[nodiscard]] message& prepared(pool<message>& from, std::atomic<bool>* sent);
  [[nodiscard]] put_transformer::way next_put(pe_id pe, std::size_t bytes, transforming how);
  [[nodiscard]] bool add_to_open(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                                 bool joins);
  [[nodiscard]] bool add_to_open(outstanding& of, pe_id pe, const amo& u);
  unsigned open(outstanding& of, pe_id pe, std::size_t bytes);  // returns the number of messages that have left

  pe_id me_;
  const admission& keys_;
  completion& completion_;
  const protocol_hooks& hooks_;
  mutable quick_lock quick_;  // guards these two
  put_transformer transformer_;
  coalescer coalescer_;
  pool<message> messages_, coalesced_messages_;
  unsigned messages_seen_ = 0;
  std::unique_ptr<transport::transport> transport_;  // destroyed first, because it calls the members above
};

}  // namespace lull::fabric
