// What clients and servers tell each other, however it gets from one to the other.
#pragma once
#include <cstdint>
#include <string>

#include "stage/accounts/figures.hpp"
#include "stage/files/staged_file.hpp"
#include "stage/files/uplink.hpp"
#include "stage/files/write_order.hpp"
#include "stage/link/packet.hpp"

namespace lull::stage {

// The first thing in each packet.
enum class message : std::uint32_t {
  hello,     // client or server: what each way needs of it
  file,      // client: a file that it hands over
  keep,      // client: a file that it begins, whose place is its keeper's business if the client dies
  flushed,   // client: a file that is kept is to be written then
  release,   // client: a file is kept no longer
  leave,     // client: its figures
  remark,    // client: what its server should know of it
  answer,    // server: what has become of a file
  farewell,  // server: it has seen that the client leaves
};

// Reads the umask of this process; some microseconds.
[[nodiscard]] packet file_message(message what, std::uint64_t number, const staged_file& file, const std::string& mark);
[[nodiscard]] packet kept_message(message what, std::uint64_t number);
[[nodiscard]] packet answer_message(const answer& told);
[[nodiscard]] packet leave_message(const client_figures& mine);
[[nodiscard]] packet remark_message(remark what, std::uint64_t after);

// After the kind has been taken, without descriptors. Throw lull::error where the packet is too short.
[[nodiscard]] write_order take_order(packet_reader& from);  // without client and content
[[nodiscard]] answer take_answer(packet_reader& from);
[[nodiscard]] client_figures take_figures(packet_reader& from);

}  // namespace lull::stage
