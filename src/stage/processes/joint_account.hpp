// One table for all servers of a job: the first of them prints the cost of the output of all clients.
//
// constructor or let_servers_meet() → (the run) → close(). The servers of a node are connected from the start, and so
// are the first servers of the nodes; when one dies, the others notice.
#pragma once
#include <memory>
#include <vector>

#include "base/descriptor.hpp"
#include "stage/accounts/figures.hpp"
#include "stage/accounts/leaders.hpp"
#include "stage/accounts/plan.hpp"
#include "stage/approaches/roles.hpp"
#include "stage/link/exchange.hpp"

namespace lull::stage {

class joint_account {
 public:
  // Collective over all processes: servers construct one, clients call let_servers_meet().
  joint_account(const roles& all, exchange& others);
  static void let_servers_meet(const roles& all, exchange& others);

  // The first server of a node waits for the others of its node, and the first of all for those of the other nodes; it
  // reports the figures of the run (figures.hpp). The others send theirs and wait until these have arrived. If the
  // first server dies, they report their own.
  void close(const plan& how, const job_figures& mine);
  [[nodiscard]] int nodes() const { return nodes_; }  // of the job

 private:
  int nodes_;
  descriptor first_;                      // to the first server of the node; empty on that one
  std::vector<descriptor> others_;        // on the first server: to the others of the node
  std::unique_ptr<leaders> other_nodes_;  // on the first server, if other nodes have servers
};

}  // namespace lull::stage
