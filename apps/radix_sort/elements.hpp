// The elements that are sorted: a key and a payload, ordered by the key, an unsigned little-endian number.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace radix_sort {

struct element_form {
  std::size_t key_bytes;  // at least 8
  std::size_t payload_bytes;
  [[nodiscard]] std::size_t bytes() const { return key_bytes + payload_bytes; }
  [[nodiscard]] unsigned key_bits() const { return static_cast<unsigned>(8 * key_bytes); }
};

// A few consecutive bits of a key.
class digit {
 public:
  digit(const element_form& form, unsigned first_bit, unsigned bits)
      : byte_(first_bit / 8 + 8 <= form.key_bytes ? first_bit / 8 : form.key_bytes - 8),
        shift_(first_bit - static_cast<unsigned>(8 * byte_)),
        mask_((std::uint64_t{1} << bits) - 1) {}
  [[nodiscard]] std::size_t operator()(const std::byte* element) const {
    std::uint64_t word = 0;
    std::memcpy(&word, element + byte_, sizeof word);
    return word >> shift_ & mask_;
  }

 private:
  std::size_t byte_;  // the first of the eight bytes that contain all its bits
  unsigned shift_;
  std::uint64_t mask_;
};

// Random elements, equal for equal (seed, pe); the keys are uniform.
void fill(std::span<std::byte> elements, std::uint64_t seed, int pe);

// Independent of the order of the elements, but not of which bytes form an element.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> elements, const element_form& form);

// Whether the key of `a` is at most that of `b`.
[[nodiscard]] bool in_order(const std::byte* a, const std::byte* b, const element_form& form);

}  // namespace radix_sort
