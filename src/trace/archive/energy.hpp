// What the meter read while a program was traced, one file HOST.energy a host beside the records:
//
//   {"host": …, "channels": [{"name", "domain", "kind"}], "time_ns": [CLOCK_MONOTONIC …], "joules": [[a channel's …] …]}
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lull::trace {

struct energy_channel {
  std::string name, domain, kind;
};

struct energy_sample {
  std::int64_t time_ns;
  std::vector<double> values;  // of each channel joules since the begin, then of each the watts since the sample before
};

struct energy_series {
  std::string host;
  std::vector<energy_channel> channels;
  std::vector<std::int64_t> time_ns;
  std::vector<std::vector<double>> joules;       // by channel
  std::uint32_t location = 0, metric_class = 0;  // in the archive

  [[nodiscard]] std::vector<energy_sample> samples() const;
};

// Throws lull::error for a file of another form.
[[nodiscard]] std::vector<energy_series> read_energy(const std::filesystem::path& raw);

}  // namespace lull::trace
