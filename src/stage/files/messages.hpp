// The messages between clients and servers, independent of how they are transmitted.
#pragma once
#include <cstdint>
#include <string>

#include "stage/accounts/figures.hpp"
#include "stage/files/staged_file.hpp"
#include "stage/files/uplink.hpp"
#include "stage/files/write_order.hpp"
#include "stage/link/packet.hpp"

namespace lull::stage {

// The first value in each packet.
enum class message : std::uint32_t {
  hello,     // client or server: what the approach needs
  file,      // client: it hands a file over
  keep,      // client: it begins a file, whose place a keeper cleans up if the client dies
  flushed,   // client: a kept file must then be written
  release,   // client: a file is no longer kept
  leave,     // client: it leaves; with its figures
  remark,    // client: information for its server
  answer,    // server: the result for a file
  farewell,  // server: it has seen that the client leaves
};

// Reads the umask of this process, which takes some microseconds.
[[nodiscard]] packet file_message(message what, std::uint64_t number, const staged_file& file, const std::string& mark);
[[nodiscard]] packet kept_message(message what, std::uint64_t number);
[[nodiscard]] packet answer_message(const answer& reply);
[[nodiscard]] packet leave_message(const client_figures& mine);
[[nodiscard]] packet remark_message(remark what, std::uint64_t after);

// Call after the kind has been taken. The packets contain no descriptors. Throw lull::error if the packet is too short.
[[nodiscard]] write_order take_order(packet_reader& from);  // without client and content
[[nodiscard]] answer take_answer(packet_reader& from);
[[nodiscard]] client_figures take_figures(packet_reader& from);

}  // namespace lull::stage
