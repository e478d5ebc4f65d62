// Every process sends to every other in turn, beginning with the next rank.
#include "netsim/workload/pattern.hpp"

namespace lull::netsim {
namespace {

class all_processes : public every_process_sends {
 public:
  all_processes(const job_setup& setup, const reader& /*no keys*/, generator& /*random*/) : size_(setup.size()) {}
  [[nodiscard]] std::uint32_t next_partner(drawing& d) const { return (d.rank + 1 + d.turn++ % (size_ - 1)) % size_; }
  [[nodiscard]] std::vector<std::uint32_t> partners(std::uint32_t rank, std::uint32_t /*iteration*/) const {
    std::vector<std::uint32_t> result;
    for (std::uint32_t step = size_ - 1; step > 0; --step) result.push_back((rank + step) % size_);
    return result;  // taken from the back, so the next rank comes first
  }
  [[nodiscard]] std::uint32_t expected_by(std::uint32_t /*rank*/, std::uint32_t /*iteration*/) const {
    return size_ - 1;
  }

 private:
  std::uint32_t size_;
};

}  // namespace

workload_entry all_to_all_entry() { return pattern_entry<all_processes>("all-to-all", "to all others in rotation"); }

}  // namespace lull::netsim
