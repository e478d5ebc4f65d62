#include "trace/archive/crossings.hpp"

#include <map>
#include <tuple>
#include <unordered_map>

#include "trace/archive/replay.hpp"

namespace lull::trace {
namespace {

// Messages kept of each combination of sender, receiver, communicator and tag, whose messages do not overtake each
// other.
constexpr std::uint64_t all_of_the_first = 256;
constexpr std::uint64_t one_of = 64;  // of the following ones

bool is_kept(std::uint64_t ordinal) { return ordinal < all_of_the_first || ordinal % one_of == 0; }

struct stream {
  std::uint64_t sends = 0, receives = 0;
  std::unordered_map<std::uint64_t, std::int64_t> sent, received;  // by ordinal, without the other end
};

class finder : public event_visitor {
 public:
  finder(const joined& all, const joined_clocks& clocks) : all_(all.all), clocks_(clocks) {}

  void on(const event& e) override {
    const bool sends = e.what == happening::send || e.what == happening::isend;
    if (!sends && e.what != happening::receive && e.what != happening::irecv) return;
    const std::uint32_t mine = all_.locations[e.location].process;
    const std::uint32_t other = all_.peer_of(e.communicator, mine, e.peer);
    if (other == no_one || clocks_.clock_of(mine) == clocks_.clock_of(other)) return;
    const std::uint32_t from = sends ? mine : other, to = sends ? other : mine;
    stream& s = streams_[{e.communicator, from, to, e.tag}];
    const std::uint64_t ordinal = sends ? s.sends++ : s.receives++;
    if (!is_kept(ordinal)) return;
    auto& here = sends ? s.sent : s.received;
    auto& there = sends ? s.received : s.sent;
    const auto now = static_cast<std::int64_t>(e.time_ns);
    const auto found = there.find(ordinal);
    if (found == there.end()) {
      here.emplace(ordinal, now);
      return;
    }
    crossings_.push_back(
        {clocks_.clock_of(from), clocks_.clock_of(to), sends ? now : found->second, sends ? found->second : now});
    there.erase(found);
  }

  std::vector<crossing> result() { return std::move(crossings_); }

 private:
  const definitions& all_;
  const joined_clocks& clocks_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, stream> streams_;
  std::vector<crossing> crossings_;
};

}  // namespace

std::vector<crossing> find_crossings(const joined& all, const joined_clocks& clocks) {
  finder found(all, clocks);
  for (std::uint32_t p = 0; p < all.processes.size(); ++p) replay(all, p, clocks, found);
  return found.result();
}

}  // namespace lull::trace
