// What a process of the simulation does with its output.
//
//   join()        all processes: clients join(), servers serve()
//   begin_file()  gives a file in memory to write into, or nothing: then the program writes the file itself, as if there
//                 were no client. That is so without servers, when the server is gone, when the buffer is full and the
//                 policy says so, and for all that is not a plain file which may be created or replaced: the program meets
//                 its error itself.
//   hand_over()   the finished file; returns before it is written
//   leave()       once, at the end
//
// The client keeps what it has handed over until its server has written it. When the server dies, the next call writes
// the outstanding files, in their order, and from then on begin_file() gives nothing. When the client dies, its server writes
// what it was handed. A file has its name from begin_file() on, as in a plain run, and its content when that is whole.
//
// Calls from several threads wait for each other.
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

namespace lull::stage {

class client {
 public:
  // Collective over all processes. Throws lull::error when the server cannot be reached.
  [[nodiscard]] static std::unique_ptr<client> join(const plan& wanted, const roles& all, exchange& others);
  ~client();  // without leave(): as if the process had died
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  // `exclusive`: an existing file must not be replaced. May wait for room in the buffer. The file has its name from now on.
  [[nodiscard]] std::optional<staged_file> begin_file(const std::string& final_path, bool exclusive);
  // What latest() is then, for wait_for(); 0: it is written already.
  std::uint32_t hand_over(staged_file&& finished);
  // The file grows in memory by so many bytes; may wait for room in the buffer. False: there is no room, and the program
  // should go on with it by itself.
  [[nodiscard]] bool may_grow(staged_file& open, std::size_t by);
  // From now on the file is written even if this process is killed. False: that cannot be promised.
  [[nodiscard]] bool flush(staged_file& open);
  // What the file holds goes to its place, and its descriptor becomes that of the place: the program writes there by itself.
  // Throws lull::error where it cannot be written; then the file is as before.
  void give_to_program(staged_file& open);
  // Of a file that is not handed over: the program has closed it, or it has never been written.
  void drop(staged_file&& begun);

  // How far the files are, without lock and memory, for signal handlers too.
  [[nodiscard]] const std::atomic<std::uint32_t>* busy()
      const noexcept;                                   // files begun and not written; null: none ever
  [[nodiscard]] std::uint32_t latest() const noexcept;  // whole files handed over by now
  [[nodiscard]] std::uint32_t failed() const noexcept;  // of these
  // A failure that the program does not know yet; from now on it does.
  [[nodiscard]] bool meets_failure() noexcept;
  // The same of any process of the node, which goes on not to know.
  [[nodiscard]] bool has_failures() const noexcept;
  [[nodiscard]] bool is_written(std::uint32_t count) const noexcept;
  // Waits until so many are written. False: the server is gone or has given some back, and see_to_files() has to be called.
  [[nodiscard]] bool wait_for(std::uint32_t count) const noexcept;
  // Waits for the files that other processes of the node have handed over by now; `place`: for those that go there. False: one of
  // them will not be written.
  [[nodiscard]] bool wait_for_others(const file_identity* place) const noexcept;
  // With locks and memory: does what wait_for() could not.
  void see_to_files();

  // The same for output that is in memory already, in whatever form: what is done when the buffer is full is done now. False: it
  // was dropped.
  [[nodiscard]] bool hand_over_as_it_is(staged_file&& finished);
  // Whether nothing that was handed over for this path is outstanding; waits for it if so asked.
  bool written(const std::string& final_path, bool wait);
  // What could not be written, one line each, since this was last asked; never waits.
  [[nodiscard]] std::vector<std::string> failures();
  // The program has written a file by itself, since `begin_ns`: what the table at the end of the run cannot know otherwise.
  // Waits for a storage that is limited. How long it took, in ns.
  std::int64_t wrote_itself(std::int64_t begin_ns, std::uint64_t bytes);
  // What the table at the end says beside what the client knows.
  void count(const other_files& others);
  // Waits until all that was handed over is written. Throws lull::error when anything was not: the process should end
  // with an exit code other than 0.
  void leave();

 private:
  class state;
  explicit client(std::unique_ptr<state> own);
  std::unique_ptr<state> state_;
};

}  // namespace lull::stage
