#include "stage/link/job_exchange.hpp"

#include "job/members.hpp"

namespace lull::stage {

job_exchange::job_exchange(job::bootstrap& boot) : boot_(boot) {
  job::members members(boot);
  (void)members.exchange({});
  node_ = std::to_string(members.places().my_node().index());
}

std::vector<std::vector<std::byte>> job_exchange::all(std::span<const std::byte> mine) {
  if (size() == 1) return {{mine.begin(), mine.end()}};
  const std::string key = "lull.stage." + std::to_string(calls_++);
  boot_.publish(key, mine);
  boot_.fence();
  std::vector<std::vector<std::byte>> messages;
  messages.reserve(static_cast<std::size_t>(size()));
  for (int process = 0; process < size(); ++process) messages.push_back(boot_.lookup(key, pe_id{process}));
  return messages;
}

}  // namespace lull::stage
