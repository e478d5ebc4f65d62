// Pseudo-random numbers, equal for equal input.
#pragma once
#include <cstdint>

namespace irregular {

// The finaliser of splitmix64, a bijection. Sums of its values over moved data do not depend on the order, but on every
// bit.
[[nodiscard]] constexpr std::uint64_t scrambled(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27U)) * 0x94d049bb133111eb;
  return number ^ (number >> 31U);
}

}  // namespace irregular
