// The links that packets in the network have crossed, while the tolerance of programs is recorded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lull::netsim {

class routes_taken {
 public:
  explicit routes_taken(bool recorded) : recorded_(recorded) {}

  [[nodiscard]] bool recorded() const { return recorded_; }
  void begin(std::uint32_t packet) {
    if (packet >= of_packets_.size()) of_packets_.resize(packet + std::size_t{1});
    of_packets_[packet].clear();
  }
  void add(std::uint32_t packet, std::uint32_t link) { of_packets_[packet].push_back(link); }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t packet) const { return of_packets_[packet]; }

 private:
  bool recorded_;
  std::vector<std::vector<std::uint32_t>> of_packets_;
};

}  // namespace lull::netsim
