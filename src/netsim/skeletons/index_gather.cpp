// index_gather: every process reads words that are distributed over all processes (apps/index_gather).
//
// A request has 16 bytes: the requesting process, the place of the answer, and the word; an answer has 12: its place
// and the word. Without buffers each item is a blocking get.
#include <utility>

#include "netsim/skeletons/small_items.hpp"

namespace lull::netsim {
namespace {

class index_gather final : public program {
 public:
  index_gather(const job_setup& setup, const reader& from)
      : requests_(setup, from, {16, 12}), steps_(steps_of(from, 1)) {}

  [[nodiscard]] stream of(std::uint32_t rank, const completions& done) const override {
    constexpr operation read{.what = operation::kind::get, .bytes = 8};
    for (std::uint32_t step = 0; step < steps_; ++step) {
      stream pass =
          requests_.aggregated() ? requests_.pass(rank, step, done) : requests_.pass_directly(rank, step, read, true);
      co_yield std::move(pass);
      co_yield does::iteration();
    }
  }

 private:
  small_items requests_;
  std::uint32_t steps_;
};

}  // namespace

skeleton index_gather_skeleton() {
  std::vector<key> keys = small_item_keys();
  keys.push_back(steps_key());
  return {"index-gather", "reads of words on all processes", std::move(keys),
          [](const job_setup& setup, const reader& from) -> std::unique_ptr<program> {
            return std::make_unique<index_gather>(setup, from);
          }};
}

}  // namespace lull::netsim
