#include "stage/accounts/leaders.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/error.hpp"

namespace lull::stage {
namespace {

constexpr int first = 0;

enum class news : std::uint32_t {
  hello,    // connects, so that the end of the connection is seen
  figures,  // of a node, to the first leader
  added,    // the first leader has them
};

}  // namespace

// Presents some of the processes as if they were all.
struct leaders::subset final : exchange {
  subset(std::vector<int> ranks_of_all, exchange& of_all) : ranks(std::move(ranks_of_all)), all_others(of_all) {}
  [[nodiscard]] int rank() const override {
    return static_cast<int>(std::ranges::find(ranks, all_others.rank()) - ranks.begin());
  }
  [[nodiscard]] int size() const override { return static_cast<int>(ranks.size()); }
  [[nodiscard]] std::string node() const override { return all_others.node(); }
  [[nodiscard]] std::vector<std::vector<std::byte>> all(std::span<const std::byte> mine) override {
    const auto messages = all_others.all(mine);
    std::vector<std::vector<std::byte>> of_these;
    for (const int rank : ranks) of_these.push_back(messages[static_cast<std::size_t>(rank)]);
    return of_these;
  }

  std::vector<int> ranks;
  exchange& all_others;
};

leaders::leaders(const std::vector<int>& ranks, exchange& others)
    : members_(std::make_unique<subset>(ranks, others)), post_(*this, *members_) {
  (void)others.all({});  // all have their posts, and will send
  const int me = members_->rank();
  if (me == first)
    for (int one = 1; one < members_->size(); ++one) others_[one];
  else
    others_[first];
  for (const auto& [one, state] : others_) post_.send(one, packet().put(news::hello));
  await([](const other& one) { return one.heard_of; });
  (void)others.all({});
}

leaders::~leaders() = default;

void leaders::let_them_meet(exchange& others) {
  for (int call = 0; call < 4; ++call) (void)others.all({});  // two by post, two by the leaders
}

template <class Condition>
void leaders::await(const Condition& holds) {
  for (;;) {
    while (post_.progress()) continue;
    if (!post_.sending() &&
        std::ranges::all_of(others_, [&](const auto& one) { return one.second.gone || holds(one.second); }))
      return;
    if (!post_.arm()) continue;
    pollfd wanted{post_.event_fd(), POLLIN, 0};
    if (poll(&wanted, 1, -1) < 0 && errno != EINTR)
      throw error("add up the output of all nodes", describe_errno(errno));
  }
}

void leaders::packet_from(int from, packet_reader text) {
  const auto known = others_.find(from);
  if (known == others_.end()) return;
  known->second.heard_of = true;
  const auto what = text.take<news>();
  if (what == news::figures) sum_ += text.take<job_figures>();
  if (what != news::hello) known->second.closed = true;
}

void leaders::lost(int peer) {
  if (const auto known = others_.find(peer); known != others_.end()) known->second.gone = true;
}

std::optional<job_figures> leaders::add_up(const job_figures& of_node) {
  const bool is_first = !others_.contains(first);
  sum_ += of_node;
  if (!is_first && !others_[first].gone) post_.send(first, packet().put(news::figures).put(of_node));
  await([](const other& one) { return one.closed; });
  if (is_first) {
    for (const auto& [one, state] : others_)
      if (!state.gone) post_.send(one, packet().put(news::added));
    await([](const other&) { return true; });
  }
  if (is_first || !others_[first].closed) return sum_;
  return std::nullopt;
}

}  // namespace lull::stage
