// The memory of a sender and its receiver: sets of buffers that are used in turn.
//
// Half of the PEs send, each to one of the other half. Every PE has all buffers: symmetric memory is the same on all.
//
//   source    the data to send, by fragments: private if the pattern copies, otherwise symmetric
//   staging   symmetric, fragments packed: destination of M
//   landing   symmetric, fragments packed: destination of P if the receiver copies
//   place     symmetric, by fragments: final destination of the payload
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "options.hpp"

namespace access_patterns {

class no_room : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class buffers {
 public:
  // Collective. Throws no_room.
  explicit buffers(const options& wanted);
  ~buffers();
  buffers(const buffers&) = delete;
  buffers& operator=(const buffers&) = delete;

  // Splits the payload from now on; all PEs must call it.
  void split(std::uint64_t fragments);

  [[nodiscard]] std::size_t sets() const { return sets_; }
  [[nodiscard]] std::size_t fragments() const { return offsets_.size(); }
  [[nodiscard]] std::size_t fragment_bytes() const { return payload_ / offsets_.size(); }
  [[nodiscard]] std::size_t payload() const { return payload_; }
  // Offset of fragment `k` in source and place.
  [[nodiscard]] std::size_t offset(std::size_t k) const { return offsets_[k]; }

  [[nodiscard]] std::byte* user(std::size_t set) { return private_.data() + set * span_; }
  [[nodiscard]] std::byte* source(std::size_t set) const { return part(set, 0); }
  [[nodiscard]] std::byte* place(std::size_t set) const { return part(set, span_); }
  [[nodiscard]] std::byte* staging(std::size_t set) const { return part(set, 2 * span_); }
  [[nodiscard]] std::byte* landing(std::size_t set) const { return part(set, 2 * span_ + payload_); }

  // For `sets` sets from `first` on, wrapping around: fills both sources with what `sender` sends in this round, and
  // empties the destinations.
  void prepare(std::size_t first, std::size_t sets, int sender, std::uint64_t round);
  // The number of fragments whose place does not contain what was prepared.
  [[nodiscard]] std::uint64_t wrong(std::size_t first, std::size_t sets) const;

 private:
  void draw(int sender, std::uint64_t round);
  [[nodiscard]] std::byte* part(std::size_t set, std::size_t from) const { return memory_ + set * set_bytes_ + from; }

  std::size_t payload_, span_, set_bytes_, sets_;
  layout place_;
  std::byte* memory_;
  std::vector<std::byte> private_;
  std::vector<std::size_t> offsets_;
  std::vector<std::byte> drawn_;  // data of this round
};

}  // namespace access_patterns
