#include "mpi/waiting/node_of_job.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <set>
#include <string>

#include "base/descriptor.hpp"
#include "base/launcher.hpp"

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

  static std::string name() { return find_node_of_job(0, 2).name; }
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
  const std::string first = find_node_of_job(0, 2).name;
  const memory_of_a_job memory;
  EXPECT_EQ(find_node_of_job(0, 2).name, first);
}

class node_by_variables : public testing::Test {
 protected:
  void TearDown() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
  }
  void set(const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) {
      setenv(name.c_str(), value.c_str(), 1);
      set_.insert(name);
    }
  }

  std::set<std::string> set_;
};

TEST_F(node_by_variables, of_flux_has_all_ranks_if_it_is_the_only_one) {
  set({{"FLUX_TASK_RANK", "1"}, {"FLUX_JOB_SIZE", "4"}, {"FLUX_JOB_NNODES", "1"}});
  EXPECT_EQ(find_node_of_job(1, 4).ranks, 4);
  EXPECT_EQ(find_node_of_job(0, 2).ranks, 0);  // of mpirun, within a task
  set({{"FLUX_JOB_NNODES", "2"}});
  EXPECT_EQ(find_node_of_job(1, 4).ranks, 0);
}

TEST_F(node_by_variables, of_pals_has_a_name_by_job_and_node) {
  set({{"PALS_RANKID", "1"}, {"PALS_LOCAL_SIZE", "4"}, {"PALS_APID", "0f5e"}, {"PALS_NODEID", "0"}});
  const node_of_job first = find_node_of_job(1, 8);
  EXPECT_EQ(first.ranks, 4);
  for (const char* const variable : {"PALS_APID", "PALS_NODEID"}) {
    set({{variable, "2"}});
    EXPECT_NE(find_node_of_job(1, 8).name, first.name) << variable;
  }
}

TEST_F(node_by_variables, of_jsrun_has_the_ranks_that_it_says) {
  set({{"JSM_NAMESPACE_RANK", "5"}, {"JSM_NAMESPACE_LOCAL_SIZE", "3"}});
  EXPECT_EQ(find_node_of_job(5, 6).ranks, 3);
}

TEST_F(node_by_variables, of_hydra_ignores_the_pmix_of_the_shell_that_started_mpiexec) {
  set({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}});
  const node_of_job without = find_node_of_job(1, 2);
  set({{"PMIX_RANK", "0"},
       {"PMIX_NAMESPACE", "slurm.pmix.3.0"},
       {"PMIX_SERVER_URI2", "pmix-server.5;tcp4://127.0.0.1:1"}});
  EXPECT_EQ(find_node_of_job(1, 2).name, without.name);
  EXPECT_FALSE(is_reporter());
}

class node_of_step : public node_by_variables {
 protected:
  void SetUp() override {
    set({{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NODEID", "1"}, {"SLURM_PROCID", "3"}});
    set({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_TASKS_PER_NODE", "3,2(x2),1"}});
  }
};

TEST_F(node_of_step, has_the_tasks_that_slurm_says) {
  const int expected[] = {3, 2, 2, 1};
  for (int node = 0; node < 4; ++node) {
    set({{"SLURM_NODEID", std::to_string(node)}});
    EXPECT_EQ(find_node_of_job(3, 8).ranks, expected[node]);
  }
  for (const char* const counts : {"", "x", "2(x", "(x2)", "2(x99999999999)"}) {
    set({{"SLURM_STEP_TASKS_PER_NODE", counts}, {"SLURM_NODEID", "5"}});
    EXPECT_EQ(find_node_of_job(3, 8).ranks, 0) << counts;
  }
}

TEST_F(node_of_step, is_not_that_of_ranks_that_a_task_starts) {
  EXPECT_EQ(find_node_of_job(0, 4).ranks, 0);
  set({{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}});
  EXPECT_EQ(find_node_of_job(0, 4).ranks, 4);
}

TEST_F(node_of_step, has_a_name_by_job_step_and_node) {
  const std::string first = find_node_of_job(3, 8).name;
  for (const char* const variable : {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_NODEID"}) {
    set({{variable, "2"}});
    EXPECT_NE(find_node_of_job(3, 8).name, first) << variable;
  }
}

}  // namespace
}  // namespace lull::mpi
