// The acknowledgements that this process must still send: one for many messages, in the order in which these were
// applied.
#pragma once
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace lull::fabric {

class pending_acks {
 public:
  explicit pending_acks(int pes) : peers_(static_cast<std::size_t>(pes)) {}

  [[nodiscard]] bool any() const { return !due_.empty(); }
  void add(pe_id to) {  // one more message from `to` has been applied
    if (of(to).messages++ == 0) due_.push_back(to);
  }
  // Between hold() and release(), messages from that PE stay unacknowledged: the payload of an earlier one is in
  // flight.
  void hold(pe_id to) { ++of(to).held; }
  void release(pe_id to) { --of(to).held; }

  // Calls send(PE, messages) for each PE that is not held.
  template <class Send>
  void send_all(Send&& send) {
    std::erase_if(due_, [&](pe_id to) {
      peer& other = of(to);
      if (other.held != 0) return false;
      send(to, other.messages);
      other.messages = 0;
      return true;
    });
  }

 private:
  struct peer {
    std::uint32_t messages = 0, held = 0;
  };
  peer& of(pe_id pe) { return peers_[static_cast<std::size_t>(pe.index())]; }

  std::vector<peer> peers_;
  std::vector<pe_id> due_;
};

}  // namespace lull::fabric
