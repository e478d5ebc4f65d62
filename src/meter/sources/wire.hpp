// Shared by the sources of wire energy: which wire each of them counts, so that none is counted twice, and the
// conversion from bytes to joules.
//
// No network card measures its own energy, so wire energy is a formula: the power of the card while it transfers, times
// the time that the bytes take. LULL_WIRE_CONVENTION selects one of three conventions for that time:
//
//   paper        (sent + received) / one-way bandwidth: 60 W / (4 x 25 GB/s) = 0.60 mJ/MB, as in the aggregation study;
//                a card that sends and receives at full speed is then charged twice its power
//   full-duplex  (sent + received) / twice the one-way bandwidth: never more than the card's power
//   clamped      as paper, but never more than the card's power times the time that passed
//
// With any of them, the band extends from full-duplex to paper. Every byte is counted at both of its ends
// (LULL_WIRE_PER=endpoint: for a delivered megabyte, add the nodes), or only where it is received, with the cost of
// both ends (delivered).
//
// Each wire also has a channel in the domain nic: what its card draws independent of transfers, power times time.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meter/source.hpp"

namespace lull::meter {

// An interface of another network namespace is named NAME@PID, after a process in it, optionally followed by =LABEL,
// the name of its channel: port0@4711=host0.
struct foreign_interface {
  std::string name, file;  // the file that lists all interfaces of the namespace with their counters
  std::string label;
};
[[nodiscard]] std::optional<foreign_interface> foreign(std::string_view name);
// Bytes received and sent, from a line of such a file (`/proc/PID/net/dev`); none if the interface does not exist.
struct interface_bytes {
  std::uint64_t received, sent;
};
[[nodiscard]] std::optional<interface_bytes> bytes_of(std::string_view interface, std::string_view file);

// The devices that each source counts.
struct wires {
  std::vector<std::string> net, infiniband, cxi;
  std::vector<std::string> repeated;  // network interfaces left out: infiniband or cxi counts the same wire
  bool named = false;                 // LULL_WIRE_INTERFACES names them
};

// Without LULL_WIRE_INTERFACES: every physical interface, every InfiniBand device with an active port, and every cxi
// device; but an interface (ib0, hsn0) only if the counters of its device cannot be read, because those include RDMA.
// Throws for a name that no class has, and for two names of one wire.
[[nodiscard]] wires find_wires(const sysroot& root);

// Ports of an InfiniBand device that are up, e.g. "mlx5_0/ports/1".
[[nodiscard]] std::vector<std::string> active_ports(const sysroot& root, const std::string& device);

inline constexpr std::string_view net_folder = "/sys/class/net";
inline constexpr std::string_view infiniband_folder = "/sys/class/infiniband";
inline constexpr std::string_view cxi_folder = "/sys/class/cxi";

struct wire_model {
  band joules_per_byte;
  band nic_watts;
  double most_watts = 0;  // 0: not clamped
  bool delivered = false;
  std::string formula, nic_basis;

  // The raw value of a channel, from the two counters of a wire.
  [[nodiscard]] std::uint64_t counted(std::uint64_t sent, std::uint64_t received) const {
    return delivered ? received : sent + received;
  }
};
[[nodiscard]] wire_model read_wire_model();

// Adds the two channels of one wire, NAME (domain wire) and NAME-nic (domain nic); both read the same value.
void add_wire(source_description& to, const wire_model& model, const std::string& name, const std::string& path,
              const counter_limits& limits);

}  // namespace lull::meter
