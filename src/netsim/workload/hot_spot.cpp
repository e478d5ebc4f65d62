// Like uniform, but a share of all messages goes to a few processes.
#include "netsim/workload/pattern.hpp"
#include "netsim/workload/targets.hpp"

namespace lull::netsim {
namespace {

class hot_spot : public every_process_sends {
 public:
  static constexpr bool closes = false;
  hot_spot(const job_setup& setup, const reader& from, generator& /*random*/)
      : size_(setup.size()), targets_(read_targets(setup, from)), share_(from.real("hot_share")) {}
  [[nodiscard]] std::uint32_t next_partner(drawing& d) const {
    if (d.random.uniform() > share_) return any_other(d, size_);
    const std::uint32_t target = d.random.below(targets_);
    return target != d.rank ? target : any_other(d, size_);
  }
  [[nodiscard]] static std::vector<std::uint32_t> partners(std::uint32_t /*rank*/, std::uint32_t /*iteration*/) {
    return {};
  }
  [[nodiscard]] static std::uint32_t expected_by(std::uint32_t /*rank*/, std::uint32_t /*iteration*/) { return 0; }

 private:
  std::uint32_t size_, targets_;
  double share_;
};

}  // namespace

workload_entry hot_spot_entry() {
  return pattern_entry<hot_spot>("hot-spot", "like uniform, but a share of all messages goes to a few processes",
                                 {{.name = "hot_share",
                                   .meaning = "share of the messages that go to the targets",
                                   .of = kind::share,
                                   .by_default = 0.1,
                                   .most = 1},
                                  targets_key()});
}

}  // namespace lull::netsim
