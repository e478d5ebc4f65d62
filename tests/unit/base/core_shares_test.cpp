#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "base/topology.hpp"
#include "surroundings.hpp"

namespace lull {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using cpus = std::vector<int>;

// A machine by the siblings of each of its logical CPUs.
class made_up_machine {
 public:
  explicit made_up_machine(const std::vector<std::string>& siblings) {
    for (std::size_t cpu = 0; cpu < siblings.size(); ++cpu)
      write("system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list", siblings[cpu]);
    all_.resize(siblings.size());
    std::iota(all_.begin(), all_.end(), 0);
  }
  void write(const std::string& file, const std::string& line) const {
    const std::filesystem::path path = folder_.path() / "sys/devices" / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << line << '\n';
  }
  [[nodiscard]] machine_cores among(const cpus& allowed) const { return cores_among(allowed, folder_.path().string()); }
  [[nodiscard]] std::vector<cpus> shares(int count) const { return shares_of(among(all_), count); }

 private:
  temporary_folder folder_;
  cpus all_;
};

// 4 cores of 2 threads: the second threads come last, as on most of Intel's and AMD's machines.
made_up_machine with_threads_last() {
  return made_up_machine({"0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"});
}

TEST(core_shares, are_of_whole_cores_although_the_numbers_of_their_threads_are_apart) {
  const made_up_machine machine = with_threads_last();
  EXPECT_THAT(machine.shares(2), ElementsAre(cpus{0, 1, 4, 5}, cpus{2, 3, 6, 7}));
  EXPECT_THAT(machine.shares(4), ElementsAre(cpus{0, 4}, cpus{1, 5}, cpus{2, 6}, cpus{3, 7}));
}

TEST(core_shares, are_of_threads_if_there_are_more_than_cores) {
  const made_up_machine machine = with_threads_last();
  EXPECT_THAT(machine.shares(8), ElementsAre(cpus{0}, cpus{4}, cpus{1}, cpus{5}, cpus{2}, cpus{6}, cpus{3}, cpus{7}));
  EXPECT_THAT(machine.shares(5), ElementsAre(cpus{0}, cpus{1, 4}, cpus{5}, cpus{2, 6}, cpus{3, 7}));
}

TEST(core_shares, are_dealt_in_turn_if_there_are_more_than_threads) {
  const made_up_machine machine({"0", "1"});
  EXPECT_THAT(machine.shares(3), ElementsAre(cpus{0}, cpus{1}, cpus{0}));
}

TEST(core_shares, use_only_the_threads_that_are_allowed) {
  const made_up_machine machine = with_threads_last();
  EXPECT_THAT(machine.among({1, 4, 5, 6}).cores, ElementsAre(cpus{4}, cpus{1, 5}, cpus{6}));
  EXPECT_THAT(shares_of(machine.among({1, 4, 5, 6}), 3), ElementsAre(cpus{4}, cpus{1, 5}, cpus{6}));
}

TEST(core_shares, leave_out_efficient_cores_where_the_others_are_enough) {
  // two performance cores of two threads each, numbered in pairs, and four efficient cores
  const made_up_machine machine({"0-1", "0-1", "2-3", "2-3", "4", "5", "6", "7"});
  machine.write("cpu_core/cpus", "0-3");
  machine.write("cpu_atom/cpus", "4-7");
  EXPECT_EQ(machine.among({0, 1, 2, 3, 4, 5, 6, 7}).performance, 2);
  EXPECT_THAT(machine.shares(2), ElementsAre(cpus{0, 1}, cpus{2, 3}));
  EXPECT_THAT(machine.shares(6), ElementsAre(cpus{0, 1}, cpus{2, 3}, cpus{4}, cpus{5}, cpus{6}, cpus{7}));
  EXPECT_EQ(machine.among({5, 6}).performance, 2);  // where only efficient cores are allowed, they are enough
}

TEST(core_shares, of_a_machine_that_says_nothing_are_of_single_cpus) {
  const made_up_machine machine({});
  EXPECT_THAT(shares_of(machine.among({4, 5, 9}), 2), ElementsAre(cpus{4}, cpus{5, 9}));
  EXPECT_THAT(shares_of(machine.among({}), 2), ElementsAre(IsEmpty(), IsEmpty()));
}

}  // namespace
}  // namespace lull
