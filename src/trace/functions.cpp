#include "trace/functions.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace lull::trace {
namespace {

struct named_collective {
  std::string_view name;  // lower case, without prefix
  collective what;
};

// First those of MPI, then those of OpenSHMEM.
constexpr std::array operations{
    named_collective{"barrier", collective::barrier},
    named_collective{"bcast", collective::broadcast},
    named_collective{"gather", collective::gather},
    named_collective{"gatherv", collective::gatherv},
    named_collective{"scatter", collective::scatter},
    named_collective{"scatterv", collective::scatterv},
    named_collective{"allgather", collective::allgather},
    named_collective{"allgatherv", collective::allgatherv},
    named_collective{"alltoall", collective::alltoall},
    named_collective{"alltoallv", collective::alltoallv},
    named_collective{"alltoallw", collective::alltoallw},
    named_collective{"allreduce", collective::allreduce},
    named_collective{"reduce", collective::reduce},
    named_collective{"reduce_scatter", collective::reduce_scatter},
    named_collective{"reduce_scatter_block", collective::reduce_scatter_block},
    named_collective{"scan", collective::scan},
    named_collective{"exscan", collective::exscan},
    named_collective{"comm_dup", collective::create_handle},
    named_collective{"comm_idup", collective::create_handle},
    named_collective{"comm_dup_with_info", collective::create_handle},
    named_collective{"comm_idup_with_info", collective::create_handle},
    named_collective{"comm_create", collective::create_handle},
    named_collective{"comm_create_group", collective::create_handle},
    named_collective{"comm_create_from_group", collective::create_handle},
    named_collective{"comm_split", collective::create_handle},
    named_collective{"comm_split_type", collective::create_handle},
    named_collective{"comm_spawn", collective::create_handle},
    named_collective{"comm_spawn_multiple", collective::create_handle},
    named_collective{"comm_accept", collective::create_handle},
    named_collective{"comm_connect", collective::create_handle},
    named_collective{"cart_create", collective::create_handle},
    named_collective{"cart_sub", collective::create_handle},
    named_collective{"graph_create", collective::create_handle},
    named_collective{"dist_graph_create", collective::create_handle},
    named_collective{"dist_graph_create_adjacent", collective::create_handle},
    named_collective{"intercomm_create", collective::create_handle},
    named_collective{"intercomm_create_from_groups", collective::create_handle},
    named_collective{"intercomm_merge", collective::create_handle},
    named_collective{"comm_free", collective::destroy_handle},
    named_collective{"comm_disconnect", collective::destroy_handle},
    named_collective{"win_create", collective::create_handle},
    named_collective{"win_create_dynamic", collective::create_handle},
    named_collective{"win_allocate", collective::create_handle_and_allocate},
    named_collective{"win_allocate_shared", collective::create_handle_and_allocate},
    named_collective{"win_free", collective::destroy_handle},
    named_collective{"win_fence", collective::barrier},
    named_collective{"file_open", collective::create_handle},
    named_collective{"file_close", collective::destroy_handle},
    named_collective{"barrier_all", collective::barrier},
    named_collective{"sync", collective::barrier},
    named_collective{"sync_all", collective::barrier},
    named_collective{"team_sync", collective::barrier},
    named_collective{"broadcast", collective::broadcast},
    named_collective{"broadcastmem", collective::broadcast},
    named_collective{"collect", collective::allgatherv},
    named_collective{"collectmem", collective::allgatherv},
    named_collective{"fcollect", collective::allgather},
    named_collective{"fcollectmem", collective::allgather},
    named_collective{"alltoallmem", collective::alltoall},
};

constexpr std::array<std::string_view, collectives> collective_names{"barrier",
                                                                     "broadcast",
                                                                     "gather",
                                                                     "gatherv",
                                                                     "scatter",
                                                                     "scatterv",
                                                                     "allgather",
                                                                     "allgatherv",
                                                                     "alltoall",
                                                                     "alltoallv",
                                                                     "alltoallw",
                                                                     "allreduce",
                                                                     "reduce",
                                                                     "reduce_scatter",
                                                                     "scan",
                                                                     "exscan",
                                                                     "reduce_scatter_block",
                                                                     "create handle",
                                                                     "destroy handle",
                                                                     "allocate",
                                                                     "deallocate",
                                                                     "create handle and allocate",
                                                                     "destroy handle and deallocate"};

std::string lower(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return made;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::optional<collective> operation(std::string_view name) {
  const auto found = std::ranges::find(operations, name, &named_collective::name);
  return found != operations.end() ? std::optional(found->what) : std::nullopt;
}

role role_in_shmem(std::string_view name) {
  if (name.starts_with("init") || name.starts_with("finalize")) return role::setup;
  if (const auto what = collective_of_function(name)) return role_of(*what);
  for (std::string_view part : {"put", "get", "atomic", "_p", "_g", "quiet", "fence", "swap", "fadd", "finc"})
    if (contains(name, part)) return role::one_sided;
  return role::library;
}

role role_in_mpi(std::string_view name) {
  if (name.starts_with("init") || name == "finalize") return role::setup;
  if (name.starts_with("file_")) return role::files;
  if (name.starts_with("neighbor_") || name.starts_with("ineighbor_")) return role::other_collective;
  if (const auto what = collective_of_function(name)) return role_of(*what);
  if (name.starts_with("win_") || name.starts_with("put") || name.starts_with("get_accumulate") || name == "get" ||
      name.starts_with("rput") || name.starts_with("rget") || name.starts_with("raccumulate") ||
      name.starts_with("accumulate") || name.starts_with("fetch_and") || name.starts_with("compare_and"))
    return role::one_sided;
  for (std::string_view part : {"send", "recv", "wait", "test", "probe", "start", "pready", "parrived"})
    if (contains(name, part)) return role::point_to_point;
  return role::library;
}

}  // namespace

std::string bare_name(std::string_view function) {
  std::string made = lower(function);
  for (std::string_view prefix : {"pmpi_", "mpi_", "pshmem_", "shmemx_", "shmem_"})
    if (made.starts_with(prefix)) return made.substr(prefix.size());
  return made;
}

std::string_view name_of(collective c) {
  const auto at = static_cast<std::size_t>(c);
  return at < collective_names.size() ? collective_names[at] : "other";
}

role role_of(collective c) {
  switch (c) {
    case collective::barrier:
    case collective::allgather:
    case collective::allgatherv:
    case collective::alltoall:
    case collective::alltoallv:
    case collective::alltoallw:
    case collective::allreduce:
    case collective::reduce_scatter:
    case collective::reduce_scatter_block:
    case collective::create_handle:
    case collective::create_handle_and_allocate:
      return role::all_to_all;
    case collective::broadcast:
    case collective::scatter:
    case collective::scatterv:
      return role::one_to_all;
    case collective::gather:
    case collective::gatherv:
    case collective::reduce:
      return role::all_to_one;
    default:
      return role::other_collective;
  }
}

std::optional<collective> collective_of_function(std::string_view name) {
  std::string short_name = bare_name(name);
  if (short_name.starts_with("neighbor_")) short_name.erase(0, 9);
  if (short_name.starts_with("ineighbor_")) short_name.erase(0, 10);
  if (short_name.ends_with("_init")) short_name.erase(short_name.size() - 5);
  if (short_name.ends_with("_c")) short_name.erase(short_name.size() - 2);
  if (const auto found = operation(short_name)) return found;
  if (short_name.starts_with('i'))
    if (const auto found = operation(std::string_view(short_name).substr(1))) return found;
  for (std::string_view reduces : {"sum_reduce", "prod_reduce", "min_reduce", "max_reduce", "and_reduce", "or_reduce"})
    if (short_name.ends_with(reduces)) return collective::allreduce;
  return std::nullopt;
}

role role_of_function(std::string_view paradigm, std::string_view name) {
  if (paradigm == "mpi") return role_in_mpi(bare_name(name));
  if (paradigm == "shmem") return role_in_shmem(bare_name(name));
  return role::code;
}

bool is_polling(std::string_view paradigm, std::string_view name) {
  constexpr std::array<std::string_view, 9> asking{
      "test", "testall", "testany", "testsome", "iprobe", "improbe", "win_test", "request_get_status", "parrived"};
  return paradigm == "mpi" && std::ranges::count(asking, bare_name(name)) > 0;
}

std::uint32_t definitions::peer_of(std::uint32_t communicator, std::uint32_t mine, std::int32_t rank) const {
  if (communicator >= communicators.size() || rank < 0) return no_one;
  const auto& c = communicators[communicator];
  const auto& others = c.remote.empty() || std::ranges::find(c.remote, mine) != c.remote.end() ? c.members : c.remote;
  return static_cast<std::size_t>(rank) < others.size() ? others[static_cast<std::size_t>(rank)] : no_one;
}

}  // namespace lull::trace
