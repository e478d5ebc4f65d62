#include "mpi/waiting/node_of_job.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "base/descriptor.hpp"

namespace lull::mpi {
namespace {

// Memory that MPICH shares among the ranks of a job.
class memory_of_a_job {
 public:
  memory_of_a_job() {
    static int number = 0;
    const std::string name = "/mpich_lull_test_" + std::to_string(getpid()) + "_" + std::to_string(number++);
    const descriptor file(shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
    shm_unlink(name.c_str());
    if (ftruncate(file.get(), bytes) == 0) at_ = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  }
  memory_of_a_job(const memory_of_a_job&) = delete;
  memory_of_a_job& operator=(const memory_of_a_job&) = delete;
  ~memory_of_a_job() { munmap(at_, bytes); }

 private:
  static constexpr int bytes = 4096;
  void* at_ = nullptr;
};

class node_of_spawned_job : public testing::Test {
 protected:
  void SetUp() override { setenv("PMI_SPAWNED", "1", 1); }
  void TearDown() override { unsetenv("PMI_SPAWNED"); }

  static std::string name() { return find_node_of_job(2).name; }
};

TEST_F(node_of_spawned_job, has_the_same_name_in_all_ranks) {
  const memory_of_a_job memory;
  const std::string first = name();
  const memory_of_a_job later;  // that a rank shares with others
  EXPECT_EQ(name(), first);
}

TEST_F(node_of_spawned_job, is_told_apart_from_others_of_the_same_server) {
  std::string first;
  {
    const memory_of_a_job memory;
    first = name();
  }
  const memory_of_a_job memory;
  EXPECT_NE(name(), first);
  unsetenv("PMI_SPAWNED");
  EXPECT_NE(name(), first);
}

TEST(node_of_job, of_a_job_that_is_not_spawned_depends_on_no_memory) {
  const std::string first = find_node_of_job(2).name;
  const memory_of_a_job memory;
  EXPECT_EQ(find_node_of_job(2).name, first);
}

}  // namespace
}  // namespace lull::mpi
