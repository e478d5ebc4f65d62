// Carries out the entries of a server (directory.hpp), in the order in which they were handed over.
//
// Entries of one file that follow each other are written together: sorted, and joined where they touch. The writes of a
// collective call are written when all its processes have handed theirs over, but without them as soon as any process
// waits for something, or after `gathering_ns`. An entry waits for earlier ones of other servers that change the same
// bytes.
//
// A server has one in a thread of its own (server_thread). Before the server begins, and after it has died, those who
// wait for anything write its entries (stand_in), one after the other.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "stage/accounts/figures.hpp"
#include "stage/files/storage_limit.hpp"
#include "stage/shared/directory.hpp"

namespace lull::stage {

class piece_writer {
 public:
  static constexpr std::int64_t gathering_ns = 100'000'000;

  // `server`: the position of the server whose entries it writes.
  piece_writer(directory& of, int server, storage_limit storage);

  enum class outcome : std::uint8_t {
    wrote,
    waits,    // for the rest of a collective call, or for another server or node
    nothing,  // there are no entries now
  };
  // With `wait`, it has slept for a moment if it did not write.
  outcome write_next(bool wait);

 private:
  struct opened {
    descriptor file;
    std::uint32_t generation = 0;
  };
  // What follows the next entry of this server and goes with it; empty: nothing now.
  [[nodiscard]] std::vector<file_entry> next_batch(bool& has_some);
  void look_at(int file);
  [[nodiscard]] bool can_begin(const file_entry& one) const;
  [[nodiscard]] bool is_complete(const file_entry& one) const;
  [[nodiscard]] int carry_out(const std::vector<file_entry>& batch);
  [[nodiscard]] int write(int file, const std::vector<file_entry>& batch);
  [[nodiscard]] int open(int file);

  directory& of_;
  int server_;
  storage_limit storage_;
  std::uint64_t cursor_ = 1;  // no entry of this server before it is pending
  std::array<opened, directory::most_files> open_;
  // While the lock is held, of the file that look_at() names: entries of other servers and nodes, and of each
  // collective call the processes that have handed over theirs.
  std::vector<const file_entry*> others_;
  std::map<std::uint64_t, int> there_;
  server_figures figures_;  // of the present batch
};

// An entry may wait for entries of any server. So whoever waits for one entry writes what any server that does not live
// has left, and is not stopped by an entry that waits for another server, or another node.
class stand_in {
 public:
  stand_in(std::shared_ptr<directory> of, storage_limit storage) : of_(std::move(of)), storage_(std::move(storage)) {}
  // Writes what servers of this node that do not live have left, until that is `enough`, or until nothing of it can be
  // written now. Returns whether it has written anything. Takes no lock if all of them live.
  bool write(const std::function<bool()>& enough);

 private:
  bool write_for(int server, const std::function<bool()>& enough);

  std::shared_ptr<directory> of_;
  storage_limit storage_;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<piece_writer>> writers_;  // by server
};

class server_thread {
 public:
  server_thread(std::shared_ptr<directory> of, int server, const storage_limit& storage);
  ~server_thread() = default;
  server_thread(const server_thread&) = delete;
  server_thread& operator=(const server_thread&) = delete;
  // When all clients have ended: writes what is left. Prints a line for each file whose failure no client has seen.
  [[nodiscard]] server_figures finish();

 private:
  void work(const std::stop_token& end);
  std::shared_ptr<directory> of_;
  int server_;
  piece_writer writer_;
  std::jthread thread_;
};

}  // namespace lull::stage
