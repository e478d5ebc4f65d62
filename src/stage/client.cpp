#include "stage/client.hpp"

#include "base/error.hpp"

namespace lull::stage {

class client::state {};

std::unique_ptr<client> client::join(const plan& wanted, const roles& all, exchange& others) {
  if (all.server_of(others.rank()) != no_server)
    throw usage_error("write output by " + name_of(wanted), "this is not there yet");
  return std::unique_ptr<client>(new client(std::make_unique<state>()));
}

client::client(std::unique_ptr<state> own) : state_(std::move(own)) {}
client::~client() = default;
std::optional<staged_file> client::begin_file(const std::string&, bool) { return std::nullopt; }
void client::hand_over(staged_file&&) {}
bool client::written(const std::string&, bool) { return true; }
std::vector<std::string> client::failures() { return {}; }
void client::wrote_itself(std::int64_t, std::uint64_t) {}
void client::leave() {}

}  // namespace lull::stage
