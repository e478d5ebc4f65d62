// Sockets between processes of one node that keep the bounds of messages and pass descriptors. They have names that the
// kernel chooses and that no folder holds (abstract ones), and they talk to processes of the same user only.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "base/descriptor.hpp"

namespace lull::stage {

inline constexpr std::size_t largest_message = 16384;  // bytes

struct listening_socket {
  descriptor socket;
  std::string name;  // for connect_to(); may hold any bytes
};

[[nodiscard]] listening_socket listen_on_node(int connections);
[[nodiscard]] descriptor connect_to(const std::string& name);  // none: nobody listens any more
// The next connection of this user's, or none: there is none yet.
[[nodiscard]] descriptor accept_from(const descriptor& listening);

enum class transfer { done, would_block, gone };

inline constexpr std::size_t most_passed = 2;

// `passed`: descriptors that go with it. Safe in signal handlers.
[[nodiscard]] transfer send_message(const descriptor& to, std::span<const std::byte> message,
                                    std::span<const int> passed, bool wait);

struct socket_message {
  transfer state;
  std::span<const std::byte> bytes;                 // within the buffer that was given
  std::array<descriptor, most_passed> passed = {};  // fewer than were sent where the process has no more
};
[[nodiscard]] socket_message receive_message(const descriptor& from, std::span<std::byte> buffer, bool wait);

}  // namespace lull::stage
