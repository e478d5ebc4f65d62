#include "trace/archive/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace lull::trace {
namespace {

constexpr std::size_t most_channels = 127;  // two metrics each, and OTF2 counts them in a byte

}  // namespace

std::string name_of_metric(const char* what, const energy_channel& c) {
  return fmt::format("{} of {} ({}, {})", what, c.domain, c.name, c.kind);
}

std::vector<energy_sample> energy_series::samples() const {
  std::vector<energy_sample> found;
  for (std::size_t i = 0; i < time_ns.size(); ++i) {
    energy_sample sample{.time_ns = time_ns[i], .values = {}};
    for (const auto& of : joules) sample.values.push_back(of[i] - of[0]);
    for (const auto& of : joules) {
      const std::size_t later =
          std::min(std::max<std::size_t>(i, 1), time_ns.size() - 1);  // for the first: up to the next
      const std::size_t before = later == 0 ? 0 : later - 1;
      const double seconds = static_cast<double>(time_ns[later] - time_ns[before]) * 1e-9;
      sample.values.push_back(seconds > 0 ? (of[later] - of[before]) / seconds : 0);
    }
    found.push_back(std::move(sample));
  }
  return found;
}

std::vector<energy_series> read_energy(const merging::recordings& from) {
  std::vector<energy_series> found;
  for (const auto& [name, text] : from.energy) {
    try {
      const auto file = nlohmann::json::parse(text);
      energy_series series;
      file.at("host").get_to(series.host);
      file.at("time_ns").get_to(series.time_ns);
      file.at("joules").get_to(series.joules);
      for (const auto& c : file.at("channels")) series.channels.push_back({c.at("name"), c.at("domain"), c.at("kind")});
      if (series.joules.size() != series.channels.size() || series.channels.size() > most_channels)
        throw error("read " + name, "the numbers of its channels and joules do not match");
      for (const auto& of : series.joules)
        if (of.size() != series.time_ns.size()) throw error("read " + name, "its columns differ in length");
      if (!series.channels.empty() && !series.time_ns.empty()) found.push_back(std::move(series));
    } catch (const nlohmann::json::exception& e) {
      throw error("read " + name, e.what());
    }
  }
  return found;
}

}  // namespace lull::trace
