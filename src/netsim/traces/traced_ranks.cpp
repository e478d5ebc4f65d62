#include "netsim/traces/traced_ranks.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"

namespace lull::netsim {
namespace {

using trace::definitions;
using trace::no_one;

// Sets of processes that communicate with each other.
class components {
 public:
  explicit components(std::size_t count) : leader_(count) { std::iota(leader_.begin(), leader_.end(), 0U); }
  std::uint32_t of(std::uint32_t p) {
    while (leader_[p] != p) p = leader_[p] = leader_[leader_[p]];
    return p;
  }
  void join(std::uint32_t a, std::uint32_t b) { leader_[of(a)] = of(b); }

 private:
  std::vector<std::uint32_t> leader_;
};

bool is_in_order(const std::vector<std::uint32_t>& ranks) {
  for (std::uint32_t place = 0; place < ranks.size(); ++place)
    if (ranks[place] != place) return false;
  return true;
}

std::vector<std::uint32_t> both_sides(const definitions::communicator& c) {
  std::vector<std::uint32_t> all = c.members;
  all.insert(all.end(), c.remote.begin(), c.remote.end());
  return all;
}

}  // namespace

traced_ranks::traced_ranks(const definitions& all, const std::string& asked)
    : all_(all), ranks_(all.processes.size(), no_one) {
  for (std::uint32_t p = 0; p < all.processes.size(); ++p)
    if (all.processes[p].rank >= 0 && all.processes[p].paradigm != "user") processes_.push_back(p);
  std::ranges::stable_sort(processes_, {}, [&](std::uint32_t p) { return all.processes[p].rank; });
  if (processes_.empty()) throw error(asked, "none of its processes communicates", "trace an MPI or OpenSHMEM program");
  for (std::uint32_t rank = 0; rank < count(); ++rank) ranks_[processes_[rank]] = rank;
  check_one_job(asked);
  find_groups();
}

void traced_ranks::check_one_job(const std::string& asked) const {
  components found(all_.processes.size());
  for (const definitions::communicator& c : all_.communicators) {
    const std::vector<std::uint32_t> members = both_sides(c);
    for (const std::uint32_t p : members)
      if (p < ranks_.size() && members.front() < ranks_.size()) found.join(p, members.front());
  }
  std::set<std::uint32_t> jobs;
  for (const std::uint32_t p : processes_) jobs.insert(found.of(p));
  const bool have_communicators =
      std::ranges::any_of(all_.communicators, [](const auto& c) { return c.members.size() + c.remote.size() > 1; });
  if (have_communicators && jobs.size() > 1)
    throw error(asked,
                fmt::format("its {} processes belong to {} jobs without a common communicator", count(), jobs.size()),
                "trace one job at a time");
}

void traced_ranks::find_groups() {
  groups_.emplace_back();
  names_.emplace_back("the communicator of all");
  bool have_everybody = false;
  for (const definitions::communicator& c : all_.communicators) {
    std::vector<std::uint32_t> members;
    for (const std::uint32_t p : both_sides(c)) members.push_back(of(p));
    if (!have_everybody && c.remote.empty() && members.size() == count() && is_in_order(members)) {
      have_everybody = true;
      names_.front() = c.name.empty() ? names_.front() : c.name;
      numbers_.push_back(everybody);
      continue;
    }
    numbers_.push_back(static_cast<std::uint32_t>(groups_.size()));
    names_.push_back(c.name.empty() ? fmt::format("communicator {}", numbers_.size()) : c.name);
    groups_.push_back(std::move(members));
  }
}

std::uint32_t traced_ranks::peer(std::uint32_t communicator, std::uint32_t process, std::int32_t peer) const {
  if (communicator >= all_.communicators.size()) return no_one;
  const definitions::communicator& c = all_.communicators[communicator];
  if (c.members.empty() && c.remote.empty()) return of(process);  // that of a single process
  const std::uint32_t found = all_.peer_of(communicator, process, peer);
  return found == no_one ? no_one : of(found);
}

std::string traced_ranks::name_of(std::uint32_t group) const { return names_[group]; }

}  // namespace lull::netsim
