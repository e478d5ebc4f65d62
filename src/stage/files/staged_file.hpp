// What a client hands over, in memory: a file that is written into a memfd and opened by its path like any file, or
// another form of output; with its final name.
//
// If its owner does not hand it over, it disappears with the owner. It has no name in any folder, so no end of a
// process leaves it behind.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "stage/files/claim.hpp"
#include "stage/files/form.hpp"

namespace lull::stage {

// Memory that its owner keeps for the next output.
struct kept_memory {
  int descriptor;                     // of a memfd
  std::size_t bytes;                  // in use, from the beginning
  std::shared_ptr<const void> owner;  // while it is held, the memory does not change
};

class staged_file {
 public:
  // An empty file for the claimed place. Throws lull::error if there is no memory or no descriptor left.
  staged_file(std::string final_path, claim place, bool dropped = false);
  // Output in another form. `together`: outputs that clients of one server hand over with the same such name are
  // written together; if empty, the output is written by itself.
  staged_file(std::string final_path, form what, kept_memory content, std::string together);

  // The path to open, with or without O_TRUNC but not with O_EXCL; in this process only.
  [[nodiscard]] std::string path() const;
  // Its place; null for other forms, which are written by name.
  [[nodiscard]] const claim* place() const { return place_ ? &*place_ : nullptr; }
  [[nodiscard]] int descriptor() const { return content_.descriptor; }
  // Writes the content to its place. The descriptor then refers to the place and belongs to the code that uses it,
  // which closes it; descriptor() becomes another one, of the memory, which is empty. Throws lull::error; then nothing
  // has changed for users of the descriptor.
  void become_its_place();
  // Absolute, without symbolic links.
  [[nodiscard]] const std::string& final_path() const { return final_path_; }
  [[nodiscard]] bool dropped() const { return dropped_; }  // the buffer was full: not written
  [[nodiscard]] form in_form() const { return form_; }
  [[nodiscard]] const std::string& together() const { return together_; }
  [[nodiscard]] std::size_t bytes() const;

  // For the client, while the file is open.
  std::size_t reserved = 0;           // bytes of the client's share of the buffer
  std::optional<std::uint64_t> kept;  // the number under which it is kept
  bool flushed = false;
  std::uint32_t order = 0;  // its number among the whole files handed over

 private:
  std::string final_path_;
  std::shared_ptr<class descriptor> memory_;  // of a whole file
  kept_memory content_;
  std::optional<claim> place_;
  bool dropped_ = false;
  form form_ = form::whole;
  std::string together_;
};

}  // namespace lull::stage
