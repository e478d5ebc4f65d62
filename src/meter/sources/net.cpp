// Energy on the wire, derived (wire.hpp) from the bytes that the kernel counts for each network interface.
//
// This excludes traffic that never leaves the node (shared memory) and traffic that bypasses the kernel (RDMA).
// infiniband.cpp and cxi.cpp read the counters of devices that see the latter, and such a wire is then left out here.
//
// Interfaces of other network namespaces, those of containers and of virtual hosts, are read through a process in the
// namespace: NAME@PID.
//
// Counters: Linux, Documentation/ABI/testing/sysfs-class-net-statistics; 64 bits, which 25 GB/s fill in 23 years.
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "meter/sources/wire.hpp"

namespace lull::meter {
namespace {

// The counters of one interface: two files in this namespace, or a line of the single file of another namespace.
class interface_counters {
 public:
  interface_counters(const sysroot& root, const std::string& name) : elsewhere_(foreign(name)) {
    if (elsewhere_) {
      files_.emplace_back(root, elsewhere_->file);
    } else {
      for (const char* counter : {"rx_bytes", "tx_bytes"})
        files_.emplace_back(root, fmt::format("{}/{}/statistics/{}", net_folder, name, counter));
    }
  }

  struct both_read {
    interface_bytes bytes{};
    int error = 0;
    const held_file* failed = nullptr;
  };
  [[nodiscard]] both_read read() {
    if (!elsewhere_) {
      const number_read received = files_[0].read_number(), sent = files_[1].read_number();
      const held_file* const failed = received.error != 0 ? files_.data() : &files_[1];
      return {{received.number, sent.number}, received.error != 0 ? received.error : sent.error, failed};
    }
    const auto [text, error] = files_[0].read(buffer_);
    if (error != 0) return {{}, error, files_.data()};
    const auto found = bytes_of(elsewhere_->name, text);
    return found ? both_read{*found, 0, nullptr} : both_read{{}, ENODEV, files_.data()};
  }

 private:
  std::optional<foreign_interface> elsewhere_;
  std::vector<held_file> files_;
  std::array<char, 32'768> buffer_{};  // some 200 interfaces
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
  for (const std::string& name : chosen.net) {
    interface_counters counters(root, name);
    if (const auto got = counters.read(); got.error != 0)
      return {false, fmt::format("{}: {}", got.failed->path(), describe_errno(got.error)), ""};
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
  for (const std::string& name : chosen.net) {
    const auto elsewhere = foreign(name);
    add_wire(result, model, elsewhere ? elsewhere->label : name,
             root.locate(elsewhere ? elsewhere->file : fmt::format("{}/{}/statistics", net_folder, name)),
             {.may_rest = true});
  }
  return result;
}

class net final : public source {
 public:
  net(const sysroot& root, const wires& chosen, const wire_model& model)
      : source(describe(root, chosen, model)), root_(root), model_(model) {
    for (const std::string& name : chosen.net) counters_.emplace_back(root, name);
  }

  void read(std::span<reading> into) override {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      const auto [bytes, error, failed] = counters_[i].read();
      into[2 * i] = into[2 * i + 1] = stamped({model_.counted(bytes.sent, bytes.received), error}, root_.now());
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
