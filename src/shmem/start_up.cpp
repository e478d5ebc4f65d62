#include "shmem/start_up.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/counted.hpp"
#include "base/settings.hpp"
#include "lull/version.h"
#include "shmem.h"

namespace lull::shmem {
namespace {

constexpr std::array thread_levels{"SHMEM_THREAD_SINGLE", "SHMEM_THREAD_FUNNELED", "SHMEM_THREAD_SERIALIZED",
                                   "SHMEM_THREAD_MULTIPLE"};

void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

void list_variables() {
  say("lull: the environment variables of OpenSHMEM, which may also begin with SMA_ (lull settings lists all of "
      "Lull's):");
  for (const setting& row : all_settings())
    if (std::string_view(row.variable).starts_with("SHMEM_"))
      say(fmt::format("lull:   {} = {}: {}", row.variable, given(row) ? given(row) : row.default_value, row.meaning));
}

}  // namespace

void debug(const fabric::world& world, const std::string& what) {
  if (setting_is_set("SHMEM_DEBUG")) say(fmt::format("lull: PE {}: {}", world.me().index(), what));
}

void say_hello(fabric::world& world, int thread_level) {
  if (world.me().index() == 0) {
    if (setting_is_set("SHMEM_VERSION"))
      say(fmt::format("lull: {} " LULL_VERSION ", OpenSHMEM {}.{}", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION,
                      SHMEM_MINOR_VERSION));
    if (setting_is_set("SHMEM_INFO")) list_variables();
  }
  if (!setting_is_set("SHMEM_DEBUG")) return;
  const auto& places = world.places();
  const auto node = world.memory().numa_node();
  debug(world,
        fmt::format(
            "{}, process {}, node {} of {} with {}{}, heap of {}{}, waits by {}, {}{}", counted(world.pes(), "PE"),
            getpid(), places.my_node().index(), places.nodes(), counted(places.members(places.my_node()).size(), "PE"),
            world.oversubscribed() ? " on fewer cores" : "", counted(setting_size("SHMEM_SYMMETRIC_SIZE"), "byte"),
            node ? fmt::format(" on NUMA node {}", *node) : "", setting_text("LULL_WAIT"),
            thread_levels[static_cast<std::size_t>(thread_level)], world.has_rdma() ? ", puts and gets by RDMA" : ""));
}

void say_goodbye(fabric::world& world) {
  const auto counts = world.wait().statistics();
  debug(world, fmt::format("has waited {}, {} ms in all, and slept {}, {} ms in all", counted(counts.waits, "time"),
                           counts.ns_waited / 1'000'000, counted(counts.sleeps, "time"), counts.ns_asleep / 1'000'000));
}

}  // namespace lull::shmem
