// A file that a client writes into memory: a memfd, opened by its path as any file, with the name that it shall get.
//
// Owned by whoever holds it; if it is not handed over, it is gone with the owner. It has no name in any folder, so that
// no end of a process leaves it behind.
#pragma once
#include <cstddef>
#include <string>

namespace lull::stage {

class staged_file {
 public:
  // Throws lull::error when there is no memory or no descriptor left.
  staged_file(std::string final_path, bool exclusive, bool dropped = false);
  ~staged_file();
  staged_file(staged_file&& other) noexcept;
  staged_file& operator=(staged_file&& other) noexcept;

  // What to open, also with O_TRUNC, but not with O_EXCL; in this process only.
  [[nodiscard]] std::string path() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }
  // Absolute, without symbolic links.
  [[nodiscard]] const std::string& final_path() const { return final_path_; }
  [[nodiscard]] bool exclusive() const { return exclusive_; }  // an existing file must not be replaced
  [[nodiscard]] bool dropped() const { return dropped_; }      // the buffer was full: nobody will write it
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::string final_path_;
  int descriptor_;
  bool exclusive_;
  bool dropped_;
};

}  // namespace lull::stage
