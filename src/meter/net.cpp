// Energy on the wire, derived from the bytes the kernel counts for each network interface.
//
// No network card meters itself, so this is a formula: power of the card while it transfers, times the time the bytes
// take. Two conventions for that time, by name (LULL_WIRE_CONVENTION):
//
//   paper        (sent + received) / one-way bandwidth: 60 W / (4 x 25 GB/s) = 0.60 mJ/MB, as in the aggregation study;
//                a card that sends and receives at full speed is then charged twice its power
//   full-duplex  (sent + received) / twice the one-way bandwidth: never more than the card's power
//
// Whichever gives the joules, the band runs from the one to the other. Every byte is counted at both of its ends: per
// MB delivered, sum the nodes. What never leaves the node (shared memory) and what passes by the kernel (RDMA) is not
// seen.
//
// Counters: Linux, Documentation/ABI/testing/sysfs-class-net-statistics; 64 bits, which 25 GB/s fill in 23 years.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "meter/source.hpp"

namespace lull::meter {
namespace {

constexpr std::string_view folder = "/sys/class/net";

std::vector<std::string> named_in(std::string_view setting) {
  std::vector<std::string> names;
  const std::string text = setting_text(setting);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find_first_of(", ", at), text.size());
    const std::string name = text.substr(at, end - at);
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
    at = end + 1;
  }
  return names;
}

// Only a real device has the link `device`: loopback, bonds, bridges, veth pairs and tunnels repeat its traffic.
bool physical(const sysroot& root, const std::string& interface) {
  return root.exists(fmt::format("{}/{}/device", folder, interface));
}

std::vector<std::string> interfaces_to_read(const sysroot& root) {
  std::vector<std::string> present = root.list(folder);
  std::erase_if(present, [&](const auto& name) { return !root.exists(fmt::format("{}/{}/statistics", folder, name)); });
  std::vector<std::string> named = named_in("LULL_WIRE_INTERFACES");
  for (const std::string& name : named)
    if (std::ranges::find(present, name) == present.end())
      throw error("read setting LULL_WIRE_INTERFACES", "there is no network interface '" + name + "'",
                  present.empty() ? "unset it" : fmt::format("there are {}", fmt::join(present, ", ")));
  if (!named.empty()) return named;
  std::erase_if(present, [&](const auto& name) { return !physical(root, name); });
  return present;
}

struct wire_model {
  band joules_per_byte;
  std::string formula;
};

wire_model read_wire_model() {
  const double power = setting_real("LULL_WIRE_WATTS");
  const double gbps = setting_real("LULL_WIRE_GBPS");
  const std::string convention = setting_text("LULL_WIRE_CONVENTION");
  const double one_way = power / (gbps * 1e9 / 8);
  const double both_ways = one_way / 2;
  return {.joules_per_byte = {both_ways, convention == "paper" ? one_way : both_ways, one_way},
          .formula = fmt::format(
              "{} W x (sent + received bytes at this end) / {} GB/s{} = {:.4g} mJ/MB (convention {}; "
              "band: full-duplex {:.4g} to paper {:.4g} mJ/MB); LULL_WIRE_WATTS, LULL_WIRE_GBPS",
              power, gbps / 8, convention == "paper" ? " one way" : " x 2",
              (convention == "paper" ? one_way : both_ways) * 1e9, convention, both_ways * 1e9, one_way * 1e9)};
}

struct interface_counters {
  held_file sent, received;
};

class net final : public source {
 public:
  net(const sysroot& root, const std::vector<std::string>& interfaces) : source(describe(root, interfaces)) {
    for (const std::string& name : interfaces)
      counters_.push_back({held_file(root, fmt::format("{}/{}/statistics/tx_bytes", folder, name)),
                           held_file(root, fmt::format("{}/{}/statistics/rx_bytes", folder, name))});
  }

  void read(std::span<reading> into) override {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      const number_read sent = counters_[i].sent.read_number();
      const number_read received = counters_[i].received.read_number();
      const int error = sent.error != 0 ? sent.error : received.error;
      into[i] = stamped({sent.number + received.number, error});
    }
  }

 private:
  static source_description describe(const sysroot& root, const std::vector<std::string>& interfaces) {
    const wire_model model = read_wire_model();
    source_description result{.name = "net",
                              .kind = kind::derived,
                              .unit = "bytes",
                              .interval = seconds{0},
                              .range = {},
                              .permission = "none",
                              .channels = {},
                              .state = {}};
    for (const std::string& name : interfaces)
      result.channels.push_back(
          {.name = "net:" + name,
           .covers = domain::wire,
           .kind = kind::derived,
           .interval = result.interval,
           .basis = fmt::format("{}; {}", model.formula, root.locate(fmt::format("{}/{}/statistics", folder, name))),
           .limits = {.may_rest = true},
           .joules_per_unit = model.joules_per_byte,
           .watts = {},
           .counts_bytes = true});
    result.state = state_of(root, interfaces);
    return result;
  }

  static availability state_of(const sysroot& root, const std::vector<std::string>& interfaces) {
    if (interfaces.empty()) {
      const std::vector<std::string> others = root.list(folder);
      if (others.empty()) return {false, "there is no network interface here", ""};
      return {false, fmt::format("none of the interfaces {} is physical", fmt::join(others, ", ")),
              "export LULL_WIRE_INTERFACES=" + others.front()};
    }
    for (const std::string& name : interfaces)
      for (const char* counter : {"tx_bytes", "rx_bytes"}) {
        held_file file(root, fmt::format("{}/{}/statistics/{}", folder, name, counter));
        if (const int error = file.read_number().error)
          return {false, fmt::format("{}: {}", file.path(), describe_errno(error)), ""};
      }
    return {true, "", ""};
  }

  std::vector<interface_counters> counters_;
};

}  // namespace

std::unique_ptr<source> make_net(const sysroot& root) { return std::make_unique<net>(root, interfaces_to_read(root)); }

}  // namespace lull::meter
