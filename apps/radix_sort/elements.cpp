#include "radix_sort/elements.hpp"

#include <algorithm>

#include "irregular/scramble.hpp"

namespace radix_sort {

using irregular::scrambled;

void fill(std::span<std::byte> elements, std::uint64_t seed, int pe) {
  const std::uint64_t origin = scrambled(seed) ^ scrambled(~static_cast<std::uint64_t>(pe));
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < elements.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = scrambled(origin + 0x9e3779b97f4a7c15 * ++number);
    std::memcpy(elements.data() + at, &word, std::min(sizeof word, elements.size() - at));
  }
}

std::uint64_t checksum(std::span<const std::byte> elements, const element_form& form) {
  std::uint64_t sum = 0;
  for (std::size_t element = 0; element < elements.size(); element += form.bytes()) {
    std::uint64_t state = 0;
    for (std::size_t at = 0; at < form.bytes(); at += sizeof state) {
      std::uint64_t word = 0;
      std::memcpy(&word, elements.data() + element + at, std::min(sizeof word, form.bytes() - at));
      state = scrambled(state ^ word);
    }
    sum += state;
  }
  return sum;
}

bool in_order(const std::byte* a, const std::byte* b, const element_form& form) {
  for (std::size_t i = form.key_bytes; i-- > 0;)
    if (a[i] != b[i]) return a[i] < b[i];
  return true;
}

}  // namespace radix_sort
