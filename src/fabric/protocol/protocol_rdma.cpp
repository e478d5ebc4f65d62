// The operations of protocol.hpp that the network carries out by itself, as far as they are the protocol's business: its
// lock, and the messages that such an operation takes all the same. Which operations these are, their order and whom they
// wake is rdma.hpp's.
//
// put_by_rdma(), get_by_rdma() and fetch_by_rdma() are asked before a message is made. False: the operation is to be a
// message, and nothing has happened. True: it has begun. None of them waits, and none holds the lock for longer than a
// part of a large transfer takes.
//
// send_due() sends what operations want said when it is due, which they, and progress(), look at: a ring to a target that
// waits for what was written, and the signal behind data that has arrived. A signal counts in its context until the target
// has applied it; where its put was outstanding already, from before the put ends, so that a quiet that has begun waits
// for both.
#include <mutex>

#include "fabric/protocol/sending.hpp"

namespace lull::fabric {
namespace {

// A transfer that this processor carries out holds the lock for no more than so much at a time.
constexpr std::size_t most_under_lock = std::size_t{1} << 20U;

}  // namespace

bool protocol::put_by_rdma(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                           const signal_amo* signal, std::atomic<bool>* sent) {
  const auto costs = this->costs();
  const auto* from = static_cast<const std::byte*>(source);
  std::unique_lock hold(lock_);
  if (!rdma_->takes_put(pe, offset, bytes, costs)) return false;
  while (bytes > most_under_lock && rdma_->by_processor(pe)) {
    rdma_->put(of, pe, offset, from, most_under_lock, nullptr, nullptr);
    if (rdma_->any_due()) send_due();
    offset += most_under_lock;
    from += most_under_lock;
    bytes -= most_under_lock;
    hold.unlock();
    hold.lock();
  }
  rdma_->put(of, pe, offset, from, bytes, signal, sent);
  if (rdma_->any_due()) send_due();
  return true;
}

bool protocol::get_by_rdma(outstanding* of, pe_id pe, std::size_t offset, void* destination, std::size_t bytes,
                           reply* answer) {
  const auto costs = this->costs();
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
  const auto costs = this->costs();
  const std::lock_guard hold(lock_);
  if (!rdma_->takes_fetch(pe, u, costs)) return false;
  rdma_->fetch(of, pe, u, old_value, answer);
  if (rdma_->any_due()) send_due();
  return true;
}

void protocol::send_due() {
  for (const auto& due : rdma_->take_due()) {
    if (!due.signal) {
      send(due.to, message_kind::ring, new_message(), ring_header{to(due.to)});
      continue;
    }
    send_before_other(due.to);
    std::uint64_t token = 0;
    if (due.counted)  // some quiet may wait already: for a reply, then, of which it need not have known
      token = token_of(new_reply(*due.of, due.to, nullptr, 0));
    else
      issue(*due.of, due.to);
    send(due.to, message_kind::put, new_message(), with_signal(to(due.to), 0, &*due.signal, token));
    if (due.counted) completion_.replied(*due.of, due.to);
  }
}

model::put_costs protocol::costs() const {
  const std::lock_guard quickly(quick_);
  return transformer_.costs();
}

rdma_counts protocol::by_rdma() const {
  const std::lock_guard hold(lock_);
  return rdma_ ? rdma_->counts() : rdma_counts{};
}

}  // namespace lull::fabric
