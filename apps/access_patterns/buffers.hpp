// The memory of a sender and its receiver: sets of buffers that are gone through in turn, and what is in them.
//
// Half of the PEs send, each to one of the other half. Every PE has all buffers: symmetric memory is the same on all.
//
//   source    what is sent, by fragments: private where the pattern copies, else symmetric
//   staging   symmetric, fragments packed: what M copies into
//   landing   symmetric, fragments packed: where P puts what the receiver will copy
//   place     symmetric, by fragments: where the payload belongs
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

  // From now on the payload is split so; collective in that all PEs call it.
  void split(std::uint64_t fragments);

  [[nodiscard]] std::size_t sets() const { return sets_; }
  [[nodiscard]] std::size_t fragments() const { return offsets_.size(); }
  [[nodiscard]] std::size_t fragment_bytes() const { return payload_ / offsets_.size(); }
  [[nodiscard]] std::size_t payload() const { return payload_; }
  // Where fragment `k` lies in source and place, from their begin.
  [[nodiscard]] std::size_t offset(std::size_t k) const { return offsets_[k]; }

  [[nodiscard]] std::byte* user(std::size_t set) { return private_.data() + set * span_; }
  [[nodiscard]] std::byte* source(std::size_t set) const { return part(set, 0); }
  [[nodiscard]] std::byte* place(std::size_t set) const { return part(set, span_); }
  [[nodiscard]] std::byte* staging(std::size_t set) const { return part(set, 2 * span_); }
  [[nodiscard]] std::byte* landing(std::size_t set) const { return part(set, 2 * span_ + payload_); }

  // Of so many sets from `first` on, behind the last comes the first: both sources hold what `sender` sends in this
  // round, and nothing has arrived.
  void prepare(std::size_t first, std::size_t sets, int sender, std::uint64_t round);
  // How many fragments in their places are not what was prepared.
  [[nodiscard]] std::uint64_t wrong(std::size_t first, std::size_t sets) const;

 private:
  void draw(int sender, std::uint64_t round);
  [[nodiscard]] std::byte* part(std::size_t set, std::size_t from) const { return memory_ + set * set_bytes_ + from; }

  std::size_t payload_, span_, set_bytes_, sets_;
  layout place_;
  std::byte* memory_;
  std::vector<std::byte> private_;
  std::vector<std::size_t> offsets_;
  std::vector<std::byte> drawn_;  // what is sent in this round
};

}  // namespace access_patterns
