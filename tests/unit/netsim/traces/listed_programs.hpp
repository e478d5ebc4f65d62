// Shared by tests of programs: operations as text, and programs that are lists of operations.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "netsim/program/program.hpp"

namespace lull::netsim {

class never_complete final : public completions {
 public:
  [[nodiscard]] bool complete(std::uint32_t /*request*/) const override { return false; }
};

// "send 8 B to 1 tag 5", "receive 8 B from 1 tag 5 request 0", "compute 1000 ns", "allreduce 16 B".
inline std::string as_text(const operation& o) {
  using kind = operation::kind;
  const std::string request = o.request == no_request ? "" : fmt::format(" request {}", o.request);
  const std::string group = o.group == everybody ? "" : fmt::format(" group {}", o.group);
  const auto with = [&](const char* name, const char* towards) {
    return fmt::format("{} {} B {} {} tag {}{}{}", name, o.bytes, towards, o.peer, o.tag, group, request);
  };
  const auto one_sided = [&](const char* name) {
    return fmt::format("{} {} B at {}{}", name, o.bytes, o.peer, request);
  };
  switch (o.what) {
    case kind::compute:
      return fmt::format("compute {} ns", o.duration / 1000);
    case kind::send:
      return with("send", "to");
    case kind::synchronous_send:
      return with("synchronous send", "to");
    case kind::receive:
      return with("receive", "from");
    case kind::wait:
      return fmt::format("wait {}", o.request);
    case kind::wait_any:
      return "wait any";
    case kind::collective:
      return fmt::format("{} {} B root {}{}{}", trace::name_of(o.which), o.bytes, o.peer, group, request);
    case kind::put:
      return one_sided("put");
    case kind::get:
      return one_sided("get");
    case kind::atomic:
      return one_sided("atomic");
    case kind::await_put:
      return fmt::format("await {} of {}", o.bytes, o.peer);
    case kind::iteration:
      return "iteration";
    case kind::unit:
      return fmt::format("unit {}", o.tag);
  }
  return "?";
}

inline std::vector<std::string> texts(stream s) {
  std::vector<std::string> found;
  while (const operation* o = s.next()) found.push_back(as_text(*o));
  return found;
}
inline std::vector<std::string> texts(const program& p, std::uint32_t rank) {
  static const never_complete none;
  return texts(p.of(rank, none));
}

class listed_program final : public program {
 public:
  explicit listed_program(std::vector<std::vector<operation>> by_rank,
                          std::vector<std::vector<std::uint32_t>> groups = {{}})
      : by_rank_(std::move(by_rank)), groups_(std::move(groups)) {}
  [[nodiscard]] stream of(std::uint32_t rank, const completions& /*done*/) const override {
    return listed(by_rank_[rank]);
  }
  [[nodiscard]] std::span<const std::uint32_t> group(std::uint32_t number) const override { return groups_[number]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(by_rank_.size()); }

 private:
  static stream listed(const std::vector<operation>& all) {
    for (const operation& o : all) co_yield o;
  }
  std::vector<std::vector<operation>> by_rank_;
  std::vector<std::vector<std::uint32_t>> groups_;
};

}  // namespace lull::netsim
