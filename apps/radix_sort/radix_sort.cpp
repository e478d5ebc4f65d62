// radix_sort: sorts elements that are distributed in equal shares over all PEs; each PE ends with its share of the
// order.
//
// Every pass orders by one digit of the keys, and nearly every element travels to another PE: `--mode direct` makes one
// put of each; the other modes push it, with its position, into an aggregator. The result is verified: elements are in
// order within and between PEs, and a checksum that does not depend on their order is unchanged. Time and energy are
// those of the region "sort"; metrics go into the record of the run (`lull measure -- lull run -n 4 radix_sort`).
#include <fmt/format.h>
#include <shmem.h>

#include <algorithm>
#include <cstdint>
#include <lull/aggregate.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "irregular/input_file.hpp"
#include "irregular/measurement.hpp"
#include "irregular/program.hpp"
#include "irregular/reduction.hpp"
#include "irregular/symmetric.hpp"
#include "radix_sort/elements.hpp"
#include "radix_sort/options.hpp"
#include "radix_sort/sorter.hpp"

namespace {

using radix_sort::element_form;
using radix_sort::most_keys;
using radix_sort::options;
using radix_sort::shares;
using std::uint64_t;

// The elements before sorting.
class source {
 public:
  explicit source(const options& wanted) : form_{wanted.key_bytes, wanted.payload}, seed_(wanted.seed) {
    const uint64_t keys = wanted.keys * wanted.threads;
    if (keys > most_keys)
      throw irregular::usage_error(
          fmt::format("--keys {} for each of {} threads: a PE holds up to 2^32 - 1 elements; lower --keys", wanted.keys,
                      wanted.threads));
    total_ = keys * static_cast<uint64_t>(shmem_n_pes());
    if (wanted.input.empty()) return;
    file_ = std::make_unique<irregular::input_file>(wanted.input, "the elements");
    const std::size_t bytes = file_->bytes().size();
    if (bytes % form_.bytes() != 0)
      throw file_->mistake(fmt::format(
          "{} bytes are not a whole number of elements of {}; check --key-bytes and --payload", bytes, form_.bytes()));
    total_ = bytes / form_.bytes();
    if (shares(total_, shmem_n_pes()).block > most_keys)
      throw file_->mistake(fmt::format("{} elements are more than 2^32 - 1 per PE; use more PEs", total_));
  }

  [[nodiscard]] const element_form& form() const { return form_; }
  [[nodiscard]] shares all() const { return {total_, shmem_n_pes()}; }

  void write_to(std::span<std::byte> elements) const {
    const int me = shmem_my_pe();
    if (file_)
      std::ranges::copy(file_->bytes().subspan(all().begin(me) * form_.bytes(), elements.size()), elements.begin());
    else
      radix_sort::fill(elements, seed_, me);
  }

 private:
  element_form form_;
  uint64_t seed_, total_ = 0;
  std::unique_ptr<irregular::input_file> file_;
};

// Whether every element here is in order, and the first one not before the last of the previous PE. Call after a
// barrier.
bool is_sorted_here(std::span<const std::byte> elements, const std::byte* symmetric, const element_form& form,
                    const shares& all) {
  const std::size_t size = form.bytes();
  if (elements.empty()) return true;
  if (shmem_my_pe() > 0) {  // the previous PE is full
    std::vector<std::byte> before(size);
    shmem_getmem(before.data(), symmetric + (all.block - 1) * size, size, shmem_my_pe() - 1);
    if (!radix_sort::in_order(before.data(), elements.data(), form)) return false;
  }
  for (std::size_t at = size; at < elements.size(); at += size)
    if (!radix_sort::in_order(elements.data() + at - size, elements.data() + at, form)) return false;
  return true;
}

template <std::size_t Bytes>
int run(const options& wanted, const source& unsorted) {
  const element_form form = unsorted.form();
  const shares all_elements = unsorted.all();
  const std::size_t room = all_elements.block * form.bytes();
  const std::string what = fmt::format("two times {} elements of {} bytes", all_elements.block, form.bytes());
  const irregular::symmetric_array<std::byte> both(2 * room, what);
  std::byte* const one = both.data();
  std::byte* const other = one + room;
  const std::size_t mine = all_elements.count(shmem_my_pe());
  const std::span<std::byte> elements = both.all().first(mine * form.bytes());
  std::vector<std::byte> given(elements.size());
  unsorted.write_to(given);
  irregular::reduction all;
  irregular::thread_pool threads(wanted.threads);
  radix_sort::mover<Bytes> moves(form.bytes(),
                                 wanted.direct() ? std::nullopt : std::optional{wanted.policy_of_many_handlers()});
  radix_sort::sorter<Bytes> sorter(form, wanted.digit_bits, threads, all_elements, moves);

  std::byte* result = nullptr;
  // All passes are one visit of the region, because many short ones would fall between two samples of a meter.
  const auto passes_of = [&](uint64_t passes, irregular::stopwatch& watch) {
    watch.start();
    for (uint64_t i = 0; i < passes; ++i) {
      threads.share(given.size(), [&](unsigned, std::size_t begin, std::size_t end) {
        std::copy(given.begin() + static_cast<std::ptrdiff_t>(begin), given.begin() + static_cast<std::ptrdiff_t>(end),
                  elements.begin() + static_cast<std::ptrdiff_t>(begin));
      });
      result = sorter.sort(one, other);
    }
    watch.stop();
  };
  const uint64_t passes = irregular::passes_for(wanted.min_time, passes_of, all);
  const auto before = moves.statistics();
  irregular::stopwatch watch("sort");
  passes_of(passes, watch);
  const std::string aggregation = wanted.direct() ? "" : irregular::told(before, moves.statistics(), all);

  const std::span<const std::byte> sorted{result, elements.size()};
  const bool in_order = all.sum(is_sorted_here(sorted, result, form, all_elements)) == all.sum(1);
  const uint64_t found = all.sum(radix_sort::checksum(sorted, form));
  const bool right = in_order && found == all.sum(radix_sort::checksum(given, form));
  irregular::report(
      {.program = "radix_sort",
       .item = "key",
       .items = mine * passes,
       .where = fmt::format("in elements of {} bytes sorted, {} of {} passes", form.bytes(), sorter.moves_made(),
                            (form.key_bits() + wanted.digit_bits - 1) / wanted.digit_bits),
       .found = "",
       .result = right ? "verified" : "WRONG"},
      wanted, watch, aggregation, all);
  return right ? 0 : 1;
}

int run(const options& wanted) {
  const source unsorted(wanted);
  switch (unsorted.form().bytes()) {
    case 8:
      return run<8>(wanted, unsorted);
    case 16:
      return run<16>(wanted, unsorted);
    case 24:
      return run<24>(wanted, unsorted);
    case 32:
      return run<32>(wanted, unsorted);
    default:
      return run<0>(wanted, unsorted);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return irregular::run_program<options>(
      "radix_sort", "Radix sort: sorts elements distributed over all PEs, least significant digit first.", argc, argv,
      radix_sort::add_options, run);
}
