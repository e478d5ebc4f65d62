// RAPL through the kernel's perf events (the power PMU), see perf.cpp. Tests replace this interface.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "meter/source.hpp"

namespace lull::meter {

struct opened_event {
  int descriptor = -1;
  int error = 0;  // errno if there is none
};

// The two system calls.
class perf_kernel {
 public:
  virtual ~perf_kernel() = default;
  // Opens the event on a CPU for all processes.
  [[nodiscard]] virtual opened_event open(std::uint32_t type, std::uint64_t config, int cpu) const = 0;
  [[nodiscard]] virtual number_read read(int descriptor) const = 0;
};

// Without a kernel (files of another machine) events are listed but not opened.
[[nodiscard]] std::unique_ptr<source> make_perf(const sysroot& root, std::shared_ptr<const perf_kernel> kernel);
[[nodiscard]] std::shared_ptr<const perf_kernel> running_kernel();

}  // namespace lull::meter
