#include "mpi/waiting/call_sites.hpp"

#include <gtest/gtest.h>

namespace lull::mpi {
namespace {

wait::wait_counts waited_ns(std::int64_t ns) { return {.waits = 1, .ns_waited = ns}; }

TEST(call_sites, keep_functions_and_places_apart) {
  call_sites sites;
  static const char* const recv = "MPI_Recv";
  static const char* const wait = "MPI_Wait";
  sites.called(recv, reinterpret_cast<void*>(0x10));
  sites.called(recv, reinterpret_cast<void*>(0x10));
  sites.waited(recv, reinterpret_cast<void*>(0x10), waited_ns(5));
  sites.waited(wait, reinterpret_cast<void*>(0x10), waited_ns(7));
  const std::vector<site_row> rows = sites.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].function, "MPI_Wait") << "it waited longest";
  EXPECT_EQ(rows[1].counts.operations, 2U);
  EXPECT_EQ(rows[1].counts.ns_waited, 5);
}

TEST(call_sites, a_place_has_the_name_of_the_function_or_the_file_it_is_in) {
  EXPECT_EQ(name_of_site(nullptr), "unknown");
  EXPECT_NE(name_of_site(reinterpret_cast<const void*>(&name_of_site)).find("+0x"), std::string::npos);
}

TEST(call_sites, rows_pass_through_memory) {
  std::vector<std::byte> memory(4096);
  write_rows(std::vector<site_row>{{"MPI_Recv", "main+0x10", waited_ns(5)}, {"MPI_Wait", "main+0x20", waited_ns(3)}},
             memory);
  const std::vector<site_row> rows = read_rows(memory);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].site, "main+0x20");
  EXPECT_EQ(rows[1].counts.ns_waited, 3);
}

TEST(call_sites, what_does_not_fit_is_in_a_last_row) {
  std::vector<site_row> many;
  for (int i = 0; i < 100; ++i) many.push_back({"MPI_Recv", "main+" + std::to_string(i), waited_ns(1)});
  std::vector<std::byte> memory(4096);
  write_rows(many, memory);
  const std::vector<site_row> rows = read_rows(memory);
  ASSERT_LT(rows.size(), many.size());
  EXPECT_EQ(rows.back().function, "elsewhere");
  std::int64_t all = 0;
  for (const site_row& row : rows) all += row.counts.ns_waited;
  EXPECT_EQ(all, 100);
}

TEST(call_sites, the_same_place_of_several_ranks_is_one) {
  const std::vector<site_row> rows = merged({{"MPI_Recv", "main+0x10", waited_ns(5)},
                                             {"MPI_Recv", "main+0x20", waited_ns(20)},
                                             {"MPI_Recv", "main+0x10", waited_ns(6)}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].site, "main+0x20");
  EXPECT_EQ(rows[1].counts.ns_waited, 11);
  EXPECT_EQ(rows[1].counts.waits, 2U);
}

}  // namespace
}  // namespace lull::mpi
