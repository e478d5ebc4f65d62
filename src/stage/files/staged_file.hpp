// What a client hands over, in memory: a file that is written into a memfd, opened by its path as any file, or another form
// of output; with the name that the file shall get.
//
// Owned by whoever holds it; if it is not handed over, it is gone with the owner. It has no name in any folder, so that
// no end of a process leaves it behind.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "stage/files/claim.hpp"
#include "stage/files/form.hpp"

namespace lull::stage {

// Memory that somebody keeps for the next output.
struct kept_memory {
  int descriptor;                     // of a memfd
  std::size_t bytes;                  // of its beginning, in use
  std::shared_ptr<const void> owner;  // as long as this is held, the memory stays as it is
};

class staged_file {
 public:
  // An empty file, for the place that has been taken. Throws lull::error when there is no memory or no descriptor left.
  staged_file(std::string final_path, claim place, bool dropped = false);
  // Output in another form. `together`: what is handed over under one such name, by clients of one server, is written together;
  // if empty, by itself.
  staged_file(std::string final_path, form what, kept_memory content, std::string together);

  // What to open, also with O_TRUNC, but not with O_EXCL; in this process only.
  [[nodiscard]] std::string path() const;
  // Where it goes; null for other forms, which go by their name.
  [[nodiscard]] const claim* place() const { return place_ ? &*place_ : nullptr; }
  [[nodiscard]] int descriptor() const { return content_.descriptor; }
  // Writes what it holds to its place, of which its descriptor is one from then on, and nobody's: who has it closes it. descriptor()
  // is another one of the memory, which is empty. Throws lull::error; then nothing has changed for who has the descriptor.
  void become_its_place();
  // Absolute, without symbolic links.
  [[nodiscard]] const std::string& final_path() const { return final_path_; }
  [[nodiscard]] bool dropped() const { return dropped_; }  // the buffer was full: it is not written
  [[nodiscard]] form in_form() const { return form_; }
  [[nodiscard]] const std::string& together() const { return together_; }
  [[nodiscard]] std::size_t bytes() const;

  // The client's, while the file is open.
  std::size_t reserved = 0;           // bytes of the buffer
  std::optional<std::uint64_t> kept;  // the number under which it is kept
  bool flushed = false;
  std::uint32_t order = 0;  // its number among the whole files that are handed over

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
