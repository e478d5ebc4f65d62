// The readings of the meter while a program was traced, in one file HOST.energy per host, next to the records:
//
//   {"host": …, "channels": [{"name", "domain", "kind"}], "time_ns": [CLOCK_MONOTONIC …], "joules": [[a channel's …] …]}
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "trace/merging/recordings.hpp"

namespace lull::trace {

struct energy_channel {
  std::string name, domain, kind;
};

// Of a channel in an archive; `what`: "energy" or "power".
[[nodiscard]] std::string name_of_metric(const char* what, const energy_channel& c);

struct energy_sample {
  std::int64_t time_ns;
  std::vector<double> values;  // joules of each channel since the begin, then watts of each since the previous sample
};

struct energy_series {
  std::string host;
  std::vector<energy_channel> channels;
  std::vector<std::int64_t> time_ns;
  std::vector<std::vector<double>> joules;       // by channel
  std::uint32_t location = 0, metric_class = 0;  // in the archive

  [[nodiscard]] std::vector<energy_sample> samples() const;
};

// Throws lull::error if a file has another form.
[[nodiscard]] std::vector<energy_series> read_energy(const merging::recordings& from);

}  // namespace lull::trace
