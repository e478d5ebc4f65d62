// The messages of a trace, sent and received: which have no counterpart, and which are received before they are sent, as
// the clocks of the trace have it. Memory grows with messages under way and with pairs of processes at one time.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.hpp"
#include "netsim/routing.hpp"

namespace lull::netsim {

class traced_messages {
 public:
  void sent(std::uint32_t group, std::uint32_t from, std::uint32_t to, std::uint32_t tag, std::uint64_t time_ns);
  void received(std::uint32_t group, std::uint32_t from, std::uint32_t to, std::uint32_t tag, std::uint64_t time_ns);

  [[nodiscard]] std::uint64_t too_early() const { return too_early_; }
  [[nodiscard]] std::uint64_t most_too_early_ns() const { return most_too_early_ns_; }

  // Throws lull::error, begun by `asked`, where messages have been sent and not received, or the other way round.
  void check(const std::string& asked) const;

 private:
  struct channel {
    std::uint32_t group, from, to, tag;
    bool operator==(const channel&) const = default;
  };
  struct hash {
    std::size_t operator()(const channel& c) const {
      return spread(std::uint64_t{mixed(c.from + mixed(c.to))} << 32U | mixed(c.group + mixed(c.tag)));
    }
  };
  struct under_way {
    std::uint64_t sent = 0;              // and not yet received
    std::vector<std::uint64_t> early{};  // received and not yet sent: when
  };

  std::unordered_map<channel, under_way, hash> channels_;
  std::uint64_t too_early_ = 0, most_too_early_ns_ = 0;
};

}  // namespace lull::netsim
