#include "wait/statistics.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace lull::wait {
namespace {

TEST(wait_statistics, sizes_are_classed_by_powers_of_two) {
  EXPECT_EQ(size_class_of(0), 0U);
  for (const std::size_t bytes : {1U, 2U}) EXPECT_EQ(largest_of_class(size_class_of(bytes)), 2U);
  for (const std::size_t bytes : {32769U, 65536U}) EXPECT_EQ(largest_of_class(size_class_of(bytes)), 65536U);
  EXPECT_EQ(size_class_of(std::size_t{1} << 60U), size_classes - 1);
}

TEST(wait_statistics, the_table_is_kept_only_when_asked_for) {
  wait_statistics totals_only(false);
  wait_counts one;
  one.waits = 1;
  totals_only.waited({operation::get, 8}, one);
  EXPECT_EQ(totals_only.totals().waits, 1U);
  EXPECT_EQ(totals_only.table().rows[1][3].waits, 0U);
}

TEST(wait_statistics, threads_count_together) {
  wait_statistics statistics(true);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        wait_counts one;
        one.waits = 1;
        one.ns_waited = 3;
        statistics.operation_done(operation::put, 100);
        statistics.waited({operation::put, 100}, one);
      }
    });
  for (auto& t : threads) t.join();
  const wait_counts row = statistics.table().rows[0][7];
  EXPECT_EQ(row.operations, 4000U);
  EXPECT_EQ(row.bytes, 400'000U);
  EXPECT_EQ(row.waits, 4000U);
  EXPECT_EQ(statistics.totals().ns_waited, 12'000);
}

}  // namespace
}  // namespace lull::wait
