// Start and end of the program's MPI for the attached tools: what they must do after MPI_Init, and before and after
// MPI_Finalize.
#pragma once
#include "mpi/front/front.hpp"
#include "mpi/thread.hpp"

namespace lull::mpi {

// The set of attached tools.
[[nodiscard]] unsigned tools_of_this_process();
void start_tools(unsigned tools);   // after MPI_Init
void finish_tools(unsigned tools);  // before MPI_Finalize, or MPI_Abort
void close_tools(unsigned tools);   // after MPI_Finalize

template <class Call>
void before_finalize(const Call&) {
  finish_tools(Call::tools_in_use);
}
template <class Call>
void after_init(const Call&) {
  start_tools(Call::tools_in_use);
}
template <class Call>
void after_finalize(const Call&) {
  close_tools(Call::tools_in_use);
}
// For a call that does not return: its record is written before it.
template <class Call>
void before_abort(Call& call) {
  if constexpr (requires { call.plain(); }) call.plain();
  finish_tools(Call::tools_in_use);
  close_tools(Call::tools_in_use);
}

}  // namespace lull::mpi
