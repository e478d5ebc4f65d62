// The state of the files of a node's processes, in memory shared by all of them, servers included. Reading costs a
// load, and waiting takes no lock: both are safe in signal handlers.
//
// A file is busy from its begin until it is written. Whole files have numbers from 1 in the order in which they are
// handed over; they may end in another order. Processes are identified by rank.
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
  static constexpr std::uint32_t most = 1024;  // limit of outstanding whole files
  std::atomic<std::uint32_t> busy = 0;         // number of files
  std::atomic<std::uint32_t> handed_over = 0;  // whole files handed over to the server
  std::atomic<std::uint32_t> ended = 0;        // whole files: all up to this number have ended; a futex
  std::atomic<std::uint32_t> failed = 0;       // of these
  std::atomic<std::uint32_t> met = 0;          // failures that the program has seen, as errors of HDF5
  std::atomic<std::uint32_t> returned = 0;     // whole files that the server did not take: the client must write them
  std::atomic<std::uint32_t> taken_back = 0;   // of these
  std::atomic<pid_t> process = 0;              // 0: the others cannot check whether it lives
  std::atomic<pid_t> server = 0;               // likewise; 0 also if it has none on this node; lost_server: it has died
  static constexpr pid_t lost_server = -1;
  // By number, modulo `most`.
  std::array<std::atomic<std::uint8_t>, most> ended_early = {};  // ended before some earlier file
  std::array<std::atomic<dev_t>, most> devices = {};             // of the file's place
  std::array<std::atomic<ino_t>, most> inodes = {};
};

// The mapped pages; each process owns its mapping.
class progress {
 public:
  // Collective over all processes; those of a node share the pages. Throws lull::error, perhaps not on all.
  [[nodiscard]] static std::shared_ptr<progress> of_node(exchange& others);
  explicit progress(const std::vector<int>& ranks);    // new ones, for tests; throws lull::error
  progress(descriptor pages, std::vector<int> ranks);  // pages of another process; throws lull::error

  [[nodiscard]] std::atomic<std::uint32_t>& busy() const;  // sum over all processes
  [[nodiscard]] client_progress& of(int rank) const;

  void begin(int rank) const noexcept;
  void end(int rank) const noexcept;  // no longer busy
  // Returns its number.
  std::uint32_t hand_over(int rank, const file_identity& place) const noexcept;
  // Reports the end of the whole file that was handed over under this number.
  void end_whole(int rank, std::uint32_t number, bool failed) const noexcept;
  [[nodiscard]] bool has_ended(int rank, std::uint32_t number) const noexcept;
  void give_back(int rank) const noexcept;
  // A process has died. `handed_over` of its files have not ended yet and still will; its other busy files never will.
  void forget(int rank, std::uint32_t handed_over) const noexcept;

  // The server is on this node: all processes can check whether it lives.
  void serve(int rank, int server) const noexcept;
  void lose_server(int rank) const noexcept;

  // Waits for the files that other processes have handed over so far: those for this place, or all if `place` is null.
  // False: one of them will not be written, because its process has died, or has not written it for ten seconds without
  // a server.
  [[nodiscard]] bool wait_for_others(int rank, const file_identity* place) const noexcept;
  // Whether a file of any process could not be written and its program does not know yet.
  [[nodiscard]] bool has_failures() const noexcept;

 private:
  [[nodiscard]] client_progress& at(std::size_t place) const;
  [[nodiscard]] bool wait_for(const client_progress& other, int rank, std::uint32_t number) const noexcept;

  std::vector<int> ranks_;  // ascending
  descriptor pages_;
  job::mapping mapped_;
};

// Sleeps until `ended` differs from `seen`, or until some time has passed.
void sleep_until_ended(const client_progress& of, std::uint32_t seen) noexcept;

}  // namespace lull::stage
