#include "stage/blocks/iteration.hpp"

#include <algorithm>
#include <filesystem>

namespace lull::stage::blocks {

iteration::iteration(std::span<const int> files, const std::string& path)
    : descriptors_(files.begin(), files.end()), path_(path) {
  for (const int one : files) files_.emplace_back(block_file(one), one);
  std::ranges::sort(files_, {}, [](const auto& one) { return one.first.about().process; });
  for (const auto& [file, descriptor] : files_)
    for (const block& one : file.about().blocks) {
      if (one.position == 0 || one.bytes() == 0) continue;
      blocks_.push_back({one.variable.c_str(), row_of(one.type).name, one.unit.c_str(), file.about().process,
                         static_cast<int>(one.all.size()), one.all.data(), one.offset.data(), one.count.data(),
                         file.data(one)});
      where_.push_back({descriptor, one.position});
    }
  const std::string folder = std::filesystem::path(path).parent_path();
  const std::string output = folder.substr(0, folder.rfind('.'));  // FOLDER/NAME of FOLDER/NAME.000010
  name_ = std::filesystem::path(output).filename();
  folder_ = std::filesystem::path(output).parent_path();
}

lull_stage_iteration iteration::for_plugin(const plugin& one) const {
  return {about().iteration,   about().processes, folder_.c_str(), name_.c_str(),
          one.options.c_str(), blocks_.size(),    blocks_.data()};
}

}  // namespace lull::stage::blocks
