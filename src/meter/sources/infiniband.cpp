// Energy on the wire, derived (wire.hpp) from the octets that InfiniBand devices count at their ports, including RDMA.
//
// port_xmit_data and port_rcv_data have 64 bits and count units of four octets (Linux,
// Documentation/ABI/stable/sysfs-class-infiniband). Broadcom's bnxt_re has plain bytes in hw_counters instead. Ports
// that are down are left out. Some drivers cache the values for a while (hw_counters/lifespan, in milliseconds).
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "meter/sources/wire.hpp"

namespace lull::meter {
namespace {

struct port_counters {
  std::string name;    // "mlx5_0", or "mlx5_0/2" on a device with several ports up
  std::string folder;  // of the two files
  std::uint64_t octets_per_unit;
  std::int64_t kept_ms;  // how long the driver caches a value
  held_file sent, received;
};

std::vector<port_counters> find_ports(const sysroot& root, const wires& chosen) {
  std::vector<port_counters> found;
  for (const std::string& device : chosen.infiniband) {
    const std::vector<std::string> ports = active_ports(root, device);
    for (const std::string& port : ports) {
      const std::string folder = fmt::format("{}/{}", infiniband_folder, port);
      const bool bytes = root.exists(folder + "/hw_counters/tx_bytes");
      const std::string counters = folder + (bytes ? "/hw_counters" : "/counters");
      const number_read kept = held_file(root, folder + "/hw_counters/lifespan").read_number();
      found.push_back({.name = ports.size() == 1 ? device : device + "/" + port.substr(port.rfind('/') + 1),
                       .folder = counters,
                       .octets_per_unit = bytes ? 1U : 4U,
                       .kept_ms = kept.error == 0 ? static_cast<std::int64_t>(kept.number) : 0,
                       .sent = held_file(root, counters + (bytes ? "/tx_bytes" : "/port_xmit_data")),
                       .received = held_file(root, counters + (bytes ? "/rx_bytes" : "/port_rcv_data"))});
    }
  }
  return found;
}

availability state_of(const sysroot& root, const wires& chosen, std::vector<port_counters>& ports) {
  if (ports.empty()) {
    if (chosen.named) return {false, "LULL_WIRE_INTERFACES names no InfiniBand device that is up", ""};
    if (root.list(infiniband_folder).empty()) return {false, "there is no InfiniBand device here", ""};
    return {false, "no port of the InfiniBand devices is up", ""};
  }
  for (port_counters& port : ports)
    for (held_file* file : {&port.sent, &port.received})
      if (const int error = file->read_number().error)
        return {false, fmt::format("{}: {}", file->path(), describe_errno(error)), ""};
  return {true, "", ""};
}

source_description describe(const sysroot& root, const wires& chosen, const wire_model& model,
                            std::vector<port_counters>& ports) {
  source_description result{.name = "infiniband",
                            .kind = kind::derived,
                            .unit = "bytes",
                            .interval = seconds{0},
                            .range = {},
                            .permission = "none",
                            .channels = {},
                            .state = state_of(root, chosen, ports)};
  for (const port_counters& port : ports) {
    result.interval = seconds{static_cast<double>(port.kept_ms) * 1e-3};
    add_wire(result, model, port.name,
             fmt::format("{}{}", root.locate(port.folder), port.octets_per_unit == 4 ? ", units of 4 bytes" : ""),
             {.may_rest = true});
  }
  return result;
}

class infiniband final : public source {
 public:
  infiniband(const sysroot& root, const wires& chosen, const wire_model& model, std::vector<port_counters> ports)
      : source(describe(root, chosen, model, ports)), root_(root), model_(model), ports_(std::move(ports)) {}

  void read(std::span<reading> into) override {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      port_counters& port = ports_[i];
      const number_read sent = port.sent.read_number();
      const number_read received = port.received.read_number();
      const int error = sent.error != 0 ? sent.error : received.error;
      const std::uint64_t counted = port.octets_per_unit * model_.counted(sent.number, received.number);
      into[2 * i] = into[2 * i + 1] = stamped({counted, error}, root_.now());
    }
  }

 private:
  sysroot root_;
  wire_model model_;
  std::vector<port_counters> ports_;
};

}  // namespace

std::unique_ptr<source> make_infiniband(const sysroot& root) {
  const wires chosen = find_wires(root);
  return std::make_unique<infiniband>(root, chosen, read_wire_model(), find_ports(root, chosen));
}

}  // namespace lull::meter
