// The messages of a trace, sent and received: detects those without a counterpart, and those received before they were
// sent, according to the trace's clocks. Memory grows with the messages in flight, and with the pairs that communicate
// at a time.
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

  // Throws lull::error, which starts with `asked`, if messages were sent but not received, or vice versa.
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
    std::uint64_t sent = 0;              // but not yet received
    std::vector<std::uint64_t> early{};  // received but not yet sent: when
  };

  std::unordered_map<channel, under_way, hash> channels_;
  std::uint64_t too_early_ = 0, most_too_early_ns_ = 0;
};

}  // namespace lull::netsim
