// A node that is not the home (home.hpp): announces the entries of its processes there, and tells when they have ended.
//
// Calls come from one thread. send() is called in all of them.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stage/shared/directory.hpp"
#include "stage/shared/nodes/messages.hpp"

namespace lull::stage {

class follower_of_home {
 public:
  follower_of_home(directory& of, send_function send);

  void take(packet_reader text);  // from the home
  void lost_home();
  // Announces what is new; after each change of the table.
  void look();
  // Everything has been announced, and has ended.
  [[nodiscard]] bool is_idle() const;

 private:
  [[nodiscard]] packet announcement(const file_entry& one) const;
  // A file that other nodes have not written is pending here, too.
  [[nodiscard]] bool is_pending_elsewhere(std::uint64_t announced, std::uint64_t inode, const std::string& path);
  void is_written_elsewhere(std::uint64_t announced);

  directory& of_;
  send_function send_;
  std::uint64_t cursor_ = 1;   // entries before it have been announced, where they must be
  std::uint64_t hurried_ = 1;  // entries before it need not wait for the rest of a collective call
  std::uint32_t seen_ = 0;     // changes of the table up to the last look
  std::map<std::uint64_t, std::uint64_t> elsewhere_;  // the entries of files that others write, by announcement
  std::map<std::uint64_t, int> announced_;            // writes and changes of size that have not ended: their files
};

}  // namespace lull::stage
