// Energy on the wire, derived (wire.hpp) from the bytes the kernel counts for each network interface.
//
// What never leaves the node (shared memory) and what passes by the kernel (RDMA) is not seen here; infiniband.cpp and
// cxi.cpp read the counters of devices that see the latter, and such a wire is then left out here.
//
// Counters: Linux, Documentation/ABI/testing/sysfs-class-net-statistics; 64 bits, which 25 GB/s fill in 23 years.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "meter/wire.hpp"

namespace lull::meter {
namespace {

struct interface_counters {
  held_file sent, received;
};

availability state_of(const sysroot& root, const wires& chosen) {
  if (chosen.net.empty()) {
    if (chosen.named) return {false, "LULL_WIRE_INTERFACES names no network interface", ""};
    if (!chosen.repeated.empty())
      return {false, fmt::format("the wires of {} are counted at their devices", fmt::join(chosen.repeated, ", ")), ""};
    const std::vector<std::string> others = root.list(net_folder);
    if (others.empty()) return {false, "there is no network interface here", ""};
    return {false, fmt::format("none of the interfaces {} is physical", fmt::join(others, ", ")),
            "export LULL_WIRE_INTERFACES=" + others.front()};
  }
  for (const std::string& name : chosen.net)
    for (const char* counter : {"tx_bytes", "rx_bytes"}) {
      held_file file(root, fmt::format("{}/{}/statistics/{}", net_folder, name, counter));
      if (const int error = file.read_number().error)
        return {false, fmt::format("{}: {}", file.path(), describe_errno(error)), ""};
    }
  return {true, "", ""};
}

source_description describe(const sysroot& root, const wires& chosen, const wire_model& model) {
  source_description result{.name = "net",
                            .kind = kind::derived,
                            .unit = "bytes",
                            .interval = seconds{0},
                            .range = {},
                            .permission = "none",
                            .channels = {},
                            .state = state_of(root, chosen)};
  for (const std::string& name : chosen.net)
    add_wire(result, model, name, root.locate(fmt::format("{}/{}/statistics", net_folder, name)), {.may_rest = true});
  return result;
}

class net final : public source {
 public:
  net(const sysroot& root, const wires& chosen, const wire_model& model)
      : source(describe(root, chosen, model)), root_(root), model_(model) {
    for (const std::string& name : chosen.net)
      counters_.push_back({held_file(root, fmt::format("{}/{}/statistics/tx_bytes", net_folder, name)),
                           held_file(root, fmt::format("{}/{}/statistics/rx_bytes", net_folder, name))});
  }

  void read(std::span<reading> into) override {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      const number_read sent = counters_[i].sent.read_number();
      const number_read received = counters_[i].received.read_number();
      const int error = sent.error != 0 ? sent.error : received.error;
      into[2 * i] = into[2 * i + 1] = stamped({model_.counted(sent.number, received.number), error}, root_.now());
    }
  }

 private:
  sysroot root_;
  wire_model model_;
  std::vector<interface_counters> counters_;
};

}  // namespace

std::unique_ptr<source> make_net(const sysroot& root) {
  return std::make_unique<net>(root, find_wires(root), read_wire_model());
}

}  // namespace lull::meter
