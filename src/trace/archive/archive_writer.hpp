// Converts the records of a run's processes to an OTF2 archive. Memory is bounded: records are read through a mapping,
// one process at a time on each core, and events pass through OTF2's buffers.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lull::trace {

struct conversion {
  std::uint64_t records = 0, events = 0;
  std::uint64_t processes = 0, hosts = 0;
  std::uint64_t crossings = 0;            // messages that synchronised the clocks of hosts; a part of all
  std::uint64_t too_early = 0;            // those of them that still arrive before they were sent
  std::vector<std::string> remarks = {};  // what is missing, one line each
};

// Gets the number of records done, and their total; called by one thread at a time. Returns false to stop with an
// error.
using conversion_progress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

// `raw` is a folder with the records and perhaps HOST.energy files (energy.hpp defines their form), or a merged trace
// (merging/merged_file.hpp). The archive is written to a
// temporary folder and then renamed: traces.otf2, traces.def and the folder traces appear complete in `into`, and
// replace earlier ones. Throws lull::error.
[[nodiscard]] conversion write_archive(const std::filesystem::path& raw, const std::filesystem::path& into,
                                       const conversion_progress& progress = {});

}  // namespace lull::trace
