// histogram: every process increments bins that are distributed over all processes (apps/histogram).
//
// An item is the number of a bin, 8 bytes; without buffers it is a non-blocking atomic.
#include <utility>

#include "netsim/skeletons/small_items.hpp"

namespace lull::netsim {
namespace {

class bins final : public program {
 public:
  bins(const job_setup& setup, const reader& from) : updates_(setup, from, {8}), steps_(steps_of(from, 1)) {}

  [[nodiscard]] stream of(std::uint32_t rank, const completions& done) const override {
    constexpr operation increment{.what = operation::kind::atomic, .bytes = 8};
    for (std::uint32_t step = 0; step < steps_; ++step) {
      stream pass = updates_.aggregated() ? updates_.pass(rank, step, done)
                                          : updates_.pass_directly(rank, step, increment, false);
      co_yield std::move(pass);
      co_yield does::iteration();
    }
  }

 private:
  small_items updates_;
  std::uint32_t steps_;
};

}  // namespace

skeleton histogram_skeleton() {
  std::vector<key> keys = small_item_keys();
  keys.push_back(steps_key());
  return {"histogram", "updates of bins on all processes", std::move(keys),
          [](const job_setup& setup, const reader& from) -> std::unique_ptr<program> {
            return std::make_unique<bins>(setup, from);
          }};
}

}  // namespace lull::netsim
