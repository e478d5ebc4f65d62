// Prefix sums over a team.
//
// A run is a longest part of the team's order whose members are on one node; mostly each node has one. The last arriver
// of a node adds up the sources of each of its runs and puts the totals into the blocks of the other leaders. When all
// totals have arrived, it adds those of the runs before its own, and then the sources of its members one after another.
// The totals of a large scan, or of very many runs, travel in several steps.
#include <algorithm>
#include <array>
#include <vector>

#include "fabric/teams/collectives.hpp"

namespace lull::fabric {
namespace {

struct run {
  int node;
  std::vector<int> members;  // by index in the team
};

std::vector<run> runs_of(const team& t) {
  std::vector<run> all;
  for (int index = 0; index < t.size(); ++index) {
    const int node = t.node_of(index);
    if (all.empty() || all.back().node != node) all.push_back({node, {}});
    all.back().members.push_back(index);
  }
  return all;
}

class scanner {
 public:
  scanner(team& t, void* target, const void* source, const scan_elements& how, std::uint64_t doing)
      : team_(t), target_(target), source_(source), how_(how), doing_(doing) {}

  // The elements [first, last), for all members of this node; on all nodes alike.
  void scan(std::size_t first, std::size_t last) {
    const std::vector<run> runs = runs_of(team_);
    const std::size_t fit = team_.workspace_bytes() / how_.element_bytes;  // elements of all totals of a step
    const std::size_t at_once =
        team_.nodes() == 1 ? team::chunk_bytes / how_.element_bytes : std::max<std::size_t>(fit / runs.size(), 1);
    for (std::size_t at = first; at < last; at += count_) {
      begin_ = at;
      count_ = std::min(at_once, last - at);
      if (team_.nodes() > 1) exchange_totals(runs, std::max<std::size_t>(fit / count_, 1));
      std::size_t mine = 0;
      for (const run& one : runs)
        if (one.node == team_.my_node()) write(one, mine++);
    }
  }

 private:
  using elements = std::vector<std::byte>;
  [[nodiscard]] std::size_t bytes() const { return count_ * how_.element_bytes; }
  [[nodiscard]] const std::byte* source_of(int index) const {
    return static_cast<const std::byte*>(team_.ground().memory.direct(source_, team_.pe(index))) +
           begin_ * how_.element_bytes;
  }
  [[nodiscard]] std::byte* target_of(int index) const {
    return static_cast<std::byte*>(team_.ground().memory.direct(target_, team_.pe(index))) +
           begin_ * how_.element_bytes;
  }
  // sum += elements; without a sum so far, the sum is the elements: adding to 0 would lose the sign of -0.
  void add(elements& sum, const std::byte* more) const {
    if (sum.empty())
      sum.assign(more, more + bytes());
    else
      how_.combine(sum.data(), more, count_);
  }
  [[nodiscard]] elements total_of(const run& one) const {
    elements sum;
    for (const int index : one.members) add(sum, source_of(index));
    return sum;
  }

  // Finds the sum of all runs before each of this node's, `most` runs at a time.
  void exchange_totals(const std::vector<run>& runs, std::size_t most) {
    before_.clear();
    elements sum;
    for (std::size_t first = 0; first < runs.size(); first += most) {
      const std::size_t end = std::min(first + most, runs.size());
      team_.next_epoch();
      for (std::size_t number = first; number < end; ++number)
        if (runs[number].node == team_.my_node())
          team_.put_to_leaders((number - first) * bytes(), total_of(runs[number]).data(), bytes());
      team_.completed();
      team_.exchange(doing_);  // all totals have arrived
      for (std::size_t number = first; number < end; ++number) {
        if (runs[number].node == team_.my_node()) before_.push_back(sum);
        add(sum, team_.workspace() + (number - first) * bytes());
      }
      team_.next_epoch();
      team_.exchange(doing_);  // all have read them
    }
  }

  // A member's target may be its source, so the source is copied first.
  void write(const run& one, std::size_t number) const {
    elements sum = before_.empty() ? elements{} : before_[number];
    for (const int index : one.members) {
      const elements theirs(source_of(index), source_of(index) + bytes());
      if (how_.inclusive) add(sum, theirs.data());
      if (sum.empty())
        std::fill_n(target_of(index), bytes(), std::byte{});
      else
        std::copy(sum.begin(), sum.end(), target_of(index));
      if (!how_.inclusive) add(sum, theirs.data());
    }
  }

  team& team_;
  void* target_;
  const void* source_;
  scan_elements how_;
  std::uint64_t doing_;
  std::size_t begin_ = 0, count_ = 0;  // the current elements
  std::vector<elements> before_;       // for each run of this node; empty: there is none before
};

}  // namespace

void scan(team& t, void* target, const void* source, std::size_t count, const scan_elements& how) {
  const std::uint64_t doing =
      t.begin_call(collective::scan, count * how.element_bytes, how.kind * 2 + (how.inclusive ? 1 : 0), target);
  scanner work(t, target, source, how, doing);
  const std::size_t members = t.here().size();
  if (t.nodes() > 1 || members == 1 || count * how.element_bytes <= team::small_block) {
    t.node_barrier(doing, [&] { work.scan(0, count); });
    return;
  }
  // Large and on one node: each member scans a slice for all. Only that member reads the slice.
  t.node_barrier(doing, [] {});
  const auto me = static_cast<std::size_t>(std::ranges::find(t.here(), t.my_index()) - t.here().begin());
  work.scan(count * me / members, count * (me + 1) / members);
  t.node_barrier(doing, [] {});
}

}  // namespace lull::fabric
