#include "trace/merging/recordings.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/error.hpp"

namespace lull::trace::merging {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

recordings read_folder(const fs::path& folder) {
  recordings made;
  for (raw_process& p : read_recordings(folder)) {
    const fs::path definitions = folder / (p.name + ".definitions");
    made.all.push_back({std::move(p), content_of(definitions)});
  }
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".energy")
      made.energy.emplace_back(entry.path().filename().string(), content_of(entry.path()));
  std::ranges::sort(made.energy);
  return made;
}

}  // namespace

recordings read_all_recordings(const fs::path& from) {
  std::error_code unknown;
  return fs::is_directory(from, unknown) ? read_folder(from) : read_merged_file(from);
}

std::vector<raw_process> processes_of(const recordings& all) {
  std::vector<raw_process> made;
  made.reserve(all.all.size());
  for (const recording& r : all.all) made.push_back(r.process);
  return trace::processes_of(std::move(made));
}

}  // namespace lull::trace::merging
