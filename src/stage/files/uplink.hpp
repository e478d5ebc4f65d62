// What differs between approaches on a client: how what it hands over gets to its server, and the server's answers back.
// The client (client.cpp) decides all the rest.
#pragma once
#include <cstdint>
#include <string>
#include <variant>

#include "stage/accounts/figures.hpp"
#include "stage/files/staged_file.hpp"

namespace lull::stage {

// What has become of a file, by the number under which it was handed over.
struct answer {
  // Not taken: its client should write it. Taken back: it was not taken, and this process has written it already.
  enum class outcome { written, failed, not_taken, taken_back };
  std::uint64_t number;
  outcome what;
  std::string why;  // of a failure: one line
};
struct nothing_yet {};
struct server_gone {};
using received = std::variant<nothing_yet, answer, server_gone>;

// What a server should know of a client beside what that hands over.
enum class remark : std::uint32_t {
  waits,  // for the first of what it has handed over
  ends,   // it hands nothing over any more
};

class uplink {
 public:
  uplink() = default;
  virtual ~uplink() = default;  // without leave(): the server sees a client that died
  uplink(const uplink&) = delete;
  uplink& operator=(const uplink&) = delete;

  // The file stays as it is until its answer has come. False: it could not be handed over, and no answer will come; if
  // that is because the server is gone, receive() will say so.
  [[nodiscard]] virtual bool hand_over(std::uint64_t number, const staged_file& file, const std::string& mark) = 0;
  // `after`: so many have been handed over before; it waits for these.
  virtual void say(remark what, std::uint64_t after) = 0;
  // Sleeps until there is something if so asked. After server_gone always that.
  [[nodiscard]] virtual received receive(bool wait) = 0;
  // If this process dies, what has been created for the file goes away, and what it holds is written once it has been flushed,
  // until it is released. `number`: the file's own, staged_file::kept. False: that cannot be promised.
  [[nodiscard]] virtual bool keep(std::uint64_t number, const staged_file& file, const std::string& mark) = 0;
  [[nodiscard]] virtual bool flushed(std::uint64_t number) = 0;
  virtual void release(std::uint64_t number) = 0;
  // No answer will come any more. Safe in signal handlers.
  [[nodiscard]] virtual bool is_gone() const noexcept = 0;
  virtual void leave(const client_figures& mine) = 0;
};

}  // namespace lull::stage
