// What the processes of a run have recorded, wherever it lies: in a folder `raw` (raw.hpp), or in a merged trace.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trace/recording/raw_folder.hpp"

namespace lull::trace::merging {

// By one library of one process.
struct recording {
  raw_process process;
  std::string definitions;  // the content of its file
};

struct recordings {
  std::vector<recording> all;
  std::vector<std::pair<std::string, std::string>> energy;  // files HOST.energy: name, content
};

// `from`: a folder `raw`, or a merged trace. Parts that cannot be read are left out, and raw_process::damaged says so.
// Throws lull::error if it is neither.
[[nodiscard]] recordings read_all_recordings(const std::filesystem::path& from);

// The processes of the recordings, as archives have them.
[[nodiscard]] std::vector<raw_process> processes_of(const recordings& all);

// Reads a merged trace.
[[nodiscard]] recordings read_merged_file(const std::filesystem::path& path);

}  // namespace lull::trace::merging
