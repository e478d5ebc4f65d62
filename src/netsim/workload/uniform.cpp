// Every process sends to any other, drawn for each message. In a closed loop every process sends to the rank at a
// distance drawn for the iteration.
#include "netsim/workload/pattern.hpp"

namespace lull::netsim {
namespace {

class uniform : public every_process_sends {
 public:
  uniform(const job_setup& setup, const reader& /*no keys*/, generator& /*random*/)
      : size_(setup.size()), seed_(setup.asked.seed) {}
  [[nodiscard]] std::uint32_t next_partner(drawing& d) const { return any_other(d, size_); }
  [[nodiscard]] std::vector<std::uint32_t> partners(std::uint32_t rank, std::uint32_t iteration) const {
    generator random(seed_ + iteration);
    return {(rank + 1 + random.below(size_ - 1)) % size_};
  }
  [[nodiscard]] static std::uint32_t expected_by(std::uint32_t /*rank*/, std::uint32_t /*iteration*/) { return 1; }

 private:
  std::uint32_t size_;
  std::uint64_t seed_;
};

}  // namespace

workload_entry uniform_entry() {
  return pattern_entry<uniform>("uniform", "to any other process, chosen at random for each message");
}

}  // namespace lull::netsim
