// What the cache of a table_reader needs from the library: its settings, and when its lines expire.
#include <stdexcept>
#include <string>

#include "base/settings.hpp"
#include "fabric/teams/team.hpp"
#include "lull/aggregate_cache.hpp"
#include "shmem/current.hpp"

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

cache_sizes cache_sizes_of(const aggregate_options& options) {
  const auto least = static_cast<std::size_t>(smallest_line), most = static_cast<std::size_t>(largest_line);
  if (options.cache_line_bytes != 0 && (options.cache_line_bytes < least || options.cache_line_bytes > most))
    throw std::invalid_argument("a cache line of " + std::to_string(options.cache_line_bytes) +
                                " bytes; the allowed sizes are " + std::to_string(least) + " to " +
                                std::to_string(most));
  return {.bytes = options.cache_bytes >= 0 ? static_cast<std::size_t>(options.cache_bytes)
                                            : setting_size("LULL_AGGREGATE_CACHE"),
          .line = options.cache_line_bytes != 0
                      ? options.cache_line_bytes
                      : static_cast<std::size_t>(setting_integer("LULL_AGGREGATE_CACHE_LINE"))};
}

const std::uint64_t* world_collectives() { return &shmem::here("lull::table_reader").everybody().barriers(); }

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
