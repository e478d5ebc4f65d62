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
  job::published now(boot_, key, mine);
  std::vector<std::vector<std::byte>> messages;
  messages.reserve(static_cast<std::size_t>(size()));
  for (int process = 0; process < size(); ++process) {
    const auto message = now.of(pe_id{process});
    messages.emplace_back(message.begin(), message.end());
  }
  last_ = std::move(now);  // the others may still read it until they come to the next call
  return messages;
}

}  // namespace lull::stage
