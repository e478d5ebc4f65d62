// Sockets between processes of one node that preserve message boundaries and pass descriptors. Their names are abstract
// (chosen by the kernel, in no folder), and they only accept processes of the same user.
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
[[nodiscard]] descriptor connect_to(const std::string& name);  // empty: no process listens any more
// The next connection from a process of this user; empty: there is none yet.
[[nodiscard]] descriptor accept_from(const descriptor& listening);

enum class transfer { done, would_block, gone };

inline constexpr std::size_t most_passed = 2;

// `passed`: descriptors that accompany the message. Safe in signal handlers.
[[nodiscard]] transfer send_message(const descriptor& to, std::span<const std::byte> message,
                                    std::span<const int> passed, bool wait);

struct socket_message {
  transfer state;
  std::span<const std::byte> bytes;                 // within `buffer`
  std::array<descriptor, most_passed> passed = {};  // fewer than were sent if this process is out of descriptors
};
[[nodiscard]] socket_message receive_message(const descriptor& from, std::span<std::byte> buffer, bool wait);

}  // namespace lull::stage
