// The state of the files of a node's processes, in memory that all of them share, servers too. Looking costs a load, and waiting
// takes no lock: both are safe in signal handlers.
//
// A file is busy from its begin until it is written. Whole files are numbered from 1 in the order in which they are handed over;
// they may end in another order. A process is known by its rank.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/descriptor.hpp"
#include "job/segment.hpp"
#include "stage/files/claim.hpp"
#include "stage/link/exchange.hpp"

namespace lull::stage {

struct alignas(64) client_progress {
  static constexpr std::uint32_t most = 1024;  // whole files that may be outstanding
  std::atomic<std::uint32_t> busy = 0;         // files
  std::atomic<std::uint32_t> handed_over = 0;  // whole files, to the server
  std::atomic<std::uint32_t> ended = 0;        // whole files, up to which all have ended; a futex
  std::atomic<std::uint32_t> failed = 0;       // of these
  std::atomic<std::uint32_t> met = 0;          // failures that the program knows of, as errors of HDF5
  std::atomic<std::uint32_t> returned = 0;     // whole files that the server did not take: the client has to write them
  std::atomic<std::uint32_t> taken_back = 0;   // of these
  std::atomic<pid_t> process = 0;              // 0: the others cannot see whether it lives
  std::atomic<pid_t> server = 0;               // likewise, or it has none on this node; lost_server: it has died
  static constexpr pid_t lost_server = -1;
  // By number.
  std::array<std::atomic<std::uint8_t>, most> ended_early = {};  // others before it have not
  std::array<std::atomic<dev_t>, most> devices = {};             // of the place to which it goes
  std::array<std::atomic<ino_t>, most> inodes = {};
};

// The pages, mapped. Owned by whoever holds them.
class progress {
 public:
  // Collective over all processes; those of a node share the pages. Null: they could not be shared.
  [[nodiscard]] static std::shared_ptr<progress> of_node(exchange& others);
  explicit progress(const std::vector<int>& ranks);    // new ones; throws lull::error
  progress(descriptor pages, std::vector<int> ranks);  // those of somebody else; throws lull::error

  [[nodiscard]] const std::atomic<std::uint32_t>& busy() const;  // files of all
  [[nodiscard]] client_progress& of(int rank) const;

  void begin(int rank) const noexcept;
  void end(int rank) const noexcept;  // no longer busy
  // Returns its number.
  std::uint32_t hand_over(int rank, const file_identity& place) const noexcept;
  // A whole file has ended, which was handed over under this number.
  void end_whole(int rank, std::uint32_t number, bool failed) const noexcept;
  [[nodiscard]] bool has_ended(int rank, std::uint32_t number) const noexcept;
  void give_back(int rank) const noexcept;
  // A process has died with so many files handed over that have not ended: the others never will.
  void forget(int rank, std::uint32_t handed_over) const noexcept;

  // Whose server is on this node: all can see whether it lives.
  void serve(int rank, int server) const noexcept;
  void lose_server(int rank) const noexcept;

  // Waits for the files that other processes have handed over by now: those for this place, or all where none is named. False: one
  // of them will not be written, for its process has died, or has not written it for ten seconds although no server will.
  [[nodiscard]] bool wait_for_others(int rank, const file_identity* place) const noexcept;
  // A file of any of them could not be written, and its program does not know yet.
  [[nodiscard]] bool has_failures() const noexcept;

 private:
  [[nodiscard]] client_progress& at(std::size_t place) const;
  [[nodiscard]] bool wait_for(const client_progress& other, int rank, std::uint32_t number) const noexcept;

  std::vector<int> ranks_;  // ascending
  descriptor pages_;
  job::mapping mapped_;
};

// Until so many have ended, or some time has passed.
void sleep_until_ended(const client_progress& of, std::uint32_t seen) noexcept;

}  // namespace lull::stage
