// Makes an archive in OTF2 of what the processes of a run have recorded. Memory is bounded: records are read through a
// mapping, a process at a time on each core, and events leave by OTF2's buffers.
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
  std::uint64_t crossings = 0;            // messages by which the clocks of hosts were joined; a part of all
  std::uint64_t too_early = 0;            // of them, those that still arrive before they were sent
  std::vector<std::string> remarks = {};  // what is missing, a line each
};

// Records done and their number; called by one thread at a time. False: stop, with an error.
using conversion_progress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

// `raw` holds the records, and perhaps HOST.energy files (archive_writer.cpp says of what form). The archive is written
// aside and then renamed: traces.otf2, traces.def and the folder traces in `into` appear whole, in place of earlier ones.
// Throws lull::error.
[[nodiscard]] conversion write_archive(const std::filesystem::path& raw, const std::filesystem::path& into,
                                       const conversion_progress& progress = {});

}  // namespace lull::trace
