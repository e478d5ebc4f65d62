// radix_sort: sorts elements that are distributed over all processes, least significant digit first (apps/radix_sort).
//
// One pass per digit: the processes count digits, find their first positions by two all-to-alls of the counts with an
// allgather between them, and send each element to its position: with its index there, 4 more bytes, or without buffers
// as a put. Keys are random, so elements are spread evenly over all processes.
#include <fmt/format.h>

#include <utility>

#include "netsim/skeletons/small_items.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint64_t count_bytes = 8, sum_bytes = 16;
constexpr std::uint32_t place_bytes = 4;

class radix_sort final : public program {
 public:
  radix_sort(const job_setup& setup, const reader& from)
      : element_bytes_(number_of(from, "key_bytes") + number_of(from, "payload")),
        digit_bits_(number_of(from, "digit_bits")),
        passes_((8 * number_of(from, "key_bytes") + digit_bits_ - 1) / digit_bits_),
        elements_(setup, from, {place_bytes + element_bytes_}),
        steps_(steps_of(from, 1)) {}

  [[nodiscard]] stream of(std::uint32_t rank, const completions& done) const override {
    const std::uint64_t digits = std::uint64_t{1} << digit_bits_;
    const std::uint64_t part = (digits + elements_.processes() - 1) / elements_.processes() * count_bytes;
    const picoseconds counting = share_of(elements_.item_time(), static_cast<double>(elements_.items()) / 2);
    const operation move{.what = operation::kind::put, .bytes = element_bytes_};
    for (std::uint32_t pass = 0; pass < steps_ * passes_; ++pass) {
      co_yield does::compute(counting);
      co_yield does::all_of(collective::alltoall, part);
      co_yield does::all_of(collective::allgather, sum_bytes);
      co_yield does::all_of(collective::alltoall, part);
      stream moves =
          elements_.aggregated() ? elements_.pass(rank, pass, done) : elements_.pass_directly(rank, pass, move, false);
      co_yield std::move(moves);
      if ((pass + 1) % passes_ == 0) co_yield does::iteration();
    }
  }

 private:
  std::uint32_t element_bytes_, digit_bits_, passes_;
  small_items elements_;
  std::uint32_t steps_;
};

key number(const char* name, const char* meaning, int by_default, double least, double most) {
  return {.name = name, .meaning = meaning, .by_default = by_default, .least = least, .most = most};
}

}  // namespace

skeleton radix_sort_skeleton() {
  std::vector<key> keys = small_item_keys();
  keys.push_back(number("key_bytes", "size of a key", 8, 8, 32));
  keys.push_back(number("payload", "bytes of payload that travel with each key", 0, 0, 4096));
  keys.push_back(number("digit_bits", "bits of the key that one pass sorts by", 16, 1, 20));
  keys.push_back(steps_key());
  return {"radix-sort", "elements on all processes sorted digit by digit", std::move(keys),
          [](const job_setup& setup, const reader& from) -> std::unique_ptr<program> {
            return std::make_unique<radix_sort>(setup, from);
          }};
}

}  // namespace lull::netsim
