// The files that the processes of a node write together, and what is under way to them: one table in memory that all of
// them share, servers included, followed by an arena for each process.
//
// An entry is one write or one change of a file. Entries have numbers in the order in which they were handed over, over
// all processes and files. An entry is pending until its server has carried it out. A process that dies leaves its
// entries behind, and a server that dies leaves them to the clients (piece_writer.hpp).
//
// `changed` is a futex that increases with each entry that ends; `work` increases with each that is handed over.
//
// If the job has several nodes, the first of them is the home: entries of the other nodes have a place in its table,
// too, which orders those of all nodes (nodes/). On the others, an entry is `ordered` once it has that place, and
// `may_begin` when no earlier entry of another node changes the same bytes. A request is an entry that only asks the
// home something; its owner finds the answer in the table.
#pragma once
#include <sys/types.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "job/segment.hpp"
#include "job/shared_lock.hpp"
#include "stage/accounts/figures.hpp"
#include "stage/approaches/roles.hpp"
#include "stage/files/claim.hpp"
#include "stage/link/exchange.hpp"
#include "stage/shared/pieces.hpp"
#include "stage/shared/shared_files.hpp"

namespace lull::stage {

struct file_entry {
  enum class kind : std::uint32_t {
    open,      // the server opens the file, so that it can write it whatever happens to its name
    write,     // pieces at `place` in the arena, followed by their bytes
    set_size,  // to `size`
    close,     // by the last process that had it open
    // Requests: no server carries them out.
    join,          // the file gets a number at the home
    leave,         // a handle is closed
    wait,          // until no earlier entry changes the `wanted` bytes
    ask_size,      // of the file
    look_at_size,  // again in the file system, when nothing is pending
    announce,      // to all nodes that the file is pending: a process closes it. `value`: 1, or 0 if some do not know
    // Not for the home: other nodes have not written the file yet. It is pending here, too, for path calls.
    elsewhere,
  };
  std::uint64_t number = 0;
  kind what = kind::open;
  bool pending = false;
  std::int32_t file = 0;
  std::int32_t owner = 0;   // position of the process on its node
  std::int32_t server = 0;  // likewise
  range bytes = {0, 0};     // that it may change
  std::uint64_t place = 0;
  std::uint64_t pieces = 0;
  std::uint64_t length = 0;  // bytes of data
  std::int64_t size = 0;
  collective_call of = {};
  std::int64_t handed_over_ns = 0;
  std::uint64_t next = 0;  // of the same file; 0: none
  range wanted = {0, 0};
  bool ordered = true, may_begin = true;
  std::uint64_t order = 0;  // its number at the home; 0: not known yet
  bool hurries = false;     // a process waits for it, or for an entry behind it

  [[nodiscard]] bool is_request() const { return what >= kind::join; }
};

// Of the home, to a request.
struct answer_of_home {
  std::int64_t value = 0;
  std::int32_t error = 0;  // errno
};

// The nodes that have servers, and then the others, have numbers; the home is the first.
struct place_of_node {
  int node = 0;
  int nodes = 1;  // that have servers
  bool all_are_served = true;
  bool one_machine = true;  // all nodes are emulated on it
};

// Some fields are read without the lock, also in signal handlers.
struct file_row {
  std::atomic<dev_t> device = 0;
  std::atomic<ino_t> inode = 0;
  std::atomic<std::uint32_t> pending = 0;  // entries
  std::uint32_t opened = 0;                // handles of all processes; 0, and nothing pending: the row is free
  bool is_written = false;                 // a handle for writing has been opened
  bool several_nodes = false;              // a process of another node has opened it
  std::int32_t at_home = -1;               // its number in the table of the home
  std::uint32_t generation = 0;            // counts the uses of the row
  std::int64_t size = 0;                   // as all processes see it
  std::atomic<int> error = 0;              // errno of the first failure
  bool error_is_reported = false;
  std::uint64_t first = 0, last = 0;  // entries, by number; those before the first pending one have ended
  char path[PATH_MAX] = {};           // as at its first open
};

class directory {
 public:
  static constexpr std::size_t most_files = 256, most_entries = 4096, most_processes = 1024;

  // Collective over all processes. Null on all of them if one could not share the memory, after a line. Throws
  // lull::error if the processes could not be connected, perhaps not on all of them.
  [[nodiscard]] static std::shared_ptr<directory> of_node(std::size_t buffer_bytes, const roles& all, exchange& others);
  // For tests: `processes` of one node, whose arenas have `arena_bytes`. Throws lull::error.
  [[nodiscard]] static descriptor new_pages(std::size_t processes, std::size_t arena_bytes);
  directory(descriptor pages, std::size_t processes, std::size_t arena_bytes, int position, int server,
            const place_of_node& among = {});

  [[nodiscard]] std::size_t processes() const { return processes_; }
  [[nodiscard]] int position() const { return position_; }  // of this process on its node
  [[nodiscard]] int server() const { return server_; }      // of this process, by position
  [[nodiscard]] const place_of_node& among_nodes() const { return among_; }
  [[nodiscard]] bool is_home() const { return among_.node == 0; }
  // Of entries that servers of another node carry out.
  [[nodiscard]] static int server_elsewhere(int node) { return static_cast<int>(most_processes) + node; }
  [[nodiscard]] std::span<std::byte> arena(int position) const;
  // Makes sure that the first bytes of this process's arena have memory. Returns 0 or errno.
  [[nodiscard]] int allocate(std::size_t bytes) const;

  // While it exists, the table does not change.
  [[nodiscard]] std::unique_lock<job::shared_lock> lock() const;
  // A server, as long as it lives, holds this; before and after, the process that writes in its place.
  [[nodiscard]] job::shared_lock& writing(int server) const {
    return table().writing[static_cast<std::size_t>(server)];
  }

  // With the lock: what was written of its entries, by whichever process; its seconds are those of the server.
  [[nodiscard]] server_figures& figures_of(int server) const {
    return table().figures[static_cast<std::size_t>(server)];
  }
  // Whether nobody holds writing(): the server has died, or ended, or has not begun.
  [[nodiscard]] bool is_away(int server) const;

  // Held by the process that talks to the other nodes (nodes/node_link.hpp), as long as it lives.
  [[nodiscard]] job::shared_lock& linking() const { return table().linking; }

  // Whether this process is, was or will be a server; false as long as it has neither begun nor entries.
  [[nodiscard]] bool serves(int position) const { return table().serves[static_cast<std::size_t>(position)]; }
  void begin_serving(int position) const { table().serves[static_cast<std::size_t>(position)] = true; }

  [[nodiscard]] file_row& row(int file) const { return table().files[static_cast<std::size_t>(file)]; }
  // Without the lock: whether anything of this file is pending; of any file.
  [[nodiscard]] std::optional<int> find(const file_identity& which) const noexcept;
  [[nodiscard]] bool any_pending() const noexcept { return table().pending.load() != 0; }

  // With the lock:
  [[nodiscard]] std::optional<int> open(const file_identity& which, const std::string& path, std::int64_t size);
  [[nodiscard]] bool is_full() const { return table().next - table().oldest >= most_entries; }
  // Returns its number. There must be room.
  std::uint64_t add(file_entry one);
  void end(const file_entry& one, int error);
  // An earlier entry of another server that must end first, or null. Exact for two writes whose pieces are known; a
  // change of size touches everything behind it.
  [[nodiscard]] const file_entry* delays(const file_entry& one) const;
  [[nodiscard]] bool delays(const file_entry& earlier, const file_entry& one) const;
  [[nodiscard]] answer_of_home& answer_for(int position) const {
    return table().answers[static_cast<std::size_t>(position)];
  }
  // The nodes have lost each other: requests fail, entries of other nodes end, the others begin, as they are; files
  // that several nodes share have failed.
  void give_up_order();
  // Without the lock: gives the order up if the process that talks to the other nodes has died.
  void see_to_link();
  [[nodiscard]] bool order_is_lost() const { return table().order_is_lost; }
  [[nodiscard]] std::uint64_t oldest() const { return table().oldest; }  // all entries before it have ended
  [[nodiscard]] std::uint64_t next() const { return table().next; }
  [[nodiscard]] file_entry& entry(std::uint64_t number) const { return table().entries[number % most_entries]; }
  [[nodiscard]] bool is_pending(std::uint64_t number) const {
    return entry(number).number == number && entry(number).pending;
  }
  [[nodiscard]] std::span<const piece> pieces_of(const file_entry& one) const;
  // A pending entry before `before` that changes bytes of the file in this range, or of this process; null: none.
  [[nodiscard]] const file_entry* pending_in(int file, const range& bytes, std::uint64_t before) const;
  [[nodiscard]] const file_entry* pending_for(int file, std::uint64_t before) const;  // any change of the file
  // Likewise, but no requests; the last one, which tells whether all have numbers below some number.
  [[nodiscard]] const file_entry* last_change_of(int file, std::uint64_t before) const;
  [[nodiscard]] const file_entry* pending_of(int owner, std::uint64_t before) const;
  [[nodiscard]] const file_entry* pending_at(int server) const;

  // Sleeping and waking, without the lock. A sleeper passes the value that it saw under the lock.
  [[nodiscard]] std::atomic<std::uint32_t>& changed() const { return table().changed; }
  [[nodiscard]] std::atomic<std::uint32_t>& work() const { return table().work; }
  [[nodiscard]] std::atomic<std::uint32_t>& waiting() const { return table().waiting; }  // processes that wait
  // Increases with both of them, for the process that talks to the other nodes.
  [[nodiscard]] std::atomic<std::uint32_t>& news() const { return table().news; }
  void wake_all_for(const std::atomic<std::uint32_t>& what) const;  // work() or changed()
  // Where the node counts files that are under way (progress::busy()); null: nowhere.
  void count_busy_in(std::atomic<std::uint32_t>* busy) { busy_ = busy; }

 private:
  struct shared {
    job::shared_lock lock;
    std::atomic<std::uint32_t> changed = 0, work = 0, news = 0, waiting = 0, pending = 0;
    job::shared_lock linking;
    bool order_is_lost = false;
    std::uint64_t next = 1, oldest = 1;  // numbers of entries; all before the oldest have ended
    std::array<job::shared_lock, most_processes> writing;
    std::array<std::atomic<bool>, most_processes> serves = {};
    std::array<answer_of_home, most_processes> answers = {};
    std::array<server_figures, most_processes> figures = {};
    std::array<file_row, most_files> files;
    std::array<file_entry, most_entries> entries;
  };
  [[nodiscard]] shared& table() const { return *reinterpret_cast<shared*>(mapped_.data()); }
  [[nodiscard]] static std::size_t offset_of_arenas();
  void count_again() const;

  descriptor pages_;
  job::mapping mapped_;
  std::size_t processes_;
  std::size_t arena_bytes_;
  int position_;
  int server_;
  place_of_node among_;
  std::atomic<std::uint32_t>* busy_ = nullptr;
};

}  // namespace lull::stage
