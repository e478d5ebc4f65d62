// One table for all servers of a node: the first of them prints what the output of all their clients has cost.
//
// meet → (the run) → close. The servers of a node are connected from the start; when one dies, the others see it.
#pragma once
#include <vector>

#include "base/descriptor.hpp"
#include "stage/exchange.hpp"
#include "stage/figures.hpp"
#include "stage/plan.hpp"
#include "stage/roles.hpp"

namespace lull::stage {

class joint_account {
 public:
  // Collective over all processes: servers construct one, clients call let_servers_meet().
  joint_account(const roles& all, exchange& others);
  static void let_servers_meet(exchange& others);

  // The first server of a node waits for the others and prints the table on stderr; the others tell it theirs, and wait until
  // it has. When it dies meanwhile, they print their own.
  void close(const plan& how, client_figures clients, server_figures server) const;

 private:
  descriptor first_;                // to the first server of the node; none: it is this one
  std::vector<descriptor> others_;  // of the node, at the first
};

}  // namespace lull::stage
