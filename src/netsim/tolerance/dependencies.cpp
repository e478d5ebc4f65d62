#include "netsim/tolerance/dependencies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "netsim/memory.hpp"

namespace lull::netsim {

std::uint32_t dependencies::add(const step& s) {
  constexpr std::size_t most = std::size_t{1} << 31U;
  if (steps_.size() >= most - 1)
    throw error("find what the program tolerates", "it has more than 2^31 steps", "simulate fewer iterations of it");
  if (steps_.size() == steps_.capacity()) check_memory();
  steps_.push_back(s);
  return static_cast<std::uint32_t>(steps_.size() - 1);
}

// Of twice as many steps, with the memory of longest_path.
void dependencies::check_memory() const {
  constexpr std::size_t of_path = 32;
  const std::size_t bytes = 2 * (steps_.size() * (sizeof(step) + of_path) + messages_.size() * sizeof(message));
  if (bytes > memory_of_machine())
    throw error(
        "find what the program tolerates",
        fmt::format("more than {} steps need {:.1f} GB of memory", steps_.size(), static_cast<double>(bytes) / 1e9),
        "leave out tolerance, or simulate fewer iterations or processes");
}

void dependencies::also_when_posted(std::uint64_t receive) {
  const auto found = posted_.find(receive);
  if (found == posted_.end()) return;
  next_.from = found->second.from;
  next_.offset = found->second.offset;
}

void dependencies::carried(std::uint32_t label, std::uint32_t host, std::uint64_t bytes, picoseconds now) {
  const std::uint32_t number = add(std::exchange(next_, {}));
  const bool by_network = host != nowhere;
  messages_.push_back({.number = number,
                       .previous = by_network ? std::exchange(hosts_[host].last, number) : nowhere,
                       .by_network = by_network,
                       .bytes = static_cast<double>(bytes)});
  if (label >= of_label_.size()) of_label_.resize(label + std::size_t{1});
  of_label_[label] = {.message = static_cast<std::uint32_t>(messages_.size() - 1), .host = host, .begun = now};
}

void dependencies::sent(std::uint32_t label, picoseconds at) {
  labelled& l = of_label_[label];
  picoseconds began = l.begun;
  if (l.host != nowhere) began = std::max(began + nic_delay_, std::exchange(hosts_[l.host].sent, at));
  messages_[l.message].sending = at - began;
  l.sent = at;
}

void dependencies::crossed(std::uint32_t label, std::span<const std::uint32_t> links) {
  message& m = message_of(label);
  if (routes_.size() + links.size() > std::numeric_limits<std::uint32_t>::max())
    throw error("find what the program tolerates", "its messages cross more than 2^32 links",
                "simulate fewer iterations of it");
  m.route = static_cast<std::uint32_t>(routes_.size());
  m.links = static_cast<std::uint16_t>(links.size());
  routes_.insert(routes_.end(), links.begin(), links.end());
  for (const std::uint32_t link : links) links_ = std::max(links_, link + 1);
}

}  // namespace lull::netsim
