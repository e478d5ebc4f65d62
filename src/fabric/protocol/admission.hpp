// Decides who may send to this PE: processes that know its key. The PEs of the job exchange their keys at start.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "fabric/protocol/messages.hpp"

namespace lull::fabric {

class admission {
 public:
  admission(pe_id me, int pes);  // draws this PE's key

  [[nodiscard]] std::uint64_t my_key() const { return my_key_; }
  [[nodiscard]] std::uint64_t key_of(pe_id pe) const { return keys_[static_cast<std::size_t>(pe.index())]; }
  void set_key(pe_id pe, std::uint64_t key) { keys_[static_cast<std::size_t>(pe.index())] = key; }

  // Whether the message is from a PE of this job and has the header of its kind. The first message that is refused
  // prints a line on stderr.
  [[nodiscard]] bool admits(unsigned kind, std::span<const std::byte> header);
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  pe_id me_;
  std::uint64_t my_key_;
  std::vector<std::uint64_t> keys_;  // by PE
  std::uint64_t refused_ = 0;
};

}  // namespace lull::fabric
