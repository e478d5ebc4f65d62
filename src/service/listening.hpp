// The two sockets of the service, and who is at the other end of a connection.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/descriptor.hpp"
#include "service/rights.hpp"

namespace lull::service {

struct sockets {
  descriptor of_users;      // FOLDER/meter, which everybody may connect to
  descriptor of_scheduler;  // FOLDER/accounts, mode 0600
  bool are_given = false;   // systemd holds them, and keeps messages while the service is restarted
};

// Those that systemd passes (LISTEN_FDS), recognised by their paths, or new ones in `folder`, in place of what a service
// that was killed has left there. Throws lull::error, also if another service answers there.
[[nodiscard]] sockets open_sockets(const std::string& folder);
// Removes the paths of sockets that were created here.
void remove_sockets(const sockets& s, const std::string& folder);

// As the kernel names it, at the time of connect(); no value if it does not. `group` is the administrators'.
[[nodiscard]] std::optional<peer> peer_of(int connection, std::optional<std::int64_t> group);

}  // namespace lull::service
