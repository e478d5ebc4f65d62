#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "account/command_share.hpp"
#include "bindings.hpp"
#include "named.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {
namespace {

using channel_of_node =
    std::tuple<std::string, std::string, std::string, double, double, double, std::optional<double>>;
using share_of_channel = std::tuple<double, double, double, double>;

std::vector<share_of_channel> share_of_command(const std::vector<channel_of_node>& channels, double seconds,
                                               double cpu_s, double others_cpu_s, std::int64_t command_cpus,
                                               std::int64_t cpus) {
  std::vector<account::counted_energy> node;
  node.reserve(channels.size());
  for (const auto& [name, covers, kind, joules, low_j, high_j, idle_w] : channels)
    node.push_back({.channel = name,
                    .covers = named(covers, meter::domain::wire),
                    .kind = named(kind, meter::kind::simulated),
                    .joules = joules,
                    .low_j = low_j,
                    .high_j = high_j,
                    .idle_w = idle_w});
  std::vector<share_of_channel> found;
  for (const account::energy_figure& f : account::share_of_command(node, {.seconds = seconds,
                                                                         .command_cpu_s = cpu_s,
                                                                         .others_cpu_s = others_cpu_s,
                                                                         .command_cpus = command_cpus,
                                                                         .cpus = cpus}))
    found.emplace_back(static_cast<double>(f.uj()) * 1e-6, f.low_uj * 1e-6, f.high_uj * 1e-6,
                       static_cast<double>(f.held_uj) * 1e-6);
  return found;
}

}  // namespace

void bind_account(nb::module_& m) {
  m.def(
      "share_of_command", share_of_command, "channels"_a, "seconds"_a, "cpu_s"_a, "others_cpu_s"_a, "command_cpus"_a,
      "cpus"_a,
      "(joules, low_j, high_j, held_j) of a command for each channel of a node, given as (name, domain, kind, joules, "
      "low_j, high_j, idle_w or None), which count nothing twice.");
}

}  // namespace lull::python
