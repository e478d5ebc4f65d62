// The operations of a GOAL file as dependency graphs, one for each rank, in 32 bytes for each operation and four for
// each dependency.
//
// GOAL (Group Operation Assembly Language; T. Hoefler, C. Siebert, A. Lumsdaine: "Group Operation Assembly Language, a
// Flexible Way to Express Collective Communication", ICPP 2009) is the input of LogGOPSim and of ATLAHS. An operation
// may begin when all that it requires have ended, and all that it irequires have begun.
//
//   goal_rank_builder rank;
//   const auto first = rank.add({.size = 100, .what = goal_operation::kind::calc});
//   rank.depend(rank.add({...}), first, goal_edge::when::ended);
//   goal_rank done = rank.finish();
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "netsim/program/operation.hpp"

namespace lull::netsim {

struct goal_operation {
  enum class kind : std::uint8_t { calc, send, receive };
  std::uint64_t size = 0;   // bytes; of a calc, nanoseconds
  std::uint32_t peer = 0;   // of a receive perhaps `any`
  std::uint32_t tag = 0;    // of a receive perhaps `any`
  std::uint32_t line = 0;   // of a text; 0 in a binary file
  std::uint32_t first = 0;  // index of its first edge
  std::uint32_t needs = 0;  // number of dependencies
  kind what = kind::calc;
  std::uint8_t cpu = 0;
};
static_assert(sizeof(goal_operation) == 32);
using goal_kind = goal_operation::kind;

// From an operation to one that depends on it.
class goal_edge {
 public:
  enum class when : std::uint8_t { ended, begun };
  static constexpr std::uint32_t most_operations = (1U << 31) - 2;

  goal_edge() = default;
  goal_edge(std::uint32_t to, when after) : bits_(to << 1U | (after == when::begun ? 1U : 0U)) {}
  [[nodiscard]] std::uint32_t to() const { return bits_ >> 1U; }
  [[nodiscard]] when after() const { return (bits_ & 1U) != 0 ? when::begun : when::ended; }

 private:
  std::uint32_t bits_ = 0;
};

struct goal_rank {
  std::vector<goal_operation> operations;
  std::vector<goal_edge> edges;  // ordered by the operations from which they come
  [[nodiscard]] std::span<const goal_edge> edges_of(std::uint32_t number) const;
};

struct goal_graph {
  std::string path;
  std::vector<goal_rank> ranks;
  bool several_nics = false;  // whether an operation names a nic other than 0
  // "x.goal:12", or "x.bin, operation 7 of rank 2".
  [[nodiscard]] std::string place_of(std::uint32_t rank, std::uint32_t number) const;
};

class goal_rank_builder {
 public:
  // Returns its number in the rank; the first is 0.
  std::uint32_t add(const goal_operation& o);
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(made_.operations.size()); }
  // `later` begins after `earlier` has ended or begun.
  void depend(std::uint32_t later, std::uint32_t earlier, goal_edge::when after);
  // The rank; the builder is empty then.
  [[nodiscard]] goal_rank finish();

 private:
  goal_rank made_;
  std::vector<std::pair<std::uint32_t, goal_edge>> from_;
};

// Throws lull::error, which names the operations of a cycle, if operations of the rank depend on each other in a cycle.
void check_cycles(const goal_graph& all, std::uint32_t rank);

}  // namespace lull::netsim
