// The exchange of a server process with all others, through the rank for which it serves, because it is not a process
// of the job itself.
//
//   rank                                            server process
//   relay(socket, all, nodes) answers, until the    relayed_exchange all(socket);
//   other sends its exit code or is gone            say_exit_code(socket, serve(…, all)), which calls all.one_more()
//
// Each message is its length, 8 bytes, and the bytes.
#pragma once
#include <optional>

#include "stage/link/exchange.hpp"

namespace lull::stage {

// Returns the exit code; nothing if the process was killed. If that was before the end of the exchange, which is an
// agreed_exchange, all processes have failed together.
[[nodiscard]] std::optional<int> relay(int socket, exchange& all, std::span<const std::string> nodes_by_rank);

// After one_more() the rank may be killed at any time: clients may learn that the last call is over, hand files over
// and die before this process learns it.
class relayed_exchange final : public exchange {
 public:
  explicit relayed_exchange(int socket);  // throws lull::error if the rank is gone

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::string node() const override { return nodes_[static_cast<std::size_t>(rank_)]; }
  [[nodiscard]] std::span<const std::string> nodes_by_rank() const { return nodes_; }
  [[nodiscard]] std::vector<std::vector<std::byte>> all(std::span<const std::byte> mine) override;
  void one_more() override;

 private:
  int socket_;
  int rank_ = 0;
  int size_ = 0;
  bool is_last_ = false;
  std::vector<std::string> nodes_;
};

void say_exit_code(int socket, int code);

}  // namespace lull::stage
