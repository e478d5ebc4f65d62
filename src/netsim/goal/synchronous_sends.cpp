#include "netsim/goal/synchronous_sends.hpp"

namespace lull::netsim {
namespace {

struct never_complete final : completions {
  [[nodiscard]] bool complete(std::uint32_t /*request*/) const override { return false; }
};

}  // namespace

synchronous_sends::synchronous_sends(const program& of, std::uint32_t ranks, std::uint64_t longest) {
  const never_complete done;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::unordered_map<key, std::uint64_t, hash> sent;  // by this rank
    stream todo = of.of(rank, done);
    while (const operation* o = todo.next()) {
      const bool synchronous = o->what == operation::kind::synchronous_send;
      if (!synchronous && o->what != operation::kind::send) continue;
      const key which{.from = rank, .to = o->peer, .group = o->group, .tag = o->tag};
      const std::uint64_t number = sent[which]++;
      if (synchronous && o->bytes <= longest) all_[which].numbers.push_back(number);
    }
  }
}

bool synchronous_sends::is_next(const key& of, place messages::*end) {
  const auto found = all_.find(of);
  if (found == all_.end()) return false;
  messages& with = found->second;
  place& at = with.*end;
  const bool is = at.next < with.numbers.size() && with.numbers[at.next] == at.number;
  ++at.number;
  at.next += is ? 1 : 0;
  return is;
}

}  // namespace lull::netsim
