#include "trace/merging/rank_places.hpp"

#include <algorithm>
#include <map>

namespace lull::trace::merging {

places places_of(const raw_process& recording) {
  const place in_job{recording.rank, recording.size};
  std::map<scope, place> known;
  for (const raw_communicator& c : recording.communicators) {
    const auto me = std::ranges::find(c.members, recording.rank);
    known[{scope::kind::communicator, c.number}] = {me != c.members.end() ? me - c.members.begin() : std::ptrdiff_t{-1},
                                                    static_cast<std::int64_t>(c.members.size())};
  }
  for (const raw_window& w : recording.windows)
    if (const auto over = known.find({scope::kind::communicator, w.communicator}); over != known.end())
      known[{scope::kind::window, w.number}] = over->second;
  return [in_job, known = std::move(known)](scope ranks) {
    const auto found = known.find(ranks);
    return found != known.end() ? found->second : in_job;
  };
}

}  // namespace lull::trace::merging
