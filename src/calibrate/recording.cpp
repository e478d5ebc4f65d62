#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "calibrate/parts.hpp"
#include "calibrate/recorded_calls.hpp"

namespace lull::calibrate {

nlohmann::json recording(const std::string& folder) {
  constexpr std::int64_t calls = 500'000;   // some 16 MB
  setenv("LULL_TRACE", folder.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): there is one thread
  const double ns = ns_of_recorded_call(0, 1, calls);
  trace::recorder::of_process().close();
  std::error_code missing;
  const bool empty = std::filesystem::is_empty(std::filesystem::path(folder) / "raw", missing);
  if (empty || missing) throw error("record calls", "cannot write into " + folder, "name a folder with --storage");
  return {{"ns_per_event", ns / events_of_recorded_call}};
}

}  // namespace lull::calibrate
