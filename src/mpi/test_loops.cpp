#include "mpi/test_loops.hpp"

#include <algorithm>
#include <iterator>

#include "base/settings.hpp"
#include "mpi/functions.hpp"
#include "mpi/handles.hpp"
#include "mpi/reals.hpp"
#include "mpi/waiting.hpp"

namespace lull::mpi {
namespace {

template <function f>
any_function real_wait = nullptr;

// Repeats a test until it finds something or fails.
template <class Test>
int repeat(Test&& test) {
  for (;;) {
    int found = 0;
    const std::uint32_t turns = turns_so_far();
    const int result = test(&found);
    if (result != MPI_SUCCESS || found != 0) return result;
    query_is_over(turns);
  }
}

template <function f, class Test, class... Arguments>
int by_tests(Test&& test, Arguments... arguments) {
  if (!waits_by_policy()) return reinterpret_cast<int (*)(Arguments...)>(real_wait<f>)(arguments...);
  return repeat(test);
}

// By a function that begins what `f` does, and returns a request.
template <function f, class Begin, class... Arguments>
int by_request(Begin&& begin, MPI_Status* status, Arguments... arguments) {
  if (!waits_by_policy()) return reinterpret_cast<int (*)(Arguments...)>(real_wait<f>)(arguments...);
  MPI_Request request = predefined.request_null;
  const int begun = begin(&request);
  if (begun != MPI_SUCCESS) return begun;
  return repeat([&](int* found) { return LULL_REAL(MPI_Test)(&request, found, status); });
}

int recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return by_request<function::MPI_Recv>(
      [&](MPI_Request* made) { return LULL_REAL(MPI_Irecv)(buf, count, datatype, source, tag, comm, made); }, status,
      buf, count, datatype, source, tag, comm, status);
}

int send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return by_request<function::MPI_Send>(
      [&](MPI_Request* made) { return LULL_REAL(MPI_Isend)(buf, count, datatype, dest, tag, comm, made); },
      MPI_STATUS_IGNORE, buf, count, datatype, dest, tag, comm);
}

int ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return by_request<function::MPI_Ssend>(
      [&](MPI_Request* made) { return LULL_REAL(MPI_Issend)(buf, count, datatype, dest, tag, comm, made); },
      MPI_STATUS_IGNORE, buf, count, datatype, dest, tag, comm);
}

int probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return by_tests<function::MPI_Probe>(
      [&](int* found) { return LULL_REAL(MPI_Iprobe)(source, tag, comm, found, status); }, source, tag, comm, status);
}

int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return by_tests<function::MPI_Mprobe>(
      [&](int* found) { return LULL_REAL(MPI_Improbe)(source, tag, comm, found, message, status); }, source, tag, comm,
      message, status);
}

int wait(MPI_Request* request, MPI_Status* status) {
  return by_tests<function::MPI_Wait>([&](int* found) { return LULL_REAL(MPI_Test)(request, found, status); }, request,
                                      status);
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return by_tests<function::MPI_Waitall>(
      [&](int* found) { return LULL_REAL(MPI_Testall)(count, requests, found, statuses); }, count, requests, statuses);
}

int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return by_tests<function::MPI_Waitany>(
      [&](int* found) { return LULL_REAL(MPI_Testany)(count, requests, index, found, status); }, count, requests, index,
      status);
}

int waitsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  const auto some = [&](int* found) {
    const int result = LULL_REAL(MPI_Testsome)(count, requests, completed, indices, statuses);
    *found = static_cast<int>(*completed != 0);  // also MPI_UNDEFINED: no request is active
    return result;
  };
  return by_tests<function::MPI_Waitsome>(some, count, requests, completed, indices, statuses);
}

template <class Function>
any_function address(Function* of) {
  return reinterpret_cast<any_function>(of);
}

struct test_loop {
  function of;
  any_function loop;
  any_function* real;
};
const test_loop loops[] = {
    {function::MPI_Recv, address(recv), &real_wait<function::MPI_Recv>},
    {function::MPI_Send, address(send), &real_wait<function::MPI_Send>},
    {function::MPI_Ssend, address(ssend), &real_wait<function::MPI_Ssend>},
    {function::MPI_Probe, address(probe), &real_wait<function::MPI_Probe>},
    {function::MPI_Mprobe, address(mprobe), &real_wait<function::MPI_Mprobe>},
    {function::MPI_Wait, address(wait), &real_wait<function::MPI_Wait>},
    {function::MPI_Waitall, address(waitall), &real_wait<function::MPI_Waitall>},
    {function::MPI_Waitany, address(waitany), &real_wait<function::MPI_Waitany>},
    {function::MPI_Waitsome, address(waitsome), &real_wait<function::MPI_Waitsome>},
};

}  // namespace

bool test_loops_wanted() { return setting_text("LULL_MPI_LOOPS") == "all"; }

any_function as_test_loop(unsigned number, any_function real) noexcept {
  const auto* const found =
      std::ranges::find_if(loops, [&](const test_loop& one) { return static_cast<unsigned>(one.of) == number; });
  if (found == std::end(loops)) return real;
  *found->real = real;
  return found->loop;
}

}  // namespace lull::mpi
