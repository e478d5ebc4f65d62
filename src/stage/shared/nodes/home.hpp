// The home of the files that several nodes write (directory.hpp): orders the entries of all nodes.
//
// An entry of another node becomes an entry of the home's table, of a server elsewhere. It may begin when no earlier
// entry of another node overlaps it, and ends when its node says so. The processes of the home find it in their table
// like their own entries.
//
// When a process closes a file that is not written yet, all other nodes hear of it before the call returns, so that
// their path calls wait, too (`announce`).
//
// Calls come from one thread. send() is called in all of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "stage/shared/arena.hpp"
#include "stage/shared/directory.hpp"
#include "stage/shared/nodes/messages.hpp"

namespace lull::stage {

class home_of_files {
 public:
  home_of_files(directory& of, send_function send);
  ~home_of_files();
  home_of_files(const home_of_files&) = delete;
  home_of_files& operator=(const home_of_files&) = delete;

  void take(int node, packet_reader text);
  // What its processes had not written may never be. Files that it shares have failed.
  void lost(int node);
  // Answers what can be answered now; after each change of the table, and after each message.
  void look();
  // All nodes have said farewell, or are lost.
  [[nodiscard]] bool is_done() const;

 private:
  // An entry of another node.
  struct entry_elsewhere {
    int node;
    std::uint64_t number;  // there
  };
  struct question {
    int node;
    std::uint64_t number;
    file_entry::kind what;
    int file;
    range wanted;
    std::uint64_t before;  // entries from here on do not matter
    bool waited = false;
    std::uint64_t blocker = 0;
  };
  // To the other nodes: this file is pending.
  struct announcement {
    std::uint64_t number;
    int file;
    std::uint64_t before;   // these changes of it
    std::set<int> missing;  // nodes that have not answered
    std::set<int> known;    // nodes that wait for its end
    bool all_know = true;
  };
  using name = std::pair<int, std::uint64_t>;  // a node, and an entry's number there

  bool carry_out(int node, packet_reader text);  // false: later, there is no room
  void join(int node, packet_reader& text);
  bool add(int node, file_entry one, std::uint64_t number, packet_reader& pieces);
  void place_pieces(file_entry& one, packet_reader& pieces);
  void end(const name& which, int error);
  void begin_what_can();
  void answer_what_can();
  void take_own_questions();
  // Whether the question has been answered.
  [[nodiscard]] bool announce(question& asked);
  void answer(const question& asked, std::int64_t value);
  void is_known(int node, std::uint64_t announced, bool known);
  void end_announcements();
  void hurry();
  void let_writers_hurry(bool some_wait);
  [[nodiscard]] bool has_joined(int node, int file) const { return handles_.contains({node, file}); }

  directory& of_;
  send_function send_;
  std::deque<std::pair<int, std::vector<std::byte>>> inbox_;
  std::map<std::uint64_t, entry_elsewhere> entries_;  // by their numbers here
  std::map<std::uint64_t, std::uint64_t> blockers_;   // of those that may not begin: what they wait for
  std::map<name, std::uint64_t> numbers_;
  std::uint64_t hurried_ = 0;  // entries up to it need not wait for the rest of a collective call
  std::list<question> questions_;
  std::list<announcement> announcements_;
  std::uint64_t announced_ = 0;                 // so many
  std::uint64_t cursor_ = 1;                    // own requests before it have been taken
  std::map<std::pair<int, int>, int> handles_;  // open ones, by node and file
  std::set<int> ended_;                         // nodes
  arena places_;                                // of lists of pieces, in the arena of this process
  std::size_t allocated_ = 0;                   // bytes of it
  bool some_wait_ = false, some_ended_ = false;
};

}  // namespace lull::stage
