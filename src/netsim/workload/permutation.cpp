// Every process sends to one other and receives from one. The permutation is drawn once and is a single cycle, so no
// process sends to itself (Sattolo 1986).
#include <numeric>

#include "netsim/workload/pattern.hpp"

namespace lull::netsim {
namespace {

class permutation : public every_process_sends {
 public:
  permutation(const job_setup& setup, const reader& /*no keys*/, generator& random) : to_(setup.size()) {
    std::iota(to_.begin(), to_.end(), 0U);
    for (std::uint32_t i = setup.size(); i-- > 1;) std::swap(to_[i], to_[random.below(i)]);
  }
  [[nodiscard]] std::uint32_t next_partner(drawing& d) const { return to_[d.rank]; }
  [[nodiscard]] std::vector<std::uint32_t> partners(std::uint32_t rank, std::uint32_t /*iteration*/) const {
    return {to_[rank]};
  }
  [[nodiscard]] static std::uint32_t expected_by(std::uint32_t /*rank*/, std::uint32_t /*iteration*/) { return 1; }

 private:
  std::vector<std::uint32_t> to_;
};

}  // namespace

workload_entry permutation_entry() {
  return pattern_entry<permutation>("permutation", "each process to one other, chosen at random once");
}

}  // namespace lull::netsim
