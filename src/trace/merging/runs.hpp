// A list of numbers in which the same one often comes several times in turn: for each such run its length, and by how
// much its number differs from that of the run before.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/folding/bytes.hpp"

namespace lull::trace::merging {

inline void put_runs(folding::bytes& to, std::span<const std::uint64_t> numbers) {
  std::uint64_t before = 0;
  for (std::size_t at = 0; at < numbers.size();) {
    std::size_t end = at + 1;
    while (end < numbers.size() && numbers[end] == numbers[at]) ++end;
    folding::put_number(to, end - at);
    folding::put_number(to, folding::zigzag(numbers[at] - before));
    before = numbers[at];
    at = end;
  }
}

// Takes memory for the runs only, so that damaged bytes cannot make it large.
class runs {
 public:
  // None: they are damaged. `count`: of all numbers.
  [[nodiscard]] static std::optional<runs> read(folding::byte_reader& from, std::uint64_t count) {
    runs made;
    for (std::uint64_t at = 0, number = 0; at < count;) {
      const std::uint64_t length = from.number();
      number += folding::unzigzag(from.number());
      if (from.failed() || length == 0 || length > count - at) return {};
      at += length;
      made.runs_.push_back({at, number});
    }
    return made;
  }
  // The number at a place that the list has.
  [[nodiscard]] std::uint64_t at(std::uint64_t place) const {
    return std::ranges::upper_bound(runs_, place, {}, &run::end)->number;
  }

 private:
  struct run {
    std::uint64_t end, number;
  };
  std::vector<run> runs_;
};

}  // namespace lull::trace::merging
