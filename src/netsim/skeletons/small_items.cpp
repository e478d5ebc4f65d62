#include "netsim/skeletons/small_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "model/machine/machine.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint64_t header_bytes = 32, address_bytes = 4;
constexpr std::uint32_t most_under_way = 64;  // buffers or items that a process may send before it waits for the first

}  // namespace

std::vector<key> small_item_keys() {
  const std::map<std::string, std::vector<std::string>> in_buffers{{"mode", {"per-pe", "per-node"}}};
  return {{.name = "items",
           .meaning = "number of items of each process in a step: updates, requests or keys",
           .by_default = 20'000,
           .least = 1,
           .most = most_number},
          {.name = "mode",
           .meaning = "how items travel: each on its own, or in buffers of each process or of the node",
           .of = kind::choice,
           .by_default = "per-pe",
           .words = {"direct", "per-pe", "per-node"}},
          {.name = "hops",
           .meaning = "number of hops of an item; with buffers per node, only those between nodes",
           .by_default = 1,
           .least = 1,
           .most = 3,
           .only = in_buffers},
          {.name = "buffer_bytes",
           .meaning = "size of a buffer, including its header of 32 bytes",
           .of = kind::size,
           .by_default = "64 KiB",
           .least = 512,
           .most = 1 << 28,
           .only = in_buffers},
          {.name = "item_time",
           .meaning = "time of a core for each hop of an item, half of it where the item arrives",
           .of = kind::time,
           .by_default = fmt::format("{} ns", model::aggregation_costs{}.ns_per_item),
           .most = longest_time}};
}

small_items::small_items(const job_setup& setup, const reader& from, std::vector<std::uint32_t> item_bytes)
    : item_bytes_(std::move(item_bytes)),
      processes_(setup.size()),
      items_(static_cast<std::uint64_t>(from.whole("items"))),
      buffer_bytes_(0),
      item_time_(from.whole("item_time")),
      seed_(setup.asked.seed) {
  const std::string mode = from.word("mode");
  if (mode == "direct") return;
  buffer_bytes_ = static_cast<std::uint64_t>(from.whole("buffer_bytes"));
  const std::vector<std::uint32_t>& nodes = setup.job().nodes;
  setup.require(item_paths::nodes_are_equal(nodes), "processes",
                fmt::format("is {}, which leaves some nodes with fewer than others", processes_),
                "use as many processes on every node");
  paths_.emplace(nodes, model::item_scheme{mode == "per-node" ? model::buffering::per_node : model::buffering::per_pe,
                                           static_cast<int>(from.whole("hops"))});
  for (std::uint32_t hop = 0; hop < travels() * paths_->hops(); hop += paths_->hops())
    setup.require(capacity(hop) > 0, "buffer_bytes", fmt::format("is {}", buffer_bytes_),
                  fmt::format("an item needs {}", header_bytes + bytes_of_item(hop)));
}

// The hops of answers are numbered after those of items.
std::uint64_t small_items::bytes_of_item(std::uint32_t hop) const {
  return item_bytes_[hop / paths_->hops()] + (paths_->addressed() ? address_bytes : 0);
}

std::uint64_t small_items::capacity(std::uint32_t hop) const {
  return (buffer_bytes_ - header_bytes) / bytes_of_item(hop);
}

std::uint64_t small_items::items_of(double share) const {
  return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(items_)));
}

std::vector<small_items::hop_of_pass> small_items::hops_of(std::uint32_t rank) const {
  std::vector<hop_of_pass> hops(std::size_t{travels()} * paths_->hops());
  for (std::uint32_t h = 0; h < hops.size(); ++h) {
    hop_of_pass& hop = hops[h];
    hop.to = paths_->leaving(h % paths_->hops(), rank);
    for (const item_paths::channel& c : hop.to) {
      hop.full.push_back(items_of(c.share) / capacity(h));
      hop.all_full += hop.full.back();
    }
    std::uint64_t items = 0;
    for (const item_paths::channel& c : paths_->arriving(h % paths_->hops(), rank)) {
      hop.expected += items_of(c.share) / capacity(h) + 1;
      items += items_of(c.share);
    }
    if (hop.expected != 0)
      hop.handling = share_of(item_time_, static_cast<double>(items) / static_cast<double>(hop.expected) / 2);
  }
  return hops;
}

std::vector<small_items::sending> small_items::due(std::vector<hop_of_pass>& hops, double pushed) const {
  std::vector<sending> result;
  double through = pushed;  // share of all items that have reached a hop
  for (std::uint32_t h = 0; h < hops.size(); ++h) {
    hop_of_pass& hop = hops[h];
    if (h > 0 && hops[h - 1].expected != 0)
      through =
          std::min(through, static_cast<double>(hops[h - 1].received) / static_cast<double>(hops[h - 1].expected));
    const auto may_be_sent = static_cast<std::uint64_t>(through * static_cast<double>(hop.all_full));
    for (; hop.sent < may_be_sent; ++hop.turns) {
      const std::size_t channel = hop.turns % hop.to.size();
      if (hop.full[channel] <= hop.turns / hop.to.size()) continue;
      result.push_back({hop.to[channel].other, header_bytes + capacity(h) * bytes_of_item(h), h});
      ++hop.sent;
    }
    if (through < 1 || hop.closed) continue;
    hop.closed = true;
    for (const item_paths::channel& c : hop.to)
      result.push_back({c.other, header_bytes + items_of(c.share) % capacity(h) * bytes_of_item(h), h});
  }
  return result;
}

stream small_items::pass(std::uint32_t rank, std::uint32_t number, const completions& done) const {
  std::vector<hop_of_pass> hops = hops_of(rank);
  const auto all_hops = static_cast<std::uint32_t>(hops.size());
  // A buffer of the next pass may come before the last one of this pass, so passes alternate between two sets of tags.
  const std::uint32_t tags = number % 2 * all_hops;
  const std::uint64_t in_chunk = capacity(0);
  std::uint64_t pushed = 0, to_come = 0;
  for (const hop_of_pass& hop : hops) to_come += hop.expected;
  // Requests: one receive per hop, then sends.
  std::vector<std::uint32_t> under_way, free;
  for (std::uint32_t i = most_under_way; i-- > 0;) free.push_back(all_hops + i);
  std::deque<sending> waiting;
  for (std::uint32_t h = 0; h < all_hops; ++h)
    if (hops[h].expected != 0) co_yield does::receive(any, buffer_bytes_, tags + h, h);

  do {
    if (pushed < items_ && waiting.empty()) {
      const std::uint64_t now = std::min(in_chunk, items_ - pushed);
      co_yield does::compute(share_of(item_time_, static_cast<double>(now) / 2));
      pushed += now;
    } else {
      co_yield does::wait_any();
    }
    for (std::uint32_t h = 0; h < all_hops; ++h)
      while (hops[h].received < hops[h].expected && done.complete(h)) {
        co_yield does::wait(h);
        co_yield does::compute(hops[h].handling);
        --to_come;
        if (++hops[h].received < hops[h].expected) co_yield does::receive(any, buffer_bytes_, tags + h, h);
      }
    // Waits for all that are complete; one left would end the next wait_any at once.
    for (std::size_t i = under_way.size(); i-- > 0;)
      if (done.complete(under_way[i])) {
        co_yield does::wait(under_way[i]);
        free.push_back(under_way[i]);
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(i));
      }
    for (const sending& s : due(hops, static_cast<double>(pushed) / static_cast<double>(items_))) waiting.push_back(s);
    for (; !waiting.empty() && !free.empty(); waiting.pop_front()) {
      under_way.push_back(free.back());
      free.pop_back();
      co_yield does::send(waiting.front().to, waiting.front().bytes, tags + waiting.front().hop, under_way.back());
    }
  } while (pushed < items_ || to_come != 0 || !waiting.empty());
  for (const std::uint32_t request : under_way) co_yield does::wait(request);
}

stream small_items::pass_directly(std::uint32_t rank, std::uint32_t number, operation one, bool blocking) const {
  generator random(seed_ ^ (std::uint64_t{pair_key(rank, number)} << 16U));
  std::uint32_t under_way = 0;
  for (std::uint64_t i = 0; i < items_; ++i) {
    co_yield does::compute(item_time_);
    one.peer = random.below(processes_);
    if (one.peer == rank) continue;
    one.request = no_request;
    if (!blocking) {
      one.request = under_way % most_under_way;
      if (under_way++ >= most_under_way) co_yield does::wait(one.request);
    }
    co_yield one;
  }
  for (std::uint32_t request = 0; request < std::min(under_way, most_under_way); ++request)
    co_yield does::wait(request);
  co_yield does::all_of(collective::barrier, 0);
}

}  // namespace lull::netsim
