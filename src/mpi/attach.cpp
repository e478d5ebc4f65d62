// The flavour's counterpart of the front: which tools apply to this process, which wrapper precedes each function, and
// what the tools do when the program's MPI begins and ends.
#include <fmt/core.h>
#include <exception>
#include <string>

#include <dlfcn.h>

#include "base/error.hpp"
#include "mpi/front/front.hpp"
#include "mpi/handles.hpp"
#include "mpi/reals.hpp"
#include "mpi/roles/roles.hpp"
#include "mpi/setup.hpp"
#include "mpi/test_loops.hpp"
#include "mpi/wrapping.hpp"
#include "trace/recording/recorder.hpp"

namespace lull::mpi {
namespace {

const front_offers* front = nullptr;
unsigned tools_of_process = 0;

// Functions that tools call; the real functions behind wrappers are set at their first call.
constexpr function asked_by_tools[] = {
    function::MPI_Cartdim_get,
    function::MPI_Comm_get_parent,
    function::MPI_Comm_group,
    function::MPI_Comm_rank,
    function::MPI_Comm_remote_group,
    function::MPI_Comm_size,
    function::MPI_Comm_test_inter,
    function::MPI_Dist_graph_neighbors_count,
    function::MPI_Get_count_c,
    function::MPI_Graph_neighbors_count,
    function::MPI_Group_free,
    function::MPI_Group_size,
    function::MPI_Group_translate_ranks,
    function::MPI_Test_cancelled,
    function::MPI_Topo_test,
    function::MPI_Type_size,
    function::MPI_Isend,
    function::MPI_Waitall,
    // by loops of tests:
    function::MPI_Improbe,
    function::MPI_Iprobe,
    function::MPI_Irecv,
    function::MPI_Issend,
    function::MPI_Test,
    function::MPI_Testall,
    function::MPI_Testany,
    function::MPI_Testsome,
};

#ifdef OPEN_MPI
// A handle of Open MPI is the address of a variable of the library, or of the program's copy of it, which takes
// precedence.
template <class Handle>
void take_handle(Handle& handle, const char* variable) {
  void* address = dlsym(RTLD_DEFAULT, variable);
  if (address == nullptr) address = dlsym(front->library, variable);
  if (address == nullptr) throw error("find MPI's handles", fmt::format("this MPI library has no {}", variable));
  handle = static_cast<Handle>(address);
}

void take_handles() {
  take_handle(predefined.comm_world, "ompi_mpi_comm_world");
  take_handle(predefined.comm_self, "ompi_mpi_comm_self");
  take_handle(predefined.comm_null, "ompi_mpi_comm_null");
  take_handle(predefined.request_null, "ompi_request_null");
  take_handle(predefined.datatype_null, "ompi_mpi_datatype_null");
  take_handle(predefined.byte, "ompi_mpi_byte");
  take_handle(predefined.group_null, "ompi_mpi_group_null");
  take_handle(predefined.info_null, "ompi_mpi_info_null");
}
#else
void take_handles() {}
#endif

bool ranks_may_be_set_aside = false;
bool waits_are_test_loops = false;

any_function real_of(unsigned number, any_function real) {
  const any_function own = ranks_may_be_set_aside ? under_roles(number, real) : real;
  return waits_are_test_loops ? as_test_loop(number, own) : own;
}

any_function wrapper_of(unsigned number, any_function real) {
  reals[number] = real_of(number, real);
  const wrapper_row& row = wrappers[number];
  const unsigned tools = row.only_rings && !senders_ring() ? tools_of_process & ~waits : tools_of_process;
  const any_function wrapper = row.of_tools[tools];
  return wrapper != nullptr ? wrapper : reals[number];
}

// The library's own functions, since its waiting knows nothing of ranks that are set aside.
template <class Signature>
Signature* own(const char* name) {
  return reinterpret_cast<Signature*>(dlsym(front->library, name));
}

library_of_waiting library_of_waiting_now() {
  library_of_waiting library{.handle = front->library, .version = front->library_version};
  int level = 0;
  own<decltype(MPI_Comm_rank)>("PMPI_Comm_rank")(predefined.comm_world, &library.rank);
  own<decltype(MPI_Comm_size)>("PMPI_Comm_size")(predefined.comm_world, &library.ranks);
  own<decltype(MPI_Query_thread)>("PMPI_Query_thread")(&level);
  library.several_threads = level == MPI_THREAD_MULTIPLE;
  MPI_Comm parent = predefined.comm_null;
  own<decltype(MPI_Comm_get_parent)>("PMPI_Comm_get_parent")(&parent);
  library.spawned = parent != predefined.comm_null;
  return library;
}

}  // namespace

unsigned tools_of_this_process() { return tools_of_process; }

void start_tools(unsigned tools) {
  if ((tools & records) != 0) {
    int rank = 0, size = 0;
    LULL_REAL(MPI_Comm_rank)(predefined.comm_world, &rank);
    LULL_REAL(MPI_Comm_size)(predefined.comm_world, &size);
    trace::recorder& recorder = trace::recorder::of_process();
    recorder.define_process(rank, size, "mpi", front->library_version);
    most_between_vain_calls = static_cast<std::uint64_t>(most_between_vain_calls_ns * recorder.ticks_per_ns());
    define_world();
    MPI_Comm parent = predefined.comm_null;
    LULL_REAL(MPI_Comm_get_parent)(&parent);
    made_communicator(parent);  // as its spawner does at the same time, so that both are recognised as one
    find_shared_request();
  }
  if ((tools & waits) != 0) start_waiting(library_of_waiting_now());
}

void finish_tools(unsigned tools) {
  if ((tools & records) != 0) trace::recorder::of_process().take_clocks();
  if ((tools & waits) != 0) end_waiting();
}

void close_tools(unsigned tools) {
  if ((tools & records) != 0) trace::recorder::of_process().close();
}

}  // namespace lull::mpi

const lull::mpi::flavour_offers* lull_mpi_attach(const lull::mpi::front_offers* front) noexcept {
  using namespace lull::mpi;
  static constexpr flavour_offers offers{wrapper_of};
  try {
    if (front->function_count != function_count)
      throw lull::error("attach to the program's MPI", "its two parts are of different builds", "install Lull again");
    lull::mpi::front = front;
    take_handles();
    ranks_may_be_set_aside = roles_wanted();
    if (ranks_may_be_set_aside) prepare_roles(front->library);
    waits_are_test_loops = waiting_wanted() && test_loops_wanted();
    for (const function asked : asked_by_tools) {
      const auto number = static_cast<unsigned>(asked);
      const std::string name = fmt::format("P{}", function_names[number]);
      reals[number] = real_of(number, reinterpret_cast<any_function>(dlsym(front->library, name.c_str())));
    }
    if (lull::trace::recorder::wanted()) {
      static const std::vector<std::string_view> names(std::begin(function_names), std::end(function_names));
      lull::trace::recorder::of_process().define_regions("mpi", 0, names);
      tools_of_process |= records;
    }
    if (waiting_wanted()) {
      tools_of_process |= waits;
      prepare_waiting({.handle = front->library, .version = front->library_version});
    }
  } catch (const std::exception& problem) {
    fmt::print(stderr, "lull: {}\n", problem.what());
    return nullptr;
  }
  return tools_of_process != 0 || ranks_may_be_set_aside ? &offers : nullptr;
}
