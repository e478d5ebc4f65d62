#include "account/cpu_time.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace lull::account {

std::optional<std::int64_t> usage_us_in(std::string_view cpu_stat) {
  constexpr std::string_view name = "usage_usec ";
  for (std::size_t at = 0; at < cpu_stat.size();) {
    const std::size_t end = std::min(cpu_stat.find('\n', at), cpu_stat.size());
    const std::string_view line = cpu_stat.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name)) continue;
    std::int64_t value = 0;
    const auto [rest, status] = std::from_chars(line.data() + name.size(), line.data() + line.size(), value);
    if (status != std::errc{} || rest != line.data() + line.size() || value < 0) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> cpu_time_reader::usage_us(const std::string& cgroup) {
  const auto [file, is_new] = files_.try_emplace(cgroup, root_, folder_ + cgroup + "/cpu.stat");
  std::array<char, 4096> buffer;
  const auto [text, error] = file->second.read(buffer);
  return error == 0 ? usage_us_in(text) : std::nullopt;
}

std::map<std::string, std::int64_t> cpu_time_reader::usages_us(std::span<const std::string> cgroups) {
  std::erase_if(files_, [&](const auto& file) {
    return !file.first.empty() && std::ranges::find(cgroups, file.first) == cgroups.end();
  });
  std::map<std::string, std::int64_t> found;
  for (const std::string& path : cgroups)
    if (const auto usage = usage_us(path)) found[path] = *usage;
  return found;
}

}  // namespace lull::account
