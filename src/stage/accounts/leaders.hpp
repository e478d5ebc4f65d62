// The first servers of all nodes, which send the figures of their nodes to the first of them.
//
// They are connected over the network from the start. When one dies, close() of the others notices it.
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
  // Collective over all processes: leaders (ascending ranks) construct one, all others call let_them_meet().
  leaders(const std::vector<int>& ranks, exchange& others);
  ~leaders();
  static void let_them_meet(exchange& others);

  // On the first leader: the sum over all nodes, once every other leader has sent its figures or died. On the others:
  // nothing once the first has their figures; the node's own if the first has died.
  [[nodiscard]] std::optional<job_figures> add_up(const job_figures& of_node);

 private:
  struct subset;
  struct other {
    bool heard_of = false, gone = false, closed = false;
  };

  void packet_from(int from, packet_reader text) override;
  void content_from(int, std::uint64_t, const transport::incoming&) override {}  // none is ever sent
  void lost(int peer) override;
  template <class Condition>
  void await(const Condition& holds);  // for each leader with which this one communicates

  std::unique_ptr<subset> members_;
  std::map<int, other> others_;  // by place among the leaders: those with which this one communicates
  job_figures sum_;
  post post_;
};

}  // namespace lull::stage
