#include "mpi/waiting/call_sites.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace lull::mpi {
namespace {

constexpr std::string_view elsewhere = "elsewhere";

struct kept_row {
  std::array<char, 40> function;
  std::array<char, 112> site;
  wait::wait_counts counts;
};
static_assert(std::is_trivially_copyable_v<kept_row>);

template <std::size_t n>
void keep(std::array<char, n>& to, std::string_view text) {
  to.fill('\0');
  text.copy(to.data(), n - 1);
}

// The name of a C++ function without its parameters, which would fill a line.
std::string readable(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                         std::free);
  if (!name) return symbol;
  const std::string_view text = name.get();
  return std::string(text.substr(0, text.find('(')));
}

void longest_first(std::vector<site_row>& rows) {
  std::ranges::stable_sort(rows, std::greater{}, [](const site_row& row) { return row.counts.ns_waited; });
}

}  // namespace

std::string name_of_site(const void* address) {
  Dl_info found{};
  if (address == nullptr || dladdr(address, &found) == 0 || found.dli_fname == nullptr) return "unknown";
  const auto offset = [&](const void* from) {
    return static_cast<std::size_t>(static_cast<const char*>(address) - static_cast<const char*>(from));
  };
  if (found.dli_sname != nullptr) return fmt::format("{}+{:#x}", readable(found.dli_sname), offset(found.dli_saddr));
  const std::string_view path = found.dli_fname;
  return fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1), offset(found.dli_fbase));
}

void call_sites::called(const char* function, const void* site) {
  const std::lock_guard hold(lock_);
  ++counts_[{function, site}].operations;
}

void call_sites::waited(const char* function, const void* site, const wait::wait_counts& counts) {
  const std::lock_guard hold(lock_);
  counts_[{function, site}] += counts;
}

std::vector<site_row> call_sites::rows() const {
  std::vector<site_row> made;
  {
    const std::lock_guard hold(lock_);
    for (const auto& [where, counts] : counts_) made.push_back({where.function, name_of_site(where.site), counts});
  }
  return merged(std::move(made));
}

void write_rows(std::span<const site_row> rows, std::span<std::byte> to) {
  const std::size_t room = (to.size() - sizeof(std::uint64_t)) / sizeof(kept_row);
  const std::uint64_t count = std::min(rows.size(), room);
  std::memcpy(to.data(), &count, sizeof count);
  for (std::size_t i = 0; i < count; ++i) {
    kept_row kept{};
    const bool all_that_is_left = i + 1 == room && rows.size() > room;
    keep(kept.function, all_that_is_left ? elsewhere : std::string_view(rows[i].function));
    keep(kept.site, all_that_is_left ? std::string_view() : std::string_view(rows[i].site));
    kept.counts = rows[i].counts;
    for (std::size_t other = room; all_that_is_left && other < rows.size(); ++other) kept.counts += rows[other].counts;
    std::memcpy(to.data() + sizeof count + i * sizeof kept, &kept, sizeof kept);
  }
}

std::vector<site_row> read_rows(std::span<const std::byte> from) {
  std::uint64_t count = 0;
  std::memcpy(&count, from.data(), sizeof count);
  std::vector<site_row> rows;
  for (std::size_t i = 0; i < count; ++i) {
    kept_row kept;
    std::memcpy(&kept, from.data() + sizeof count + i * sizeof kept, sizeof kept);
    rows.push_back({kept.function.data(), kept.site.data(), kept.counts});
  }
  return rows;
}

std::vector<site_row> merged(std::vector<site_row> rows) {
  std::map<std::pair<std::string, std::string>, wait::wait_counts> sums;
  for (site_row& row : rows) sums[{std::move(row.function), std::move(row.site)}] += row.counts;
  std::vector<site_row> made;
  made.reserve(sums.size());
  for (const auto& [where, counts] : sums) made.push_back({where.first, where.second, counts});
  longest_first(made);
  return made;
}

}  // namespace lull::mpi
