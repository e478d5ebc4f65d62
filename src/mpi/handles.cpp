#include "mpi/handles.hpp"

#include <mutex>
#include <unordered_map>
#include <vector>

namespace lull::mpi {
namespace {

// The tables of the process. They are never destroyed, because threads may call MPI while others end it.
struct tables {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, communicator> communicators;
  std::unordered_map<std::uintptr_t, window> windows;
  std::unordered_map<std::uintptr_t, envelope> messages;
  std::vector<std::uint16_t> given_back;
  std::uint16_t next_number = 0;
  MPI_Group world = predefined.group_null;

  // A number for a communicator or window; `unknown` if there are too many.
  std::uint16_t take_number(bool may_be_old) {
    if (may_be_old && !given_back.empty()) {
      const std::uint16_t number = given_back.back();
      given_back.pop_back();
      return number;
    }
    return next_number == communicator::unknown ? next_number : next_number++;
  }
  void give_back(std::uint16_t number) {
    if (number != communicator::unknown) given_back.push_back(number);
  }
};

tables& all() {
  static tables& made = *new tables;
  return made;
}

// As ranks of the world, -1 for processes outside it.
std::vector<int> in_the_world(MPI_Group group, MPI_Group world) {
  int size = 0;
  LULL_REAL(MPI_Group_size)(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), found(ranks.size());
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  LULL_REAL(MPI_Group_translate_ranks)(group, size, ranks.data(), world, found.data());
  for (int& rank : found)
    if (rank == MPI_UNDEFINED) rank = -1;
  return found;
}

std::vector<int> members_of_group(MPI_Comm comm, MPI_Group world, decltype(&::MPI_Comm_group) which) {
  MPI_Group group = predefined.group_null;
  which(comm, &group);
  std::vector<int> members = in_the_world(group, world);
  LULL_REAL(MPI_Group_free)(&group);
  return members;
}

// Queries the library for the members. The lock is held. A number is reused only if the definition precedes the first
// call that uses it.
communicator defined(tables& of, MPI_Comm comm, std::string_view name, bool is_new = true) {
  communicator made;
  if (of.world == predefined.group_null) return made;  // before MPI_Init, or in a session
  int inter = 0;
  LULL_REAL(MPI_Comm_test_inter)(comm, &inter);
  LULL_REAL(MPI_Comm_rank)(comm, &made.rank);
  const std::vector<int> members = members_of_group(comm, of.world, LULL_REAL(MPI_Comm_group));
  std::vector<int> remote;
  if (inter != 0) remote = members_of_group(comm, of.world, LULL_REAL(MPI_Comm_remote_group));
  made.inter = inter != 0;
  made.size = static_cast<int>(made.inter ? remote.size() : members.size());
  made.number = of.take_number(is_new);
  if (made.number != communicator::unknown)
    trace::recorder::of_process().define_communicator(made.number, members, name, remote);
  return made;
}

void forget_handles() noexcept { forgotten.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

void define_world() {
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  LULL_REAL(MPI_Comm_group)(predefined.comm_world, &of.world);
  of.communicators[bits_of(predefined.comm_world)] = defined(of, predefined.comm_world, "MPI_COMM_WORLD");
}

void find_shared_request() {
  MPI_Request two[2] = {predefined.request_null, predefined.request_null};
  for (MPI_Request& one : two)
    LULL_REAL(MPI_Isend)(nullptr, 0, predefined.byte, MPI_PROC_NULL, 0, predefined.comm_self, &one);
  if (two[0] == two[1]) shared_request = two[0];
  LULL_REAL(MPI_Waitall)(2, two, MPI_STATUSES_IGNORE);
}

communicator look_up_communicator(MPI_Comm comm) {
  if (comm == predefined.comm_null) return {};
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  const auto known = of.communicators.find(bits_of(comm));
  if (known != of.communicators.end()) return known->second;
  const communicator made = defined(of, comm, comm == predefined.comm_self ? "MPI_COMM_SELF" : "", false);
  if (made.number != communicator::unknown) of.communicators[bits_of(comm)] = made;
  return made;
}

void made_communicator(MPI_Comm comm) {
  if (comm == predefined.comm_null) return;
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  of.communicators[bits_of(comm)] = defined(of, comm, "");
}

void duplicates_communicator(MPI_Comm comm, MPI_Comm original) {
  if (comm == predefined.comm_null) return;
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  of.communicators[bits_of(comm)] = defined(of, original, "");
}

void name_communicator(MPI_Comm comm, std::string_view name) {
  const communicator known = look_up_communicator(comm);
  if (known.number != communicator::unknown) trace::recorder::of_process().name_communicator(known.number, name);
}

void forget_communicator(MPI_Comm comm) {
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  if (const auto ended = of.communicators.extract(bits_of(comm))) of.give_back(ended.mapped().number);
  forget_handles();
}

void made_window(MPI_Win win, MPI_Comm comm) {
  const communicator members = look_up_communicator(comm);
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  const window made{of.take_number(true), members.number};
  of.windows[bits_of(win)] = made;
  if (made.number != communicator::unknown) trace::recorder::of_process().define_window(made.number, made.comm, "");
}

window look_up_window(MPI_Win win) {
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  const auto known = of.windows.find(bits_of(win));
  return known != of.windows.end() ? known->second : window{};
}

void forget_window(MPI_Win win) {
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  if (const auto ended = of.windows.extract(bits_of(win))) of.give_back(ended.mapped().number);
  forget_handles();
}

std::uint64_t ask_size_of(MPI_Datatype type) noexcept {
  int size = 0;
  if (type != predefined.datatype_null) LULL_REAL(MPI_Type_size)(type, &size);
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

void matched_messages::remember(MPI_Message message, const envelope& what) {
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  of.messages[bits_of(message)] = what;
}

envelope matched_messages::take(bool wanted, const MPI_Message* message) {
  if (!wanted || message == nullptr) return {};
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  const auto known = of.messages.extract(bits_of(*message));
  return known ? known.mapped() : envelope{};
}

neighbours::neighbours(MPI_Comm comm) noexcept {
  int topology = MPI_UNDEFINED;
  LULL_REAL(MPI_Topo_test)(comm, &topology);
  if (topology == MPI_CART) {
    int dimensions = 0;
    LULL_REAL(MPI_Cartdim_get)(comm, &dimensions);
    sources = targets = 2 * dimensions;
  } else if (topology == MPI_GRAPH) {
    int rank = 0;
    LULL_REAL(MPI_Comm_rank)(comm, &rank);
    LULL_REAL(MPI_Graph_neighbors_count)(comm, rank, &sources);
    targets = sources;
  } else if (topology == MPI_DIST_GRAPH) {
    int weighted = 0;
    LULL_REAL(MPI_Dist_graph_neighbors_count)(comm, &sources, &targets, &weighted);
  }
}

}  // namespace lull::mpi
