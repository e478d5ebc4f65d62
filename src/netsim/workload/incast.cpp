// All processes send to a few: to one drawn for each message or, in a closed loop, each always to the same one.
#include "netsim/workload/pattern.hpp"
#include "netsim/workload/targets.hpp"

namespace lull::netsim {
namespace {

class incast {
 public:
  static constexpr bool closes = true;
  incast(const job_setup& setup, const reader& from, generator& /*random*/)
      : size_(setup.size()), targets_(read_targets(setup, from)) {}
  [[nodiscard]] bool sends(std::uint32_t rank) const { return rank >= targets_; }
  [[nodiscard]] std::uint32_t next_partner(drawing& d) const { return d.random.below(targets_); }
  [[nodiscard]] std::vector<std::uint32_t> partners(std::uint32_t rank, std::uint32_t /*iteration*/) const {
    if (!sends(rank)) return {};
    return {rank % targets_};
  }
  [[nodiscard]] std::uint32_t expected_by(std::uint32_t rank, std::uint32_t /*iteration*/) const {
    if (sends(rank)) return 0;
    // The number of ranks from targets_ on that have the remainder `rank`.
    return (size_ - 1 - rank) / targets_;
  }

 private:
  std::uint32_t size_, targets_;
};

}  // namespace

workload_entry incast_entry() { return pattern_entry<incast>("incast", "all processes to a few", {targets_key()}); }

}  // namespace lull::netsim
