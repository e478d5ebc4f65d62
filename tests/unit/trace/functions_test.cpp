#include "trace/functions.hpp"

#include <gtest/gtest.h>

namespace lull::trace {
namespace {

TEST(functions, do_what_their_names_say) {
  EXPECT_EQ(role_of_function("mpi", "MPI_Send"), role::point_to_point);
  EXPECT_EQ(role_of_function("mpi", "MPI_Waitall"), role::point_to_point);
  EXPECT_EQ(role_of_function("mpi", "MPI_Allreduce"), role::all_to_all);
  EXPECT_EQ(role_of_function("mpi", "MPI_Bcast"), role::one_to_all);
  EXPECT_EQ(role_of_function("mpi", "MPI_Reduce"), role::all_to_one);
  EXPECT_EQ(role_of_function("mpi", "MPI_Neighbor_alltoall"), role::other_collective);
  EXPECT_EQ(role_of_function("mpi", "MPI_Put"), role::one_sided);
  EXPECT_EQ(role_of_function("mpi", "MPI_File_write_all"), role::files);
  EXPECT_EQ(role_of_function("mpi", "MPI_Comm_rank"), role::library);
  EXPECT_EQ(role_of_function("mpi", "MPI_Init_thread"), role::setup);
  EXPECT_EQ(role_of_function("shmem", "shmem_putmem"), role::one_sided);
  EXPECT_EQ(role_of_function("shmem", "shmem_barrier_all"), role::all_to_all);
  EXPECT_EQ(role_of_function("user", "MPI_Send"), role::code);
}

TEST(functions, have_a_bare_name) {
  EXPECT_EQ(bare_name("MPI_Send"), "send");
  EXPECT_EQ(bare_name("PMPI_SEND"), "send");
  EXPECT_EQ(bare_name("shmem_quiet"), "quiet");
  EXPECT_EQ(bare_name("solve"), "solve");
}

TEST(functions, non_blocking_persistent_and_large_collectives_are_as_the_plain_one) {
  for (const char* name : {"MPI_Allreduce", "MPI_Iallreduce", "MPI_Allreduce_init", "MPI_Allreduce_c"})
    EXPECT_EQ(collective_of_function(name), collective::allreduce) << name;
  EXPECT_EQ(collective_of_function("MPI_Ineighbor_alltoallw"), collective::alltoallw);
  EXPECT_EQ(collective_of_function("MPI_Comm_idup"), collective::create_handle);
  EXPECT_EQ(collective_of_function("shmem_int_sum_reduce"), collective::allreduce);
  EXPECT_EQ(collective_of_function("MPI_Send"), std::nullopt);
}

}  // namespace
}  // namespace lull::trace
