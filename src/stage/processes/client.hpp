// The output of a process of the simulation.
//
//   join()        all processes: clients join(), servers serve()
//   begin_file()  returns a file in memory to write into, or nothing; then the program writes the file itself, as
//                 without a client. It returns nothing without servers, when the server is gone, when the buffer is
//                 full and the policy says so, and for everything that is not a plain file which may be created or
//                 replaced: the program's own call returns the error.
//   hand_over()   hands over the finished file; returns before it is written
//   leave()       once, at the end
//
// The client keeps what it has handed over until its server has written it. When the server dies, the next call writes
// the outstanding files, in their order, and from then on begin_file() returns nothing. When the client dies, its
// server writes what it has received. A file has its name from begin_file() on, as in a plain run, and its content once
// that is complete.
//
// Calls from several threads are serialised.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stage/accounts/figures.hpp"
#include "stage/accounts/plan.hpp"
#include "stage/approaches/roles.hpp"
#include "stage/files/staged_file.hpp"
#include "stage/link/exchange.hpp"
#include "stage/shared/node_files.hpp"

namespace lull::stage {

class client {
 public:
  // Collective over all processes. Throws lull::error if the server cannot be reached, perhaps not on all of them.
  [[nodiscard]] static std::unique_ptr<client> join(const plan& wanted, const roles& all, exchange& others);
  ~client();  // without leave(): as if the process had died
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  // `exclusive`: an existing file must not be replaced. May wait for room in the buffer. The file has its name on
  // return.
  [[nodiscard]] std::optional<staged_file> begin_file(const std::string& final_path, bool exclusive);
  // Returns the new value of latest(), for wait_for(); 0: it is written already.
  std::uint32_t hand_over(staged_file&& finished);
  // The file grows in memory by `by` bytes; may wait for room in the buffer. False: there is no room, and the program
  // should continue it by itself.
  [[nodiscard]] bool may_grow(staged_file& open, std::size_t by);
  // From now on the file is written even if this process is killed. False: this cannot be guaranteed.
  [[nodiscard]] bool flush(staged_file& open);
  // Writes the content to its place, and makes its descriptor refer to the place: the program writes there by itself.
  // Throws lull::error if it cannot be written; then the file is unchanged.
  void give_to_program(staged_file& open);
  // Ends a file that is not handed over: the program has closed it, or it was never written.
  void drop(staged_file&& begun);

  // The progress of the files, without locks and memory, also for signal handlers. busy(): files begun and not yet
  // written; null: none can exist.
  [[nodiscard]] const std::atomic<std::uint32_t>* busy() const noexcept;
  [[nodiscard]] std::uint32_t latest() const noexcept;  // whole files handed over so far
  [[nodiscard]] std::uint32_t failed() const noexcept;  // of these
  // A failure that the program does not know yet; from now on it does.
  [[nodiscard]] bool takes_new_failure() noexcept;
  // The same of any process of the node, which goes on not to know.
  [[nodiscard]] bool has_failures() const noexcept;
  [[nodiscard]] bool is_written(std::uint32_t count) const noexcept;
  // Waits until `count` are written. False: the server is gone or has returned some, and see_to_files() must be called.
  [[nodiscard]] bool wait_for(std::uint32_t count) const noexcept;
  // Waits for the files that other processes of the node have handed over so far; `place`: only for those for this
  // place. False: one of them will not be written.
  [[nodiscard]] bool wait_for_others(const file_identity* place) const noexcept;
  // Completes, with locks and memory, what wait_for() could not.
  void see_to_files();

  // Hands over output that is already in memory, in any form, and applies the policy for a full buffer now. False: it
  // was dropped.
  [[nodiscard]] bool hand_over_as_it_is(staged_file&& finished);
  // Whether nothing that was handed over for this path is outstanding. With `wait`, waits for that.
  bool written(const std::string& final_path, bool wait);
  // One line for each output that could not be written since the last call; never waits.
  [[nodiscard]] std::vector<std::string> failures();
  // The program has written a file by itself since `begin_ns`; the table at the end of the run needs this. Waits for a
  // limited storage. Returns the duration in ns.
  std::int64_t wrote_itself(std::int64_t begin_ns, std::uint64_t bytes);
  // Files that several processes write together.
  [[nodiscard]] node_files& shared() const noexcept;
  // Further counts for the table at the end.
  void count(const other_files& others);
  // Waits until everything that was handed over is written. Throws lull::error if anything was not: the process should
  // end with a nonzero exit code.
  void leave();

 private:
  class state;
  explicit client(std::unique_ptr<state> own);
  std::unique_ptr<state> state_;
};

}  // namespace lull::stage
