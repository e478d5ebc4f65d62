#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/error.hpp"
#include "netsim/memory.hpp"
#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"
#include "netsim/topology.hpp"

namespace lull::netsim {
namespace {

// In the child of a death test: limits the address space to little more than what is in use.
void limit_memory() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{16} << 20U);
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
}

template <class F>
[[noreturn]] void fails_in_one_line(F&& f) {
  limit_memory();
  try {
    f();
  } catch (const error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    _exit(3);
  }
  _exit(4);
}

TEST(memory, that_does_not_suffice_to_set_up_a_simulation_is_said_in_one_line) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space";
#endif
  simulation s;
  s.topology = "torus";
  s.parameters = {{"dimensions", {64, 64, 16}}};
  job j;
  j.nodes = first_nodes(2);
  s.jobs = {j};
  EXPECT_EXIT(fails_in_one_line([&] { (void)simulate(s, {}); }), testing::ExitedWithCode(3),
              "^simulate the network: there is not enough memory; simulate fewer nodes[^\n]*\n$");
  EXPECT_EXIT(fails_in_one_line([&] {
                (void)build(find_topology("torus"), {{"dimensions", {256, 256, 128}}});
              }),
              testing::ExitedWithCode(3), "^build the torus: there is not enough memory; ");
}

TEST(memory, that_the_machine_does_not_have_is_not_asked_for) {
  EXPECT_NO_THROW(require_memory(10, 1000, 1000));
  try {
    require_memory(10, 2'000'000'000, 1'000'000'000);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(std::string(e.what()).find(
                  "simulate the network: its 10 links need 2.0 GB of memory, but the machine has 1.0 GB; "),
              0U);
  }
}

}  // namespace
}  // namespace lull::netsim
