// The files of one process that are written by servers of its node: the one implementation of shared_files.hpp.
//
// Without a directory no file is shared; only what the program writes by itself is counted, and limited. On a node that
// is not the home (directory.hpp), a call that the order of all nodes concerns returns when the home has answered.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stage/files/storage_limit.hpp"
#include "stage/shared/arena.hpp"
#include "stage/shared/checks/checksum_log.hpp"
#include "stage/shared/directory.hpp"
#include "stage/shared/piece_writer.hpp"
#include "stage/shared/shared_files.hpp"

namespace lull::stage {

class node_files final : public shared_files {
 public:
  struct settings {
    bool close_waits = true;
    bool sync_waits = true;
    std::string verify_in = {};  // folder of checksums; empty: there are none
  };
  node_files(std::shared_ptr<directory> of, settings how, storage_limit storage);

  bool takes_files() const override { return of_ != nullptr; }
  std::optional<int> open(const std::string& path, bool for_writing) override;
  int close(int file) override;
  std::size_t most_bytes() const override;
  std::size_t most_pieces() const override;
  std::byte* room(std::size_t pieces, std::size_t bytes) override;
  void write(int file, std::span<const piece> pieces, std::byte* data, const collective_call& of) override;
  void write_nothing(int file, const collective_call& of) override;
  void set_size(int file, std::int64_t bytes) override;
  std::int64_t size(int file) override;
  void look_at_size(int file) override;
  bool wait(int file, const range& bytes) override;
  void wait_for(const std::string& path) override;
  int error(int file) override;
  int server() const override;
  void wrote_itself(std::int64_t begin_ns, std::uint64_t bytes) override;
  bool sync_waits() const override { return how_.sync_waits; }
  void count_read(bool waited) override;
  void count_declined(int file) override;

  // As wait(), for any file of the node (null) or the one with this identity, but takes no lock while its server lives:
  // also for signal handlers.
  void wait_outside(const file_identity* which) noexcept;
  // Waits until everything that this process has handed over is written, or has failed.
  void finish();
  // One line for each file that could not be written, and that no process has reported.
  [[nodiscard]] std::vector<std::string> failures();
  [[nodiscard]] std::uint64_t calls();  // writes of the program so far
  void add_to(client_figures& all);

 private:
  std::uint64_t hand_over(file_entry one);  // returns its number
  answer_of_home ask(file_entry request);
  // Until the home has given the entry its place.
  void wait_for_order(std::uint64_t number);
  [[nodiscard]] bool join_others(int file);
  [[nodiscard]] bool is_announced(int file);
  [[nodiscard]] std::uint64_t order_of(std::uint64_t number);  // once it has a place; 0: not known
  [[nodiscard]] std::size_t usable_bytes();
  // Sleeps, and writes in the place of a server that has died, while `pending` returns an entry; it is called with the
  // lock. Returns whether it has slept.
  template <class Pending>
  bool wait_while(const Pending& pending);
  void start_arena();

  std::shared_ptr<directory> of_;
  settings how_;
  std::unique_ptr<checksum_log> checks_;  // null: nothing is verified
  storage_limit storage_;
  std::mutex mutex_;  // of what follows
  std::optional<arena> arena_;
  std::size_t allocated_ = 0;  // bytes of the arena
  client_figures figures_;
  std::uint64_t own_calls_ = 0;  // writes that the MPI library carried out
  std::mutex asking_;            // one request of a process at a time
  stand_in lost_servers_;
};

}  // namespace lull::stage
