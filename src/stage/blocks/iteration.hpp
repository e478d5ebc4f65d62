// An iteration that was handed over, in the view of plug-ins: the blocks of all its files, mapped.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lull/stage_plugin.h"
#include "stage/blocks/block_file.hpp"

namespace lull::stage::blocks {

struct block_in_file {
  int descriptor;  // of a block file
  std::uint64_t position;
};

class iteration {
 public:
  // `files`: block files, whose descriptors must stay open. `path`: the path of one of them, FOLDER/NAME.NUMBER/FILE.
  // Throws lull::error.
  iteration(std::span<const int> files, const std::string& path);

  [[nodiscard]] const head& about() const { return files_.front().first.about(); }
  [[nodiscard]] lull_stage_iteration for_plugin(const plugin& one) const;           // valid as long as this object
  [[nodiscard]] const std::vector<block_in_file>& where() const { return where_; }  // location of each block
  [[nodiscard]] std::span<const int> descriptors() const { return descriptors_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::vector<int> descriptors_;
  std::string path_, folder_, name_;
  std::vector<std::pair<block_file, int>> files_;  // sorted by process
  std::vector<lull_stage_block> blocks_;
  std::vector<block_in_file> where_;
};

}  // namespace lull::stage::blocks
