// What a client hands over, in memory: a file that is written into a memfd, opened by its path as any file, or another form
// of output; with the name that the file shall get.
//
// Owned by whoever holds it; if it is not handed over, it is gone with the owner. It has no name in any folder, so that
// no end of a process leaves it behind.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "stage/form.hpp"

namespace lull::stage {

// Memory that somebody keeps for the next output.
struct kept_memory {
  int descriptor;                     // of a memfd
  std::size_t bytes;                  // of its beginning, in use
  std::shared_ptr<const void> owner;  // as long as this is held, the memory stays as it is
};

class staged_file {
 public:
  // An empty file. Throws lull::error when there is no memory or no descriptor left.
  staged_file(std::string final_path, bool exclusive, bool dropped = false);
  // Output in another form. `together`: what is handed over under one such name, by clients of one server, is written together;
  // if empty, by itself.
  staged_file(std::string final_path, form what, kept_memory content, std::string together);

  // What to open, also with O_TRUNC, but not with O_EXCL; in this process only.
  [[nodiscard]] std::string path() const;
  [[nodiscard]] int descriptor() const { return content_.descriptor; }
  // Absolute, without symbolic links.
  [[nodiscard]] const std::string& final_path() const { return final_path_; }
  [[nodiscard]] bool exclusive() const { return exclusive_; }  // an existing file must not be replaced
  [[nodiscard]] bool dropped() const { return dropped_; }      // the buffer was full: nobody will write it
  [[nodiscard]] form in_form() const { return form_; }
  [[nodiscard]] const std::string& together() const { return together_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::string final_path_;
  kept_memory content_;
  bool exclusive_ = false;
  bool dropped_ = false;
  form form_ = form::whole;
  std::string together_;
};

}  // namespace lull::stage
