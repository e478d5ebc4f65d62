// Collective operations as streams of sends and receives: what one process of a group does. Each family is one file in
// collectives/, which declares its algorithms and the rules by which `auto` chooses one.
//
// A schedule is a stream whose ranks are those in the group. It sends, receives and waits for all that it has begun;
// each message between the same two processes has a different tag. Computation within a collective, such as sums, takes
// no time.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "netsim/keys/key.hpp"
#include "netsim/program/stream.hpp"

namespace lull::netsim {

struct collective_call {
  std::uint32_t rank;   // in the group
  std::uint32_t size;   // of the group
  std::uint32_t root;   // in the group; of collectives that have one
  std::uint64_t bytes;  // as in struct operation
};

struct collective_algorithm {
  const char* name;
  stream (*schedule)(collective_call);
};

// The first rule of a family that matches applies.
struct collective_rule {
  std::uint32_t below_processes;
  std::uint64_t below_bytes;
  const char* algorithm;
};
inline constexpr std::uint32_t any_size = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t any_bytes = std::numeric_limits<std::uint64_t>::max();

struct collective_family {
  const char* name;     // of its key
  const char* meaning;  // of the algorithms
  std::vector<collective> of;
  std::vector<collective_algorithm> algorithms;
  std::vector<collective_rule> rules;
};

[[nodiscard]] std::span<const collective_family> all_collective_families();
// Index of the family of a collective.
[[nodiscard]] std::size_t family_of(collective which);

// Whether one process of the group is its root.
[[nodiscard]] bool has_root(collective which);

// Null for `auto`. The word must be one that the family's key allows.
[[nodiscard]] const collective_algorithm* find_algorithm(const collective_family& family, const std::string& word);
// The algorithm that the rules choose.
[[nodiscard]] const collective_algorithm& chosen_algorithm(const collective_family& family, std::uint32_t size,
                                                           std::uint64_t bytes);

// The schedule of the algorithm that the rules choose.
[[nodiscard]] stream schedule_by_rules(collective which, collective_call c);

// One key of a job for each family.
[[nodiscard]] std::vector<key> collective_keys();

}  // namespace lull::netsim
