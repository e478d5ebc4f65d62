// A traced program as the program of a job: an OTF2 archive, of Lull or of another tool, executed on the network.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netsim/keys/value.hpp"
#include "netsim/program/program.hpp"
#include "netsim/traces/conversion.hpp"

namespace lull::netsim {

// Each rank repeats what its process did.
class trace_program final : public program {
 public:
  explicit trace_program(std::shared_ptr<const converted_trace> trace) : trace_(std::move(trace)) {}

  [[nodiscard]] stream of(std::uint32_t rank, const completions& /*done*/) const override {
    return trace_->operations->of(rank);
  }
  [[nodiscard]] std::span<const std::uint32_t> group(std::uint32_t number) const override {
    return trace_->groups[number];
  }
  [[nodiscard]] std::vector<std::string> remarks() const override;
  [[nodiscard]] std::uint32_t processes() const { return trace_->processes(); }

 private:
  std::shared_ptr<const converted_trace> trace_;
};

// Gets the number of events read, and their total. Returns false to stop.
using conversion_progress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

// Converts the archive at `path`, a folder or its .otf2 file. The last few conversions stay in the temporary file,
// because a description is simulated several times. Throws lull::error if the archive cannot be read or replayed.
[[nodiscard]] std::shared_ptr<const converted_trace> read_trace(const std::string& path, const std::string& iteration,
                                                                const conversion_progress& progress = {});

// The number of processes of the trace that a job with these keys names; none if it names no trace.
[[nodiscard]] std::optional<std::int64_t> processes_of_trace(const values& own);

}  // namespace lull::netsim
