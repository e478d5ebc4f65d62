#include "job/layout.hpp"

#include <algorithm>

namespace lull::job {

layout::layout(std::span<const place> places, pe_id me) : me_(me) {
  std::vector<place> distinct(places.begin(), places.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  members_.resize(distinct.size());
  for (std::size_t pe = 0; pe < places.size(); ++pe) {
    const auto node = std::lower_bound(distinct.begin(), distinct.end(), places[pe]) - distinct.begin();
    nodes_.emplace_back(static_cast<int>(node));
    members_[static_cast<std::size_t>(node)].emplace_back(static_cast<int>(pe));
  }
}

}  // namespace lull::job
