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
// what it was handed. A file has its final name only when it is whole.
//
// Calls from several threads wait for each other.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stage/exchange.hpp"
#include "stage/plan.hpp"
#include "stage/roles.hpp"
#include "stage/staged_file.hpp"

namespace lull::stage {

class client {
 public:
  // Collective over all processes. Throws lull::error when the server cannot be reached.
  [[nodiscard]] static std::unique_ptr<client> join(const plan& wanted, const roles& all, exchange& others);
  ~client();  // without leave(): as if the process had died
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  // `exclusive`: an existing file must not be replaced. May wait for room in the buffer.
  [[nodiscard]] std::optional<staged_file> begin_file(const std::string& final_path, bool exclusive);
  void hand_over(staged_file&& finished);
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
  // Waits until all that was handed over is written. Throws lull::error when anything was not: the process should end
  // with an exit code other than 0.
  void leave();

 private:
  class state;
  explicit client(std::unique_ptr<state> own);
  std::unique_ptr<state> state_;
};

}  // namespace lull::stage
