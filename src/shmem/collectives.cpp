// Broadcast, collect, all-to-all, reductions and prefix sums over teams.
#include "fabric/teams/collectives.hpp"

#include <algorithm>
#include <complex>

#include "shmem/current.hpp"
#include "shmem/reductions.hpp"

using lull::shmem::team_for;

namespace {

void examine(const lull::fabric::team& team, const char* call, const void* dest, std::size_t dest_bytes,
             const void* source, std::size_t source_bytes) {
  lull::shmem::here(call, lull::wait::operation::collective, source_bytes);
  if (!team.ground().checks) [[likely]]
    return;
  lull::shmem::examine_range(team.ground().memory, call, "dest", dest, dest_bytes);
  lull::shmem::examine_range(team.ground().memory, call, "source", source, source_bytes);
  lull::shmem::examine_overlap(call, dest, dest_bytes, source, source_bytes);
}

// For calls in which each member has equally many bytes in dest and source.
lull::fabric::team& collective(const char* call, shmem_team_t handle, const void* dest, const void* source,
                               std::size_t bytes) {
  auto& team = team_for(call, handle);
  examine(team, call, dest, bytes, source, bytes);
  return team;
}

int broadcast(const char* call, shmem_team_t handle, void* dest, const void* source, std::size_t bytes, int root) {
  auto& team = collective(call, handle, dest, source, bytes);
  if (root < 0 || root >= team.size())
    lull::shmem::mistake(call,
                         "there is no PE " + std::to_string(root) + " in the team of " + std::to_string(team.size()));
  lull::fabric::broadcast(team, dest, source, bytes, root);
  return 0;
}

int gather_all(const char* call, shmem_team_t handle, void* dest, const void* source, std::size_t bytes) {
  auto& team = team_for(call, handle);
  examine(team, call, dest, bytes * static_cast<std::size_t>(team.size()), source, bytes);
  lull::fabric::gather_all(team, dest, source, bytes);
  return 0;
}

int all_to_all(const char* call, shmem_team_t handle, void* dest, const void* source, std::ptrdiff_t dst,
               std::ptrdiff_t sst, std::size_t element, std::size_t n) {
  auto& team = team_for(call, handle);
  const std::size_t all = element * n * static_cast<std::size_t>(team.size());
  const auto reach = [&](std::ptrdiff_t stride) {  // from the first element to the end of the last
    return all == 0 ? 0 : (all - element) * static_cast<std::size_t>(stride) + element;
  };
  examine(team, call, dest, reach(dst), source, reach(sst));
  lull::fabric::all_to_all(team, dest, source,
                           {.element_bytes = element, .elements = n, .target_stride = dst, .source_stride = sst});
  return 0;
}

constexpr bool is_inscan = true, is_exscan = false;  // whether the sum of a PE includes its own source

}  // namespace

// clang-format off
#define LULL_COLLECTIVES(BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS, ELEMENT, BYTES)                            \
  int shmem_##BROADCAST(shmem_team_t team, ELEMENT* dest, const ELEMENT* source, size_t n, int root) {                 \
    return broadcast("shmem_" #BROADCAST, team, dest, source, n * (BYTES), root);                                      \
  }                                                                                                                    \
  int shmem_##COLLECT(shmem_team_t team, ELEMENT* dest, const ELEMENT* source, size_t n) {                             \
    auto& t = collective("shmem_" #COLLECT, team, dest, source, n * (BYTES));                                          \
    return lull::fabric::gather_varying(t, dest, source, n * (BYTES)), 0;                                              \
  }                                                                                                                    \
  int shmem_##FCOLLECT(shmem_team_t team, ELEMENT* dest, const ELEMENT* source, size_t n) {                            \
    return gather_all("shmem_" #FCOLLECT, team, dest, source, n * (BYTES));                                            \
  }                                                                                                                    \
  int shmem_##ALLTOALL(shmem_team_t team, ELEMENT* dest, const ELEMENT* source, size_t n) {                            \
    return all_to_all("shmem_" #ALLTOALL, team, dest, source, 1, 1, BYTES, n);                                         \
  }                                                                                                                    \
  int shmem_##ALLTOALLS(shmem_team_t team, ELEMENT* dest, const ELEMENT* source, ptrdiff_t dst, ptrdiff_t sst,         \
                        size_t n) {                                                                                    \
    return all_to_all("shmem_" #ALLTOALLS, team, dest, source, dst, sst, BYTES, n);                                    \
  }
#define LULL_COLLECTIVES_OF_TYPE(NAME, TYPE, A)                                                                \
  LULL_COLLECTIVES(NAME##_broadcast, NAME##_collect, NAME##_fcollect, NAME##_alltoall, NAME##_alltoalls, TYPE, \
                   sizeof(TYPE))
LULL_RMA_TYPES(LULL_COLLECTIVES_OF_TYPE, )
LULL_COLLECTIVES(broadcastmem, collectmem, fcollectmem, alltoallmem, alltoallsmem, void, 1)

#define LULL_REDUCE(NAME, TYPE, OP)                                                                                  \
  int shmem_##NAME##_##OP##_reduce(shmem_team_t team, TYPE* dest, const TYPE* source, size_t n) {                    \
    auto& t = collective("shmem_" #NAME "_" #OP "_reduce", team, dest, source, n * sizeof(TYPE));                    \
    using op = lull::shmem::op_##OP;                                                                                 \
    return lull::fabric::reduce(t, dest, source, n, sizeof(TYPE), lull::shmem::combine<TYPE, op>, op::kind), 0;      \
  }
LULL_BITWISE_REDUCE_TYPES(LULL_REDUCE, and)
LULL_BITWISE_REDUCE_TYPES(LULL_REDUCE, or)
LULL_BITWISE_REDUCE_TYPES(LULL_REDUCE, xor)
LULL_COMPARE_REDUCE_TYPES(LULL_REDUCE, max)
LULL_COMPARE_REDUCE_TYPES(LULL_REDUCE, min)
LULL_ARITHMETIC_REDUCE_TYPES(LULL_REDUCE, sum)
LULL_ARITHMETIC_REDUCE_TYPES(LULL_REDUCE, prod)

#define LULL_SCAN(NAME, TYPE, SCAN)                                                                                  \
  int shmem_##NAME##_sum_##SCAN(shmem_team_t team, TYPE* dest, const TYPE* source, size_t n) {                       \
    auto& t = collective("shmem_" #NAME "_sum_" #SCAN, team, dest, source, n * sizeof(TYPE));                        \
    using op = lull::shmem::op_sum;                                                                                  \
    lull::fabric::scan(t, dest, source, n, {sizeof(TYPE), lull::shmem::combine<TYPE, op>, op::kind, is_##SCAN});     \
    return 0;                                                                                                        \
  }
LULL_ARITHMETIC_REDUCE_TYPES(LULL_SCAN, inscan)
LULL_ARITHMETIC_REDUCE_TYPES(LULL_SCAN, exscan)
// clang-format on
