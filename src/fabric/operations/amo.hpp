// What happens at the target of a transfer. The sender does it itself through shared memory, or the target's process
// does it when a message arrives. Each operation has one implementation for local and remote callers.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lull::fabric {

enum class amo_op : std::uint8_t { add, set, compare_swap, fetch, bit_and, bit_or, bit_xor, max };

// An atomic operation on a 4- or 8-byte word at `offset`. max never lowers the word.
struct amo {
  amo_op op;
  std::uint8_t width;
  std::size_t offset;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
};

// Applies `u` to the word at `where`. Returns the old value.
std::uint64_t apply_amo(const amo& u, void* where);

// Programs pass null with a length of 0, which memcpy does not allow.
inline void copy_bytes(void* target, const void* source, std::size_t bytes) {
  if (bytes != 0) std::memcpy(target, source, bytes);
}

// Copies a block into a heap in which a PE may wait for it. A block that is one aligned word arrives as a whole and
// after everything written before it, so a put of a word may serve as a flag.
inline void deliver(void* target, const void* source, std::size_t bytes) {
  const auto store = [&]<class Word>(Word word) {
    std::memcpy(&word, source, sizeof word);
    std::atomic_ref<Word>(*static_cast<Word*>(target)).store(word, std::memory_order_release);
  };
  const bool aligned = reinterpret_cast<std::uintptr_t>(target) % std::max<std::size_t>(bytes, 1) == 0;
  if (bytes == 8 && aligned)
    store(std::uint64_t{});
  else if (bytes == 4 && aligned)
    store(std::uint32_t{});
  else if (bytes == 2 && aligned)
    store(std::uint16_t{});
  else
    copy_bytes(target, source, bytes);
}

// The same for adjacent puts that travelled as one block: an aligned word of 2, 4 or 8 bytes, which arrives as a whole
// if it is put alone, arrives as a whole here too.
inline void deliver_joined(void* target, const void* source, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(source);
  const auto store = [&]<class Word>(Word word) {
    std::memcpy(&word, from, sizeof word);
    std::atomic_ref<Word>(*reinterpret_cast<Word*>(to)).store(word, std::memory_order_release);
    to += sizeof word;
    from += sizeof word;
    bytes -= sizeof word;
  };
  const auto aligned = [&](std::size_t word) {
    return reinterpret_cast<std::uintptr_t>(to) % word == 0 && bytes >= word;
  };
  while (bytes != 0) {
    while (aligned(8)) store(std::uint64_t{});
    if (bytes == 0) return;
    if (aligned(4))
      store(std::uint32_t{});
    else if (aligned(2))
      store(std::uint16_t{});
    else
      store(std::uint8_t{});
  }
}

// Applied after the data has been written: tells the receiver that a put is complete.
struct signal_amo {
  std::size_t offset;
  std::uint64_t value;
  amo_op how;               // add, set or max
  bool whole_node = false;  // wakes all PEs of the target's node, not only the target
};

}  // namespace lull::fabric
