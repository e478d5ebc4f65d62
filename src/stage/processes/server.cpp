#include "stage/processes/server.hpp"

#include <optional>

#include "base/clock.hpp"
#include "stage/approaches/approach.hpp"
#include "stage/processes/joint_account.hpp"
#include "stage/shared/checks/verification.hpp"
#include "stage/shared/nodes/node_link.hpp"
#include "stage/shared/piece_writer.hpp"

namespace lull::stage {

int serve(const plan& wanted, const roles& all, exchange& others) {
  const std::int64_t begin_ns = now_ns(), begin_cpu_ns = process_cpu_ns();
  joint_account account(all, others);
  const storage_limit storage(wanted.storage_bytes_per_s, wanted.storage_writers, others);
  const auto of_node = progress::of_node(others);
  const auto [files, link] = share_output(wanted, all, others, storage);
  if (files && of_node) files->count_busy_in(&of_node->busy());
  std::optional<server_thread> pieces;
  if (files) pieces.emplace(files, files->position(), storage);
  served done = row_of(wanted.how).serve(wanted, all, others, of_node, storage);
  if (link) link->finish();
  if (pieces) done.own += pieces->finish();
  done.own.processes = 1;
  done.own.wall_ns = now_ns() - begin_ns;
  done.own.cpu_ns = process_cpu_ns() - begin_cpu_ns;
  account.close(wanted, {done.clients, done.own, account.nodes()});
  const bool verifies = !wanted.verify_in.empty() && all.is_first_server(others.rank());
  const bool is_right = !verifies || report(verify(wanted.verify_in, all.served_clients()));
  return done.own.failed == 0 && is_right ? 0 : 1;
}

}  // namespace lull::stage
