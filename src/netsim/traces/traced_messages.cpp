#include "netsim/traces/traced_messages.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "netsim/counted.hpp"

namespace lull::netsim {

void traced_messages::sent(std::uint32_t group, std::uint32_t from, std::uint32_t to, std::uint32_t tag,
                           std::uint64_t time_ns) {
  const auto at = channels_.try_emplace({group, from, to, tag}).first;
  under_way& c = at->second;
  if (c.early.empty()) {
    ++c.sent;
    return;
  }
  const std::uint64_t received = c.early.front();
  c.early.erase(c.early.begin());
  if (received < time_ns) {
    ++too_early_;
    most_too_early_ns_ = std::max(most_too_early_ns_, time_ns - received);
  }
  if (c.early.empty()) channels_.erase(at);
}

void traced_messages::received(std::uint32_t group, std::uint32_t from, std::uint32_t to, std::uint32_t tag,
                               std::uint64_t time_ns) {
  const auto at = channels_.try_emplace({group, from, to, tag}).first;
  if (at->second.sent == 0)
    at->second.early.push_back(time_ns);
  else if (--at->second.sent == 0)
    channels_.erase(at);
}

void traced_messages::check(const std::string& asked) const {
  if (channels_.empty()) return;
  const auto order = [](const auto& a, const auto& b) {
    const auto key = [](const channel& c) { return std::tuple(c.from, c.to, c.tag, c.group); };
    return key(a.first) < key(b.first);
  };
  const auto& [where, what] = *std::ranges::min_element(channels_, order);
  std::uint64_t all = 0;
  for (const auto& one : channels_) all += one.second.sent + one.second.early.size();
  const bool is_sent = what.sent > 0;
  const std::uint64_t here = is_sent ? what.sent : what.early.size();
  throw error(
      asked,
      fmt::format("rank {} {} {} {} rank {} with tag {} that {} never {}{}", is_sent ? where.from : where.to,
                  is_sent ? "sends" : "receives", counted(here, "message"), is_sent ? "to" : "from",
                  is_sent ? where.to : where.from, where.tag, here == 1 ? "is" : "are", is_sent ? "received" : "sent",
                  all > here ? fmt::format(", and {} more have no counterpart", counted(all - here, "message")) : ""),
      "trace the whole run, until all its processes have ended");
}

}  // namespace lull::netsim
