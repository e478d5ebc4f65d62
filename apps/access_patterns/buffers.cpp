#include "buffers.hpp"

#include <shmem.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

namespace access_patterns {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t fewest_sets = 2;
constexpr std::size_t shifts = 4096;

std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

// Offset of a set's payload in the random bytes of a round, so that no two sets contain the same.
std::size_t begin_of(std::size_t set) { return set * 61 % shifts; }

}  // namespace

buffers::buffers(const options& wanted)
    : payload_(wanted.payload),
      // Scattered fragments have gaps of their own length, and of at least a line.
      span_(whole_lines(wanted.place == layout::contiguous
                            ? payload_
                            : 2 * payload_ + line * *std::ranges::max_element(wanted.fragments))),
      set_bytes_(2 * span_ + 2 * whole_lines(payload_)),
      sets_(std::max<std::size_t>(fewest_sets, (wanted.working_set + set_bytes_ - 1) / set_bytes_)),
      place_(wanted.place),
      memory_(static_cast<std::byte*>(shmem_align(line, sets_ * set_bytes_))) {
  if (memory_ == nullptr)
    throw no_room("buffers of " + std::to_string(sets_ * set_bytes_) +
                  " bytes on each PE: the symmetric heap is too small; raise SHMEM_SYMMETRIC_SIZE, or lower --payload "
                  "or --working-set");
  private_.resize(sets_ * span_);
}

buffers::~buffers() { shmem_free(memory_); }

void buffers::split(std::uint64_t fragments) {
  const std::size_t each = payload_ / fragments;
  offsets_.resize(fragments);
  const std::size_t apart = place_ == layout::contiguous ? each : std::max(2 * each, each + line);
  for (std::size_t k = 0; k < fragments; ++k) offsets_[k] = k * apart;
  if (place_ == layout::scattered) {
    std::minstd_rand draw(1);  // the same on all PEs
    std::ranges::shuffle(offsets_, draw);
  }
}

void buffers::draw(int sender, std::uint64_t round) {
  std::uint64_t of = static_cast<std::uint64_t>(sender) << 32U | round;
  drawn_.resize(payload_ + shifts);
  for (std::byte& b : drawn_) {
    of = of * 6364136223846793005U + 1442695040888963407U;
    b = static_cast<std::byte>((of >> 56U) | 1U);  // never the value of an empty place
  }
}

void buffers::prepare(std::size_t first, std::size_t sets, int sender, std::uint64_t round) {
  draw(sender, round);
  const std::size_t each = fragment_bytes();
  for (std::size_t i = 0; i < sets; ++i) {
    const std::size_t set = (first + i) % sets_;
    std::memset(place(set), 0, span_);
    std::memset(landing(set), 0, payload_);
    const std::byte* const from = drawn_.data() + begin_of(set);
    for (std::size_t k = 0; k < fragments(); ++k) {
      std::memcpy(user(set) + offsets_[k], from + k * each, each);
      std::memcpy(source(set) + offsets_[k], from + k * each, each);
    }
  }
}

std::uint64_t buffers::wrong(std::size_t first, std::size_t sets) const {
  const std::size_t each = fragment_bytes();
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < sets; ++i) {
    const std::size_t set = (first + i) % sets_;
    for (std::size_t k = 0; k < fragments(); ++k)
      found += std::memcmp(place(set) + offsets_[k], drawn_.data() + begin_of(set) + k * each, each) == 0 ? 0 : 1;
  }
  return found;
}

}  // namespace access_patterns
