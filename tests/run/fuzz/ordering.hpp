// What the standard promises about the operations of each PE through its channels (contexts): which are complete, and
// which are delivered before a later one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fuzz {

// The last operation on some bytes or a word; number 0: none so far.
struct stamp {
  std::uint32_t number = 0;
  std::size_t channel = 0;
};

class ordering {
 public:
  ordering(int pes, std::size_t channels) : pes_(static_cast<std::size_t>(pes)), channels_(channels) {
    numbers_.resize(pes_);
    fenced_.resize(pes_ * channels_);
    completed_.resize(pes_ * channels_ * pes_);
  }
  // A new operation of PE `from`.
  stamp next(int from, std::size_t channel) { return {++numbers_[index(from)], channel}; }
  [[nodiscard]] std::uint32_t last(int from) const { return numbers_[index(from)]; }
  void fence(int from, std::size_t channel) { fenced_[index(from) * channels_ + channel] = numbers_[index(from)]; }
  void quiet(int from, std::size_t channel, int to) { completed(from, channel, to) = numbers_[index(from)]; }
  void quiet(int from, std::size_t channel) {
    for (std::size_t to = 0; to < pes_; ++to) quiet(from, channel, static_cast<int>(to));
  }
  // Whether the operation of PE `from` on PE `to` is complete.
  [[nodiscard]] bool is_complete(int from, int to, const stamp& of) {
    return of.number <= completed(from, of.channel, to);
  }
  // Whether a fence separates it from later puts and atomics through its channel.
  [[nodiscard]] bool is_fenced(int from, const stamp& of) const {
    return of.number <= fenced_[index(from) * channels_ + of.channel];
  }

 private:
  static std::size_t index(int pe) { return static_cast<std::size_t>(pe); }
  std::uint32_t& completed(int from, std::size_t channel, int to) {
    return completed_[(index(from) * channels_ + channel) * pes_ + index(to)];
  }
  std::size_t pes_, channels_;
  std::vector<std::uint32_t> numbers_, fenced_, completed_;
};

}  // namespace fuzz
