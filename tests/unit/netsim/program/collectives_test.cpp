// Every algorithm of every collective, in groups of any size: it ends, every rank gets the data that it must, and the
// numbers of messages and bytes agree with its formula. First without a network, then on one with known latencies.
#include "netsim/program/collective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "netsim/program/programs.hpp"

namespace lull::netsim {
namespace {

// Executes the schedules of a group: a send is over when its message is received (or at once), and a message carries
// everything that its sender knows: one bit for each rank from which it has data.
class rehearsal {
 public:
  rehearsal(const collective_algorithm& by, std::uint32_t size, std::uint32_t root, std::uint64_t bytes,
            bool sends_wait)
      : sends_wait_(sends_wait), members_(size) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      members_[rank].todo = by.schedule({.rank = rank, .size = size, .root = root, .bytes = bytes});
      members_[rank].knows = std::uint64_t{1} << rank;
    }
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::uint32_t rank = 0; rank < size; ++rank) moved = advance(rank) || moved;
    }
  }

  [[nodiscard]] bool all_ended() const {
    return std::ranges::all_of(members_, [](const member& m) { return m.ended && m.open.empty(); });
  }
  [[nodiscard]] bool knows(std::uint32_t rank, std::uint32_t other) const {
    return (members_[rank].knows >> other & 1U) != 0;
  }
  [[nodiscard]] const std::string& mistake() const { return mistake_; }
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

 private:
  using way = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, tag
  struct message {
    std::uint64_t bytes;
    std::uint64_t knows;
  };
  struct request {
    way by;
    bool receives;
    std::uint64_t bytes;
  };
  struct member {
    stream todo;
    std::uint64_t knows = 0;
    std::map<std::uint32_t, request> open;
    bool blocked = false;  // on `on`
    bool ended = false;
    std::uint32_t on = 0;
  };

  // Whether the request of a member is complete; it is over then.
  bool complete(member& m, std::uint32_t number) {
    const auto found = m.open.find(number);
    if (found == m.open.end()) return true;
    const request r = found->second;
    const auto sent = on_the_way_.find(r.by);
    if (r.receives) {
      if (sent == on_the_way_.end()) return false;
      if (sent->second.bytes != r.bytes) mistake_ = "a receive is not as long as its message";
      m.knows |= sent->second.knows;
    } else if (sends_wait_ && !posted_.contains(r.by)) {
      return false;
    }
    m.open.erase(found);
    return true;
  }

  bool advance(std::uint32_t rank) {
    member& m = members_[rank];
    bool moved = false;
    while (!m.ended) {
      if (m.blocked && !complete(m, m.on)) return moved;
      m.blocked = false;
      moved = true;
      const operation* o = m.todo.next();
      if (o == nullptr) {
        m.ended = true;
      } else if (o->what == operation::kind::wait) {
        m.blocked = true;
        m.on = o->request;
      } else {
        begin(m, rank, *o);
        if (o->request == no_request) {
          m.blocked = true;
          m.on = o->request;
        }
      }
    }
    return moved;
  }

  void begin(member& m, std::uint32_t rank, const operation& o) {
    const bool receives = o.what == operation::kind::receive;
    const way by = receives ? way{o.peer, rank, o.tag} : way{rank, o.peer, o.tag};
    if (o.peer >= members_.size() || o.peer == rank) mistake_ = "a message goes nowhere";
    if (!receives) {
      ++messages;
      bytes += o.bytes;
      if (!on_the_way_.try_emplace(by, message{o.bytes, m.knows}).second) mistake_ = "two messages have one tag";
    } else if (!posted_.insert(by).second) {
      mistake_ = "two receives have one tag";
    }
    if (!m.open.try_emplace(o.request, request{by, receives, o.bytes}).second) mistake_ = "a request is used twice";
  }

  bool sends_wait_;
  std::vector<member> members_;
  std::map<way, message> on_the_way_;
  std::set<way> posted_;
  std::string mistake_;
};

struct algorithm_of {
  const collective_family* family;
  const collective_algorithm* by;
  friend void PrintTo(const algorithm_of& a, std::ostream* out) { *out << a.family->name << " " << a.by->name; }
};

std::vector<algorithm_of> all_algorithms_of_collectives() {
  std::vector<algorithm_of> all;
  for (const collective_family& f : all_collective_families())
    for (const collective_algorithm& a : f.algorithms) all.push_back({&f, &a});
  return all;
}

class every_algorithm : public testing::TestWithParam<algorithm_of> {};

// Whose data each rank must have at the end.
bool must_know(const std::string& family, std::uint32_t rank, std::uint32_t other, std::uint32_t root) {
  if (family == "broadcast" || family == "scatter") return other == root;
  if (family == "reduce" || family == "gather") return rank == root;
  if (family == "scan") return other <= rank;
  return true;
}

TEST_P(every_algorithm, tells_everybody_what_they_must_know) {
  const auto& [family, by] = GetParam();
  for (std::uint32_t size = 1; size <= 33; ++size)
    for (const std::uint32_t root : std::set<std::uint32_t>{0, size / 2})
      for (const std::uint64_t bytes : {0ULL, 1000ULL, 200'000ULL})
        for (const bool sends_wait : {false, true}) {
          SCOPED_TRACE(fmt::format("size {} root {} bytes {} sends wait {}", size, root, bytes, sends_wait));
          const rehearsal done(*by, size, root, bytes, sends_wait);
          ASSERT_TRUE(done.all_ended());
          ASSERT_EQ(done.mistake(), "");
          for (std::uint32_t rank = 0; rank < size; ++rank)
            for (std::uint32_t other = 0; other < size; ++other)
              if (must_know(family->name, rank, other, root)) {
                ASSERT_TRUE(done.knows(rank, other)) << rank << " of " << other;
              }
        }
}

std::string name_of_algorithm(const testing::TestParamInfo<algorithm_of>& info) {
  std::string name = std::string(info.param.family->name) + "_" + info.param.by->name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(all, every_algorithm, testing::ValuesIn(all_algorithms_of_collectives()), name_of_algorithm);

// Messages and bytes of all ranks together; p processes, b bytes as in the call.
struct cost {
  std::uint64_t messages;
  std::uint64_t bytes;
  bool operator==(const cost&) const = default;
  friend void PrintTo(const cost& c, std::ostream* out) { *out << c.messages << " messages, " << c.bytes << " bytes"; }
};

cost cost_of(const std::string& family, const std::string& algorithm, std::uint32_t p, std::uint64_t b) {
  const auto& f = all_collective_families()[static_cast<std::size_t>(
      std::ranges::find(all_collective_families(), family, [](const auto& one) { return std::string(one.name); }) -
      all_collective_families().begin())];
  const rehearsal done(*find_algorithm(f, algorithm), p, 0, b, false);
  return {done.messages, done.bytes};
}

TEST(collectives, send_as_many_messages_and_bytes_as_their_formulas_say) {
  for (std::uint64_t p = 1; p <= 33; ++p) {
    SCOPED_TRACE(p);
    const auto n = static_cast<std::uint32_t>(p);
    const std::uint64_t b = 3 * p * 1000;
    const auto steps = static_cast<std::uint64_t>(std::bit_width(p - 1));  // to double from 1 to p
    EXPECT_EQ(cost_of("barrier", "dissemination", n, 0), (cost{p * steps, 0}));
    EXPECT_EQ(cost_of("barrier", "linear", n, 0), (cost{2 * (p - 1), 0}));
    EXPECT_EQ(cost_of("barrier", "tree", n, 0), (cost{2 * (p - 1), 0}));
    for (const char* tree : {"binomial", "binary-tree", "linear"}) {
      EXPECT_EQ(cost_of("broadcast", tree, n, b), (cost{p - 1, (p - 1) * b}));
      EXPECT_EQ(cost_of("reduce", tree, n, b), (cost{p - 1, (p - 1) * b}));
    }
    EXPECT_EQ(cost_of("broadcast", "chain", n, 200'000), (cost{4 * (p - 1), (p - 1) * 200'000}));
    EXPECT_EQ(cost_of("reduce", "chain", n, 200'000), (cost{4 * (p - 1), (p - 1) * 200'000}));
    EXPECT_EQ(cost_of("broadcast", "scatter-allgather", n, b).messages, (p - 1) + p * (p - 1));
    EXPECT_EQ(cost_of("allreduce", "ring", n, b), (cost{2 * p * (p - 1), 2 * (p - 1) * b}));
    EXPECT_EQ(cost_of("reduce_scatter", "ring", n, b), (cost{p * (p - 1), (p - 1) * b}));
    EXPECT_EQ(cost_of("allgather", "ring", n, b), (cost{p * (p - 1), p * (p - 1) * b}));
    EXPECT_EQ(cost_of("allgather", "bruck", n, b), (cost{p * steps, p * (p - 1) * b}));
    EXPECT_EQ(cost_of("alltoall", "linear", n, b), (cost{p * (p - 1), p * (p - 1) * b}));
    EXPECT_EQ(cost_of("alltoall", "pairwise", n, b), (cost{p * (p - 1), p * (p - 1) * b}));
    EXPECT_EQ(cost_of("alltoall", "bruck", n, b).messages, p * steps);
    EXPECT_EQ(cost_of("gather", "linear", n, b), (cost{p - 1, (p - 1) * b}));
    EXPECT_EQ(cost_of("gather", "binomial", n, b).messages, p - 1);
    EXPECT_EQ(cost_of("gather", "binomial", n, b), cost_of("scatter", "binomial", n, b));
    EXPECT_EQ(cost_of("scan", "linear", n, b), (cost{p - 1, (p - 1) * b}));
    if (p % 2 == 0) {
      EXPECT_EQ(cost_of("allgather", "neighbor-exchange", n, b), (cost{p * p / 2, p * (p - 1) * b}));
    }
    if (!std::has_single_bit(p)) continue;
    EXPECT_EQ(cost_of("barrier", "recursive-doubling", n, 0), (cost{p * steps, 0}));
    EXPECT_EQ(cost_of("allreduce", "recursive-doubling", n, b), (cost{p * steps, p * steps * b}));
    EXPECT_EQ(cost_of("allreduce", "rabenseifner", n, b), (cost{2 * p * steps, 2 * (p - 1) * b}));
    EXPECT_EQ(cost_of("reduce_scatter", "recursive-halving", n, b), (cost{p * steps, (p - 1) * b}));
    EXPECT_EQ(cost_of("allgather", "recursive-doubling", n, b), (cost{p * steps, p * (p - 1) * b}));
    EXPECT_EQ(cost_of("alltoall", "bruck", n, b).bytes, p * steps * p / 2 * b);
    EXPECT_EQ(cost_of("gather", "binomial", n, b).bytes, p / 2 * steps * b);
    EXPECT_EQ(cost_of("scan", "recursive-doubling", n, b), (cost{p * steps, p * steps * b}));
  }
}

TEST(rules_of_collectives, name_an_algorithm_for_every_size) {
  for (const collective_family& f : all_collective_families()) {
    for (const collective_rule& r : f.rules)
      EXPECT_NE(find_algorithm(f, r.algorithm), nullptr) << f.name << r.algorithm;
    ASSERT_FALSE(f.rules.empty());
    EXPECT_EQ(f.rules.back().below_processes, any_size) << f.name;
    EXPECT_EQ(f.rules.back().below_bytes, any_bytes) << f.name;
  }
  EXPECT_EQ(find_algorithm(all_collective_families()[0], "auto"), nullptr);
}

TEST(rules_of_collectives, are_those_of_open_mpi) {
  const auto chosen = [](collective which, std::uint32_t size, std::uint64_t bytes) {
    return std::string(chosen_algorithm(all_collective_families()[family_of(which)], size, bytes).name);
  };
  EXPECT_EQ(chosen(collective::barrier, 100, 0), "dissemination");
  EXPECT_EQ(chosen(collective::barrier, 1024, 0), "tree");
  EXPECT_EQ(chosen(collective::broadcast, 1500, 600'000), "scatter-allgather");
  EXPECT_EQ(chosen(collective::allreduce, 10, 100), "recursive-doubling");
  EXPECT_EQ(chosen(collective::allreduce, 256, 8), "non-overlapping");
  EXPECT_EQ(chosen(collective::allreduce, 64, 1 << 20), "rabenseifner");
  EXPECT_EQ(chosen(collective::reduce, 600, 3000), "binomial");
  EXPECT_EQ(chosen(collective::allgather, 100, 4096), "neighbor-exchange");
  EXPECT_EQ(chosen(collective::alltoallv, 300, 1 << 20), "pairwise");
  EXPECT_EQ(chosen(collective::gatherv, 6, 2000), "linear");
  EXPECT_EQ(chosen(collective::scatter, 12, 1000), "binomial");
  EXPECT_EQ(chosen(collective::reduce_scatter, 16, 1 << 20), "ring");
}

// The end of a collective that all processes begin at 0, at one switch.
picoseconds end_of(collective which, const char* key, const char* algorithm, std::uint32_t size, std::uint64_t bytes) {
  simulation s = one_switch(size);
  add_program(s, first_nodes(size),
              [=](std::uint32_t, const completions&) -> stream { co_yield does::all_of(which, bytes); },
              {{key, algorithm}, {"eager", 1 << 20}});
  return played(s).ended;
}

TEST(collectives_on_a_switch, end_when_their_formulas_say) {
  EXPECT_EQ(end_of(collective::barrier, "barrier", "dissemination", 8, 0), 3 * latency(1));
  EXPECT_EQ(end_of(collective::barrier, "barrier", "dissemination", 9, 0), 4 * latency(1));
  EXPECT_EQ(end_of(collective::barrier, "barrier", "recursive-doubling", 8, 0), 3 * latency(1));
  EXPECT_EQ(end_of(collective::broadcast, "broadcast", "binomial", 4, 1000), 2 * latency(1000));
  EXPECT_EQ(end_of(collective::reduce, "reduce", "binomial", 8, 1000), 3 * latency(1000));
  EXPECT_EQ(end_of(collective::allreduce, "allreduce", "recursive-doubling", 16, 1000), 4 * latency(1000));
  EXPECT_EQ(end_of(collective::allreduce, "allreduce", "ring", 5, 5000), 8 * latency(1000));
  EXPECT_EQ(end_of(collective::allreduce, "allreduce", "rabenseifner", 4, 4000), 2 * latency(2000) + 2 * latency(1000));
  EXPECT_EQ(end_of(collective::allgather, "allgather", "bruck", 8, 500), latency(500) + latency(1000) + latency(2000));
  EXPECT_EQ(end_of(collective::allgather, "allgather", "neighbor-exchange", 6, 500), latency(500) + 2 * latency(1000));
  EXPECT_EQ(end_of(collective::alltoall, "alltoall", "pairwise", 7, 3000), 6 * latency(3000));
  EXPECT_EQ(end_of(collective::gather, "gather", "linear", 5, 3000), latency(3000) + 3 * 80 * 3000);
  EXPECT_EQ(end_of(collective::scatter, "scatter", "linear", 5, 3000), latency(3000) + 3 * 80 * 3000);
  EXPECT_EQ(end_of(collective::reduce_scatter, "reduce_scatter", "ring", 4, 4000), 3 * latency(1000));
  EXPECT_EQ(end_of(collective::scan, "scan", "linear", 5, 1000), 4 * latency(1000));
}

TEST(collectives_on_a_switch, end_by_every_algorithm_with_long_messages_too) {
  for (const auto& [family, by] : all_algorithms_of_collectives())
    for (const std::uint32_t size : {2U, 3U, 8U, 13U})
      for (const std::uint64_t bytes : {0ULL, 30'000ULL}) {
        simulation s = one_switch(size);
        add_program(s, first_nodes(size),
                    [&of = family->of, bytes, root = size - 1](std::uint32_t, const completions&) -> stream {
                      co_yield does::all_of(of.front(), bytes, root);
                      co_yield does::all_of(of.back(), bytes, 0);
                    },
                    {{family->name, by->name}});
        EXPECT_EQ(failure(s), "") << family->name << " " << by->name << " " << size << " " << bytes;
      }
}

TEST(a_collective, that_is_not_waited_for_goes_on_beside_the_program) {
  constexpr picoseconds computing = 100'000'000;
  simulation s = one_switch(8);
  add_program(s, first_nodes(8),
              [](std::uint32_t rank, const completions&) -> stream {
                operation sum = does::all_of(collective::allreduce, 1000);
                sum.request = 3;
                operation barrier = does::all_of(collective::barrier, 0);
                barrier.request = 4;
                co_yield sum;
                co_yield barrier;
                co_yield does::send((rank + 1) % 8, 100, 0, 5);
                co_yield does::receive(any, 100, any);
                co_yield does::compute(computing);
                co_yield does::wait(4);
                co_yield does::wait(3);
                co_yield does::wait(5);
              },
              {{"allreduce", "recursive-doubling"}});
  const job_result r = played(s);
  EXPECT_GT(r.ended, computing);
  EXPECT_LT(r.ended, computing + 2 * latency(1000));  // the time of the program's own message
  EXPECT_EQ(r.time->computing, 8 * computing);
}

TEST(collectives_of_groups, go_on_at_the_same_time) {
  simulation s = one_switch(6);
  const groups known{{4, 0, 2}, {5, 3, 1}, {2}, {1, 2, 3}};
  add_program(
      s, first_nodes(6),
      [](std::uint32_t rank, const completions&) -> stream {
        co_yield does::all_of(collective::broadcast, 1000, rank % 2 == 0 ? 4 : 5, 1 + rank % 2);
        if (rank == 2) co_yield does::all_of(collective::allreduce, 1000, 0, 3);
        if (rank >= 1 && rank <= 3) co_yield does::all_of(collective::alltoall, 10, 0, 4);
        co_yield does::all_of(collective::barrier, 0);
      },
      {{"broadcast", "linear"}, {"barrier", "dissemination"}}, known);
  EXPECT_EQ(failure(s), "");
  simulation wrong = one_switch(6);
  add_program(
      wrong, first_nodes(6),
      [](std::uint32_t, const completions&) -> stream { co_yield does::all_of(collective::barrier, 0, 0, 1); }, {},
      known);
  EXPECT_THAT(failure(wrong), testing::HasSubstr("takes part in a collective of group 1, to which it does not belong"));
}

}  // namespace
}  // namespace lull::netsim
