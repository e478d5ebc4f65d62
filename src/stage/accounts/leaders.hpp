// The first server of each node tells the first of all what its node's output has cost.
//
// They are connected from the start, over the network; when one dies, the others see it when they close.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "stage/accounts/figures.hpp"
#include "stage/link/exchange.hpp"
#include "stage/link/post.hpp"

namespace lull::stage {

class leaders final : post_handler {
 public:
  // Collective over all processes: leaders, ascending, construct one, the others call let_them_meet().
  leaders(const std::vector<int>& ranks, exchange& others);
  ~leaders();
  static void let_them_meet(exchange& others);

  // At the first: those of all nodes, when all others have told theirs or died. Elsewhere nothing, when the first has them;
  // if that has died, the node's own.
  [[nodiscard]] std::optional<job_figures> add_up(const job_figures& of_node);

 private:
  struct subset;
  struct other {
    bool heard_of = false, gone = false, closed = false;
  };

  void packet_from(int from, packet_reader text) override;
  void content_from(int, std::uint64_t, const transport::incoming&) override {}  // nobody sends any
  void lost(int peer) override;
  template <class Condition>
  void await(const Condition& holds);  // of each other with which this one talks

  std::unique_ptr<subset> members_;
  std::map<int, other> others_;  // by its place among the leaders: with whom this one talks
  job_figures sum_;
  post post_;
};

}  // namespace lull::stage
