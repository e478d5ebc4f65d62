#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/operations/accumulate.hpp"
#include "fabric/operations/amo.hpp"
#include "job/shared_lock.hpp"

namespace lull::fabric {
namespace {

TEST(amo, every_operation_returns_the_old_value_and_leaves_the_new_one) {
  std::uint64_t word = 12;
  const auto run = [&](amo_op op, std::uint64_t operand, std::uint64_t compare = 0) {
    return apply_amo({op, 8, 0, operand, compare}, &word);
  };
  EXPECT_EQ(run(amo_op::add, 3), 12U);
  EXPECT_EQ(run(amo_op::bit_and, 9), 15U);
  EXPECT_EQ(run(amo_op::bit_or, 2), 9U);
  EXPECT_EQ(run(amo_op::bit_xor, 1), 11U);
  EXPECT_EQ(run(amo_op::compare_swap, 99, 5), 10U);
  EXPECT_EQ(run(amo_op::compare_swap, 99, 10), 10U);
  EXPECT_EQ(run(amo_op::fetch, 0), 99U);
  EXPECT_EQ(run(amo_op::set, 1), 99U);
  EXPECT_EQ(word, 1U);
}

TEST(amo, a_narrow_word_wraps_and_its_neighbour_is_untouched) {
  std::uint32_t words[2] = {0xffffffff, 7};
  EXPECT_EQ(apply_amo({amo_op::add, 4, 0, 1, 0}, &words[0]), 0xffffffffU);
  EXPECT_EQ(words[0], 0U);
  EXPECT_EQ(words[1], 7U);
}

TEST(shared_lock, goes_to_the_next_where_its_holder_has_died) {
  void* const memory =
      mmap(nullptr, sizeof(job::shared_lock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& lock = *static_cast<job::shared_lock*>(memory);
  lock.open();
  const pid_t holder = fork();
  if (holder == 0) {
    lock.lock();
    _exit(0);
  }
  waitpid(holder, nullptr, 0);
  for (int turn = 0; turn < 2; ++turn) {
    lock.lock();
    lock.unlock();
  }
  munmap(memory, sizeof(job::shared_lock));
}

}  // namespace
}  // namespace lull::fabric
