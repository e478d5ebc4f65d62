#include "netsim/traces/traced_collectives.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "netsim/counted.hpp"

namespace lull::netsim {
namespace {

// The operation that replays it. Creating or freeing a shared object, a communicator or window, takes a barrier; if
// each process can continue without the others, it takes nothing.
std::optional<collective> replayed_as(collective c, traced_collectives::sequence of) {
  switch (c) {
    case collective::create_handle:
    case collective::create_handle_and_allocate:
    case collective::allocate:
    case collective::deallocate:
    case collective::destroy_handle_and_deallocate:
      return collective::barrier;
    case collective::destroy_handle:
      if (of == traced_collectives::sequence::of_window) return collective::barrier;
      return std::nullopt;
    default:
      return c;
  }
}

}  // namespace

bool traced_collectives::involves_others(const part& p) const {
  return ranks_.members(p.group) >= 2 && replayed_as(p.operation, p.of);
}

std::optional<encoded_operations::shared> traced_collectives::join(const part& p) {
  const std::uint32_t members = ranks_.members(p.group);
  const std::optional<collective> operation = replayed_as(p.operation, p.of);
  if (!involves_others(p)) return std::nullopt;
  instances& in = all_[std::uint64_t{static_cast<std::uint8_t>(p.of)} << 32U | p.which];
  in.group = p.group;
  const std::uint64_t number = in.done[p.rank]++;
  while (in.first + in.open.size() <= number)
    in.open.push_back({.number = to_.make_shared(), .operation = *operation, .first_rank = p.rank});
  instance& i = in.open[number - in.first];
  if (i.there == 0) {  // created for a later one, or just now
    i.operation = *operation;
    i.first_rank = p.rank;
  }
  if (i.operation != *operation)
    throw error(asked_,
                fmt::format("{} is {} for rank {} and {} for rank {}", name(in, number), trace::name_of(i.operation),
                            i.first_rank, trace::name_of(*operation), p.rank),
                "check whether the trace is complete");
  if (p.root != trace::no_one) i.root = p.root;
  i.sent += p.sent;
  i.received += p.received;
  i.most_sent = std::max(i.most_sent, p.sent);
  i.most_received = std::max(i.most_received, p.received);
  const encoded_operations::shared shared = i.number;
  if (++i.there == members) {
    to_.set(shared, whole(i, p.group));
    for (; !in.open.empty() && in.open.front().there == members; ++in.first) in.open.pop_front();
  }
  return shared;
}

// Bytes as operation.hpp defines them. Each is computed from what both conventions of counting agree on, if possible.
operation traced_collectives::whole(const instance& i, std::uint32_t group) const {
  const std::uint64_t n = ranks_.members(group);
  operation o{.what = operation::kind::collective,
              .which = i.operation,
              .peer = i.root == trace::no_one ? 0 : i.root,
              .group = group};
  if (i.root == trace::no_one && group != everybody) o.peer = ranks_.groups()[group].front();
  const std::uint64_t mean_sent = i.sent / n, mean_received = i.received / n;
  switch (i.operation) {
    case collective::broadcast:
      o.bytes = i.most_received > 0 ? i.most_received : i.most_sent;
      break;
    case collective::gather:
    case collective::gatherv:
      o.bytes = i.most_received > 0 ? i.most_received / n : mean_sent;
      break;
    case collective::scatter:
    case collective::scatterv:
      o.bytes = mean_received > 0 ? mean_received : i.most_sent / n;
      break;
    case collective::allgather:
    case collective::allgatherv:
      o.bytes = mean_received / n;
      break;
    case collective::alltoall:
    case collective::alltoallv:
    case collective::alltoallw:
      o.bytes = mean_sent / n;
      break;
    case collective::allreduce:
      o.bytes = partners_counted_ ? mean_sent / n : mean_sent;
      break;
    case collective::scan:
      o.bytes = partners_counted_ ? 2 * i.sent / (n * (n + 1)) : mean_sent;
      break;
    case collective::exscan:
      o.bytes = partners_counted_ ? 2 * i.sent / (n * (n - 1)) : mean_sent;
      break;
    default:  // reduce, reduce_scatter: what a process contributes; barrier: nothing
      o.bytes = mean_sent;
      break;
  }
  return o;
}

std::string traced_collectives::name(const instances& in, std::uint64_t number) const {
  return fmt::format("collective {} of {}", number + 1, ranks_.name_of(in.group));
}

void traced_collectives::check() const {
  for (const auto& [key, in] : all_) {
    if (in.open.empty()) continue;
    const instance& i = in.open.front();
    const std::uint32_t members = ranks_.members(in.group);
    std::uint32_t absent = 0;
    for (std::uint32_t m = 0; m < members; ++m) {
      absent = in.group == everybody ? m : ranks_.groups()[in.group][m];
      const auto done = in.done.find(absent);
      if (done == in.done.end() || done->second <= in.first) break;
    }
    throw error(asked_,
                fmt::format("{} ({}) has {} of its {}: rank {} never takes part", name(in, in.first),
                            trace::name_of(i.operation), i.there, counted(members, "process", "processes"), absent),
                "trace the whole run, until all its processes have ended");
  }
}

}  // namespace lull::netsim
