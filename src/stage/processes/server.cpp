#include "stage/processes/server.hpp"

#include "base/clock.hpp"
#include "stage/approaches/approach.hpp"
#include "stage/processes/joint_account.hpp"

namespace lull::stage {

int serve(const plan& wanted, const roles& all, exchange& others) {
  const std::int64_t begin_ns = now_ns(), begin_cpu_ns = process_cpu_ns();
  joint_account account(all, others);
  const storage_limit storage(wanted.storage_bytes_per_s, wanted.storage_writers, others);
  served done = row_of(wanted.how).serve(wanted, all, others, progress::of_node(others), storage);
  done.own.processes = 1;
  done.own.wall_ns = now_ns() - begin_ns;
  done.own.cpu_ns = process_cpu_ns() - begin_cpu_ns;
  account.close(wanted, {done.clients, done.own, account.nodes()});
  return done.own.failed == 0 ? 0 : 1;
}

}  // namespace lull::stage
