// Files that several processes write together, in place: what a front (MPI-IO) needs to hand their writes over.
//
//   open()      after the program's own library has opened or created the file
//   room()      memory for one write; the caller fills it with the bytes, in the order of the pieces
//   write()     hands it over; returns before it is written
//   set_size()  likewise, by one process
//   wait()      until what was handed over before, by any process, is written where it overlaps a range
//   close()     by each process that has opened it
//
// All writes and changes of size of a file have one order, over all processes and handles: that in which their calls
// return. What was handed over before a call begins appears to it as if it had been written; a reader waits for the
// ranges that it reads, size() knows without waiting.
//
// Any thread may call. Files are numbers; the same number means the same file (device and inode) in all processes of
// the node. Processes of other nodes may have the same file, by a number of theirs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "stage/accounts/figures.hpp"
#include "stage/shared/pieces.hpp"

namespace lull::stage {

// The writes of one collective call, which are written together.
struct collective_call {
  std::uint64_t name = 0;  // the same in all its processes, and in no other call; 0: the call is not collective
  int processes = 1;       // those that have the same server as this one
  bool last = true;        // nothing of this process follows in this call
};

class shared_files {
 public:
  shared_files() = default;
  virtual ~shared_files() = default;
  shared_files(const shared_files&) = delete;
  shared_files& operator=(const shared_files&) = delete;

  // Whether servers may write files; the same in all processes.
  [[nodiscard]] virtual bool takes_files() const = 0;
  // Empty: not a regular file, or too many are open; this process has no server; other nodes do not see the same file.
  [[nodiscard]] virtual std::optional<int> open(const std::string& path, bool for_writing) = 0;
  // Waits until the file is written if the setting LULL_STAGE_CLOSE says so. Returns error().
  virtual int close(int file) = 0;

  // The most bytes, and the most pieces, of one write.
  [[nodiscard]] virtual std::size_t most_bytes() const = 0;
  [[nodiscard]] virtual std::size_t most_pieces() const = 0;
  // May wait until earlier writes of this process are written. Null: there is no memory.
  [[nodiscard]] virtual std::byte* room(std::size_t pieces, std::size_t bytes) = 0;
  // `data`: from room(), for these pieces.
  virtual void write(int file, std::span<const piece> pieces, std::byte* data, const collective_call& of) = 0;
  // This process has nothing to write in the collective call.
  virtual void write_nothing(int file, const collective_call& of) = 0;
  virtual void set_size(int file, std::int64_t bytes) = 0;

  [[nodiscard]] virtual std::int64_t size(int file) = 0;
  // The program's library may have changed the size. Waits until nothing is under way.
  virtual void look_at_size(int file) = 0;
  // Returns whether it had to wait.
  virtual bool wait(int file, const range& bytes) = 0;
  // For the file with this path, if it is under way, or open.
  virtual void wait_for(const std::string& path) = 0;
  // errno of the first failure since the file was opened, which is reported on stderr once; 0: none.
  [[nodiscard]] virtual int error(int file) = 0;

  [[nodiscard]] virtual int server() const = 0;  // of this process, as a number; negative: none
  // The program's library has written these bytes by itself since `begin_ns`. Waits for a limited storage.
  virtual void wrote_itself(std::int64_t begin_ns, std::uint64_t bytes) = 0;
  [[nodiscard]] virtual bool sync_waits() const = 0;  // a setting
  // For the table at the end.
  virtual void count_read(bool waited) = 0;
  virtual void count_declined(int file) = 0;
};

}  // namespace lull::stage
