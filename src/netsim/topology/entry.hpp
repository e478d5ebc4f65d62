// Makes a row of the table of topologies from a class that models topology_shape. Only topology/*.cpp include it.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "netsim/network/engine.hpp"
#include "netsim/simulation.hpp"
#include "netsim/topology.hpp"

namespace lull::netsim {

template <class T>
class shape_of final : public shape {
 public:
  explicit shape_of(T of) : of_(std::move(of)) {}
  [[nodiscard]] std::uint32_t nodes() const override { return of_.nodes(); }
  [[nodiscard]] std::uint32_t switches() const override { return of_.switches(); }
  [[nodiscard]] unsigned ports(std::uint32_t s) const override { return of_.ports(s); }
  [[nodiscard]] endpoint peer(std::uint32_t s, unsigned port) const override { return of_.peer(s, port); }
  [[nodiscard]] endpoint attach_point(std::uint32_t node) const override { return of_.attach_point(node); }
  [[nodiscard]] unsigned channels(algorithm a) const override { return of_.channels(a); }
  [[nodiscard]] unsigned most_links() const override { return T::most_links; }
  [[nodiscard]] std::uint64_t bisection() const override { return of_.bisection(); }
  [[nodiscard]] std::vector<hop> path(std::uint32_t from, std::uint32_t to, algorithm a, std::uint64_t seed,
                                      const waits& busy) const override;

 private:
  T of_;
};

template <class T>
std::vector<hop> shape_of<T>::path(std::uint32_t from, std::uint32_t to, algorithm a, std::uint64_t seed,
                                   const waits& busy) const {
  generator random(seed);
  const endpoint first = of_.attach_point(from);
  const endpoint last = of_.attach_point(to);
  route_state packet{.to_switch = last.id, .key = pair_key(from, to), .to_port = last.port};
  std::vector<hop> result;
  std::vector<picoseconds> free_at;
  std::uint32_t at = first.id;
  const auto ports = [&] {
    free_at.assign(of_.ports(at), 0);
    for (unsigned p = 0; busy && p < free_at.size(); ++p) free_at[p] = busy(at, p);
    return chooser(at, a, free_at.data(), 0, 0, 0, 0, random);
  };
  if (at != packet.to_switch) of_.start(at, packet, ports());
  while (at != packet.to_switch) {
    result.push_back(of_.route(at, packet, ports()));
    at = of_.peer(at, result.back().port).id;
  }
  result.push_back({packet.to_port, 0});
  return result;
}

template <topology_shape T>
topology_entry make_entry(const char* name, const char* meaning, std::vector<key> keys, parameters small,
                          std::vector<preset> presets = {}) {
  return {
      name,
      meaning,
      std::move(keys),
      std::move(small),
      std::move(presets),
      [](const netsim::parameters& given) -> std::unique_ptr<shape> { return std::make_unique<shape_of<T>>(T(given)); },
      [](const simulation& asked, const progress& shown) { return run_engine(T(asked.parameters), asked, shown); }};
}

}  // namespace lull::netsim
