#include "meter/sources/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "meter/components.hpp"
#include "meter/words.hpp"

namespace lull::meter {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool can_be_read(const sysroot& root, const std::string& path) {
  std::array<char, 64> ignored;
  return held_file(root, path).read(ignored).error == 0;
}

// Only a real device has the link `device`: loopback, bonds, bridges, veth pairs and tunnels repeat its traffic.
bool physical(const sysroot& root, const std::string& interface) {
  return root.exists(fmt::format("{}/{}/device", net_folder, interface));
}

// The network interfaces whose traffic passes the ports of an InfiniBand device and is included in their counters (IP
// over InfiniBand). On Ethernet the port counts only RDMA and the interface counts the rest, so nothing is repeated.
std::vector<std::string> interfaces_of_infiniband(const sysroot& root, const std::string& device) {
  std::vector<std::string> names;
  for (const std::string& name : root.list(fmt::format("{}/{}/device/net", infiniband_folder, device)))
    if (root.text(fmt::format("{}/{}/type", net_folder, name)) == "32") names.push_back(name);  // ARPHRD_INFINIBAND
  return names;
}

// The interfaces of a Cassini card, whose octets include all traffic.
std::vector<std::string> interfaces_of_cxi(const sysroot& root, const std::string& device) {
  std::vector<std::string> names = root.list(fmt::format("{}/{}/device/net", cxi_folder, device));
  if (names.empty() && device.starts_with("cxi")) names.push_back("hsn" + device.substr(3));
  return names;
}

bool counts(const sysroot& root, const std::string& port) {
  const std::string folder = fmt::format("{}/{}", infiniband_folder, port);
  return can_be_read(root, folder + "/counters/port_xmit_data") || can_be_read(root, folder + "/hw_counters/tx_bytes");
}

struct present_devices {
  std::vector<std::string> net, infiniband, cxi;
};

present_devices look(const sysroot& root) {
  present_devices found{root.list(net_folder), root.list(infiniband_folder), root.list(cxi_folder)};
  std::erase_if(found.net, [&](const auto& n) { return !root.exists(fmt::format("{}/{}/statistics", net_folder, n)); });
  return found;
}

// Pairs of an interface and the device that counts its wire.
std::vector<std::pair<std::string, std::string>> twins(const sysroot& root, const wires& chosen) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& device : chosen.infiniband)
    if (std::ranges::any_of(active_ports(root, device), [&](const auto& port) { return counts(root, port); }))
      for (std::string& name : interfaces_of_infiniband(root, device)) pairs.emplace_back(std::move(name), device);
  for (const std::string& device : chosen.cxi)
    if (can_be_read(root, fmt::format("{}/{}/device/telemetry/hni_sts_tx_ok_octets", cxi_folder, device)))
      for (std::string& name : interfaces_of_cxi(root, device)) pairs.emplace_back(std::move(name), device);
  return pairs;
}

wires named_wires(const sysroot& root, const std::vector<std::string>& names, const present_devices& present) {
  wires chosen;
  chosen.named = true;
  for (const std::string& name : names) {
    if (contains(present.net, name)) {
      chosen.net.push_back(name);
    } else if (const auto there = foreign(name)) {
      if (!bytes_of(there->name, root.text(there->file)))
        throw usage_error("read setting LULL_WIRE_INTERFACES",
                          fmt::format("there is no network interface '{}' in {}", there->name, there->file),
                          "name a process that runs in its namespace");
      chosen.net.push_back(name);
    } else if (contains(present.infiniband, name)) {
      chosen.infiniband.push_back(name);
    } else if (contains(present.cxi, name)) {
      chosen.cxi.push_back(name);
    } else {
      std::vector<std::string> all = present.net;
      all.insert(all.end(), present.infiniband.begin(), present.infiniband.end());
      all.insert(all.end(), present.cxi.begin(), present.cxi.end());
      throw usage_error("read setting LULL_WIRE_INTERFACES", "there is no network interface '" + name + "'",
                        all.empty() ? "unset it" : fmt::format("there are {}", fmt::join(all, ", ")));
    }
  }
  for (const auto& [interface, device] : twins(root, chosen))
    if (contains(chosen.net, interface))
      throw usage_error("read setting LULL_WIRE_INTERFACES",
                        fmt::format("{} is the same wire as {}", interface, device), "name only one of the two");
  return chosen;
}

}  // namespace

std::optional<foreign_interface> foreign(std::string_view name) {
  const std::string_view place = name.substr(0, name.find('='));
  const std::size_t at = place.rfind('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == place.size()) return std::nullopt;
  const std::string_view process = place.substr(at + 1);
  if (!std::ranges::all_of(process, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  const std::string_view label = place.size() + 1 < name.size() ? name.substr(place.size() + 1) : place;
  return foreign_interface{std::string(place.substr(0, at)), fmt::format("/proc/{}/net/dev", process),
                           std::string(label)};
}

std::optional<interface_bytes> bytes_of(std::string_view interface, std::string_view file) {
  // Each line: " NAME: " and sixteen numbers; the first is the bytes received, the ninth the bytes sent.
  constexpr std::size_t sent_field = 8;
  while (!file.empty()) {
    std::string_view line = file.substr(0, file.find('\n'));
    file.remove_prefix(std::min(line.size() + 1, file.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.starts_with(interface) || !line.substr(interface.size()).starts_with(':')) continue;
    line.remove_prefix(interface.size() + 1);
    std::array<std::uint64_t, sent_field + 1> fields{};
    for (std::uint64_t& field : fields) {
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), field);
      if (error != std::errc{}) return std::nullopt;
      line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    }
    return interface_bytes{fields[0], fields[sent_field]};
  }
  return std::nullopt;
}

std::vector<std::string> active_ports(const sysroot& root, const std::string& device) {
  std::vector<std::string> ports;
  for (const std::string& number : root.list(fmt::format("{}/{}/ports", infiniband_folder, device))) {
    const std::string port = fmt::format("{}/ports/{}", device, number);
    const std::string state = root.text(fmt::format("{}/{}/state", infiniband_folder, port));
    if (state.empty() || state.find("ACTIVE") != std::string::npos) ports.push_back(port);
  }
  return ports;
}

wires find_wires(const sysroot& root) {
  const std::vector<std::string> names = words_in(setting_text("LULL_WIRE_INTERFACES"));
  const present_devices present = look(root);
  if (!names.empty()) return named_wires(root, names, present);
  wires chosen{.net = {}, .infiniband = present.infiniband, .cxi = present.cxi, .repeated = {}, .named = false};
  std::erase_if(chosen.infiniband, [&](const auto& device) { return active_ports(root, device).empty(); });
  for (const auto& [interface, device] : twins(root, chosen)) chosen.repeated.push_back(interface);
  for (const std::string& name : present.net)
    if (physical(root, name) && !contains(chosen.repeated, name)) chosen.net.push_back(name);
  std::erase_if(chosen.repeated, [&](const auto& name) { return !contains(present.net, name); });
  return chosen;
}

wire_model read_wire_model() {
  const component nic = components_in_force().nic_watts;
  const band& power = nic.value;
  const double gbps = setting_real("LULL_WIRE_GBPS");
  const std::string convention = setting_text("LULL_WIRE_CONVENTION");
  wire_model model;
  model.delivered = setting_text("LULL_WIRE_PER") == "delivered";
  const double ends = model.delivered ? 2 : 1;
  const double one_way = ends * power.mid / (gbps * 1e9 / 8);
  const double both_ways = one_way / 2;
  const double charged = convention == "full-duplex" ? both_ways : one_way;
  model.joules_per_byte = {both_ways, charged, one_way};
  model.nic_watts = power;
  if (convention == "clamped") model.most_watts = ends * power.mid;
  model.formula = fmt::format(
      "{} W x ({}) / {} GB/s{} = {:.4g} mJ/MB (convention {}{}, per {}; band: full-duplex {:.4g} to paper {:.4g} "
      "mJ/MB)",
      power.mid, model.delivered ? "bytes received here, both their ends" : "sent + received bytes at this end",
      gbps / 8, convention == "full-duplex" ? " x 2" : " one way", charged * 1e9, convention,
      model.most_watts > 0 ? fmt::format(": at most {} W x time", model.most_watts) : "",
      model.delivered ? "delivered byte" : "endpoint", both_ways * 1e9, one_way * 1e9);
  model.nic_basis = fmt::format("{} W x time, drawn whether or not it transfers ({})", power.mid, nic.source);
  return model;
}

void add_wire(source_description& to, const wire_model& model, const std::string& name, const std::string& path,
              const counter_limits& limits) {
  to.channels.push_back({.name = to.name + ":" + name,
                         .covers = domain::wire,
                         .kind = kind::derived,
                         .interval = to.interval,
                         .basis = fmt::format("{}; {}", model.formula, path),
                         .limits = limits,
                         .joules_per_unit = model.joules_per_byte,
                         .watts = {},
                         .counts_bytes = true,
                         .most_watts = model.most_watts});
  to.channels.push_back({.name = to.name + ":" + name + "-nic",
                         .covers = domain::nic,
                         .kind = kind::estimated,
                         .interval = to.interval,
                         .basis = model.nic_basis,
                         .limits = limits,
                         .joules_per_unit = {},
                         .watts = model.nic_watts});
}

}  // namespace lull::meter
