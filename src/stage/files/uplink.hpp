// The part of a client that depends on the approach: how its output gets to its server, and the server's answers back.
// The client (client.cpp) decides everything else.
#pragma once
#include <cstdint>
#include <string>
#include <variant>

#include "stage/accounts/figures.hpp"
#include "stage/files/staged_file.hpp"

namespace lull::stage {

// The result for a file, by the number under which it was handed over.
struct answer {
  // not_taken: the client must write it. taken_back: it was not taken, and this process has already written it.
  enum class outcome { written, failed, not_taken, taken_back };
  std::uint64_t number;
  outcome what;
  std::string why;  // reason of a failure: one line
};
struct nothing_yet {};
struct server_gone {};
using received = std::variant<nothing_yet, answer, server_gone>;

// Information about a client for its server, apart from files.
enum class remark : std::uint32_t {
  waits,  // for the first files that it has handed over
  ends,   // it hands nothing over any more
};

class uplink {
 public:
  uplink() = default;
  virtual ~uplink() = default;  // without leave(): to the server, the client has died
  uplink(const uplink&) = delete;
  uplink& operator=(const uplink&) = delete;

  // The file must not change until its answer has come. False: it could not be handed over, and no answer will come; if
  // the server is gone, receive() reports it.
  [[nodiscard]] virtual bool hand_over(std::uint64_t number, const staged_file& file, const std::string& mark) = 0;
  // `after`: the number of files handed over before; with `waits`, the client waits for these.
  virtual void say(remark what, std::uint64_t after) = 0;
  // With `wait`, sleeps until there is a result. After server_gone it always returns that.
  [[nodiscard]] virtual received receive(bool wait) = 0;
  // If this process dies, the file that was created is removed or, once flushed, written with its content, until it is
  // released. `number`: the file's own, staged_file::kept. False: this cannot be guaranteed.
  [[nodiscard]] virtual bool keep(std::uint64_t number, const staged_file& file, const std::string& mark) = 0;
  [[nodiscard]] virtual bool flushed(std::uint64_t number) = 0;
  virtual void release(std::uint64_t number) = 0;
  // Whether no answer will come any more. Safe in signal handlers.
  [[nodiscard]] virtual bool is_gone() const noexcept = 0;
  virtual void leave(const client_figures& mine) = 0;
};

}  // namespace lull::stage
