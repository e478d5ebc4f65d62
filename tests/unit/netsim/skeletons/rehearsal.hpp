// Programs without a network: what they send, and whether it matches.
//
// `counts_of` executes each stream from beginning to end by itself, whatever it waits for. `rehearse` executes them
// together: messages take no time, sends complete at once, receives are matched by source and tag in order, and
// collectives wait for all processes. The test fails if a program cannot continue, or if something is left over.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "netsim/program/program.hpp"
#include "netsim/simulation.hpp"
#include "netsim/skeletons/skeleton.hpp"

namespace lull::netsim {

// A job of a skeleton, with its keys as in a file.
class rehearsed_job {
 public:
  rehearsed_job(const std::string& pattern, std::uint32_t processes, const std::map<std::string, value>& given = {},
                std::uint32_t per_node = 1) {
    job& j = asked_.jobs.emplace_back();
    j.pattern = pattern;
    for (std::uint32_t rank = 0; rank < processes; ++rank) j.nodes.push_back(rank / per_node);
    const auto row = std::ranges::find(all_skeletons(), pattern, [](const skeleton& s) { return std::string(s.name); });
    for (const key& k : row->keys) {
      const auto found = given.find(k.name);
      const value& written = found == given.end() ? k.by_default : found->second;
      if (!written.none()) j.own[k.name] = checked(k, written, {"read the test"});
    }
    EXPECT_EQ(std::ranges::count_if(given, [&](const auto& g) { return find(row->keys, g.first) == nullptr; }), 0);
    program_ = make_skeleton({asked_, 0});
  }
  [[nodiscard]] const program& run() const { return *program_; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(asked_.jobs[0].nodes.size()); }

 private:
  simulation asked_;
  std::unique_ptr<program> program_;
};

struct counts {
  std::uint64_t messages = 0, bytes = 0;  // sent
  std::uint64_t one_sided = 0;            // puts, gets, atomics
  std::uint64_t iterations = 0;
  std::uint64_t operations = 0;
  picoseconds computing = 0;
  std::map<std::pair<collective, std::uint64_t>, std::uint64_t> collectives;  // by kind and bytes
  std::set<std::uint32_t> neighbours;                                         // that are sent to

  [[nodiscard]] std::uint64_t all_of(collective which) const {
    std::uint64_t sum = 0;
    for (const auto& [kind, times] : collectives) sum += kind.first == which ? times : 0;
    return sum;
  }
  void add(const operation& o) {
    using kind = operation::kind;
    ++operations;
    if (o.what == kind::compute) computing += o.duration;
    if (o.what == kind::iteration) ++iterations;
    if (o.what == kind::collective) ++collectives[{o.which, o.bytes}];
    if (o.what == kind::put || o.what == kind::get || o.what == kind::atomic) ++one_sided;
    if (o.what != kind::send && o.what != kind::synchronous_send) return;
    ++messages;
    bytes += o.bytes;
    neighbours.insert(o.peer);
  }
};

// Everything that a program requests has arrived.
struct all_complete final : completions {
  [[nodiscard]] bool complete(std::uint32_t /*request*/) const override { return true; }
};

// The operations of one process, executed by itself.
inline counts counts_of(const rehearsed_job& of, std::uint32_t rank) {
  const all_complete done;
  counts result;
  stream s = of.run().of(rank, done);
  while (const operation* o = s.next()) result.add(*o);
  return result;
}

// Means over every `stride`-th process.
struct means {
  double messages = 0, bytes = 0, neighbours = 0;
};
inline means means_of(const rehearsed_job& of, std::uint32_t stride = 1) {
  means sum;
  double ranks = 0;
  for (std::uint32_t rank = 0; rank < of.size(); rank += stride, ++ranks) {
    const counts c = counts_of(of, rank);
    sum.messages += static_cast<double>(c.messages);
    sum.bytes += static_cast<double>(c.bytes);
    sum.neighbours += static_cast<double>(c.neighbours.size());
  }
  return {sum.messages / ranks, sum.bytes / ranks, sum.neighbours / ranks};
}

class rehearsal {
 public:
  explicit rehearsal(const rehearsed_job& of) : members_(of.size()) {
    for (std::uint32_t rank = 0; rank < of.size(); ++rank) {
      members_[rank].does = of.run().of(rank, members_[rank]);
      due_.emplace(0, turn_++, rank);
    }
    while (!due_.empty()) {
      const auto [now, unused, rank] = due_.top();
      due_.pop();
      now_ = now;
      advance(rank);
    }
    for (std::uint32_t rank = 0; rank < of.size(); ++rank) {
      const member& m = members_[rank];
      EXPECT_TRUE(m.over) << "process " << rank << " waits";
      EXPECT_TRUE(m.unexpected.empty()) << "a message for process " << rank << " was not received";
      EXPECT_TRUE(m.posted.empty()) << "process " << rank << " expected a message";
    }
  }

  picoseconds ended = 0;
  counts all;  // of all processes together

 private:
  using kind = operation::kind;
  struct envelope {
    std::uint32_t source, tag;
    std::uint64_t bytes;
    std::uint32_t request;  // of a receive
  };
  enum class wait : std::uint8_t { nothing, one, some, all_of_job };
  struct member final : completions {
    [[nodiscard]] bool complete(std::uint32_t request) const override {
      const auto found = requests.find(request);
      EXPECT_NE(found, requests.end()) << "request " << request << " is asked for and was not made";
      return found != requests.end() && found->second;
    }
    stream does;
    std::map<std::uint32_t, bool> requests;  // not yet waited for: whether it is complete
    std::deque<envelope> posted, unexpected;
    wait waits = wait::nothing;
    std::uint32_t waited_for = 0;
    std::size_t collectives = 0;  // entered
    bool over = false;
  };
  struct meeting {
    operation what;
    std::uint32_t come = 0;
  };

  static bool fits(const envelope& receive, const envelope& sent) {
    return (receive.source == any || receive.source == sent.source) && (receive.tag == any || receive.tag == sent.tag);
  }

  void wake(std::uint32_t rank) {
    members_[rank].waits = wait::nothing;
    due_.emplace(now_, turn_++, rank);
  }

  void received(std::uint32_t rank, const envelope& by, const envelope& message) {
    EXPECT_LE(message.bytes, by.bytes) << "process " << rank << " has no room for a message of " << message.source;
    member& m = members_[rank];
    if (by.request == no_request) return wake(rank);
    m.requests[by.request] = true;
    if (m.waits == wait::some || (m.waits == wait::one && m.waited_for == by.request)) {
      if (m.waits == wait::one) m.requests.erase(by.request);
      wake(rank);
    }
  }

  void send(std::uint32_t from, const operation& o) {
    ASSERT_LT(o.peer, members_.size());
    EXPECT_NE(o.peer, from) << "process " << from << " sends to itself";
    const envelope sent{from, o.tag, o.bytes, no_request};
    member& to = members_[o.peer];
    const auto found = std::ranges::find_if(to.posted, [&](const envelope& r) { return fits(r, sent); });
    if (found == to.posted.end()) return to.unexpected.push_back(sent);
    const envelope receive = *found;
    to.posted.erase(found);
    received(o.peer, receive, sent);
  }

  // Whether the process continues.
  bool act(std::uint32_t rank, const operation& o) {
    member& m = members_[rank];
    switch (o.what) {
      case kind::compute:
        if (o.duration == 0) return true;
        due_.emplace(now_ + o.duration, turn_++, rank);
        return false;
      case kind::send:
      case kind::synchronous_send:
        if (o.request != no_request) {
          EXPECT_TRUE(m.requests.emplace(o.request, true).second) << "request " << o.request << " is in use";
        }
        send(rank, o);
        return true;
      case kind::receive: {
        if (o.request != no_request) {
          EXPECT_TRUE(m.requests.emplace(o.request, false).second) << "request " << o.request << " is in use";
        }
        const envelope receive{o.peer, o.tag, o.bytes, o.request};
        const auto found = std::ranges::find_if(m.unexpected, [&](const envelope& e) { return fits(receive, e); });
        if (found == m.unexpected.end()) {
          m.posted.push_back(receive);
          return o.request != no_request;
        }
        EXPECT_LE(found->bytes, o.bytes);
        m.unexpected.erase(found);
        if (o.request != no_request) m.requests[o.request] = true;
        return true;
      }
      case kind::wait: {
        const auto found = m.requests.find(o.request);
        EXPECT_NE(found, m.requests.end()) << "process " << rank << " waits for " << o.request << ", not made";
        if (found == m.requests.end()) return true;
        if (found->second) {
          m.requests.erase(found);
          return true;
        }
        m.waits = wait::one;
        m.waited_for = o.request;
        return false;
      }
      case kind::wait_any:
        if (m.requests.empty() || std::ranges::any_of(m.requests, [](const auto& r) { return r.second; })) return true;
        m.waits = wait::some;
        return false;
      case kind::collective:
        return meet(rank, o);
      case kind::put:
      case kind::get:
      case kind::atomic:
        if (o.request != no_request) {
          EXPECT_TRUE(m.requests.emplace(o.request, true).second) << "request " << o.request << " is in use";
        }
        return true;
      case kind::await_put:
        ADD_FAILURE() << "process " << rank << " waits for puts, which no skeleton does";
        return true;
      case kind::iteration:
      case kind::unit:
        return true;
    }
    return true;
  }

  bool meet(std::uint32_t rank, const operation& o) {
    member& m = members_[rank];
    EXPECT_EQ(o.request, no_request);
    const std::size_t number = m.collectives++;
    if (number == meetings_.size()) meetings_.push_back({o});
    meeting& here = meetings_[number];
    EXPECT_TRUE(here.what.which == o.which && here.what.bytes == o.bytes && here.what.peer == o.peer)
        << "process " << rank << " enters another collective than others, number " << number;
    if (++here.come < members_.size()) {
      m.waits = wait::all_of_job;
      return false;
    }
    for (std::uint32_t other = 0; other < members_.size(); ++other)
      if (members_[other].waits == wait::all_of_job) wake(other);
    return true;
  }

  void advance(std::uint32_t rank) {
    while (const operation* o = members_[rank].does.next()) {
      const operation now = *o;
      all.add(now);
      if (!act(rank, now)) return;
    }
    members_[rank].over = true;
    EXPECT_TRUE(members_[rank].requests.empty()) << "process " << rank << " has not waited for all";
    ended = std::max(ended, now_);
  }

  std::vector<member> members_;
  std::vector<meeting> meetings_;
  using entry = std::tuple<picoseconds, std::uint64_t, std::uint32_t>;  // time, turn, rank
  std::priority_queue<entry, std::vector<entry>, std::greater<>> due_;
  picoseconds now_ = 0;
  std::uint64_t turn_ = 0;
};

}  // namespace lull::netsim
