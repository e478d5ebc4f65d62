// How far the files of a client are, in memory that client and server share, so that a look costs a load and waiting needs
// no lock: it is safe in signal handlers.
//
// A file is busy from where the client begins it to where it has been written, by whoever did. Whole files are numbered from 1 as
// they are handed over, and may end in another order.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/descriptor.hpp"
#include "job/segment.hpp"

namespace lull::stage {

struct alignas(64) client_progress {
  static constexpr std::uint32_t most = 1024;  // whole files that may be outstanding
  std::atomic<std::uint32_t> busy = 0;         // files
  std::atomic<std::uint32_t> ended = 0;        // whole files, up to which all have ended; a futex
  std::atomic<std::uint32_t> failed = 0;       // of these
  std::atomic<std::uint32_t> returned = 0;     // whole files that the server did not take: the client has to write them
  std::array<std::atomic<std::uint8_t>, most> ended_early = {};  // by number: others before it have not
};

struct server_progress {
  std::atomic<std::uint32_t> busy;  // files of all clients of this server
};

// The pages, mapped. Owned by whoever holds them.
class progress {
 public:
  explicit progress(std::size_t clients);           // new ones; throws lull::error
  progress(descriptor pages, std::size_t clients);  // those of somebody else; throws lull::error

  [[nodiscard]] int pages() const { return pages_.get(); }  // to be passed to a client
  [[nodiscard]] std::size_t clients() const { return clients_; }
  [[nodiscard]] std::atomic<std::uint32_t>& busy() const;
  [[nodiscard]] client_progress& of(std::size_t client) const;

  void begin(std::size_t client) const noexcept;
  void end(std::size_t client) const noexcept;  // no longer busy
  // A whole file has ended, which was handed over under this number.
  void end_whole(std::size_t client, std::uint32_t number, bool failed) const noexcept;
  [[nodiscard]] bool has_ended(std::size_t client, std::uint32_t number) const noexcept;
  void give_back(std::size_t client) const noexcept;
  // A client has died with so many files handed over that have not ended: the others never will.
  void forget(std::size_t client, std::uint32_t handed_over) const noexcept;

 private:
  descriptor pages_;
  std::size_t clients_;
  job::mapping mapped_;
};

// Until so many have ended, or some time has passed.
void sleep_until_ended(client_progress& of, std::uint32_t seen) noexcept;

}  // namespace lull::stage
