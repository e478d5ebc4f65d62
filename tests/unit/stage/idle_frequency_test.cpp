// The frequency of a server's core, on a copy of Linux's files.
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <fstream>
#include <string>

#include "meter/tree.hpp"
#include "stage/writing/idle_frequency.hpp"

namespace lull::stage {
namespace {

class server_core : public testing::Test {
 protected:
  server_core() {
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_getaffinity(0, sizeof before_, &before_);
    is_alone_ = sched_setaffinity(0, sizeof first, &first) == 0;
    setenv("LULL_SYSROOT", tree_.root().c_str(), 1);
  }
  ~server_core() override {
    unsetenv("LULL_SYSROOT");
    unsetenv("LULL_STAGE_LOWER_FREQUENCY");
    sched_setaffinity(0, sizeof before_, &before_);
  }
  [[nodiscard]] std::string now() const {
    std::ifstream file(tree_.root() + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_setspeed");
    std::string line;
    std::getline(file, line);
    return line;
  }
  bool is_alone_;

 private:
  meter::fixture_tree tree_{"cpufreq_userspace"};
  cpu_set_t before_;
};

TEST_F(server_core, is_slower_while_there_is_nothing_to_write) {
  if (!is_alone_) GTEST_SKIP() << "this process may not run on core 0";
  const std::string full = now();
  {
    const idle_frequency core;
    const std::string idle = now();
    EXPECT_NE(idle, full);
    {
      const idle_frequency::at_full writing(core);
      EXPECT_EQ(now(), full);
    }
    EXPECT_EQ(now(), idle);
  }
  EXPECT_EQ(now(), full);
}

TEST_F(server_core, is_left_alone_where_that_is_asked_for) {
  setenv("LULL_STAGE_LOWER_FREQUENCY", "0", 1);
  const std::string full = now();
  const idle_frequency core;
  EXPECT_EQ(now(), full);
}

}  // namespace
}  // namespace lull::stage
