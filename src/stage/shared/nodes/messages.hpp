// Between the home and the other nodes. Entries have the numbers of their own nodes, files those of the home.
//
//   to the home                              from the home
//   join     entry, inode, path              answer   entry, value, error
//   leave    file                            ordered  entry, may_begin, error, its number here
//   write    entry, file, range, pieces      begin    entry
//   set_size entry, file, size               hurry    entry, and all before it
//   wait     entry, file, range
//   ask_size, look_at_size  entry, file
//   announce entry, file                     pending  announcement, inode, path
//   known    announcement, whether it is     written  announcement
//   done     entry, error
//   farewell
//
// Both begin with hello: only over a connection does one notice the end of the other.
#pragma once
#include <cstdint>
#include <functional>

#include "stage/link/packet.hpp"

namespace lull::stage {

enum class to_home : std::uint32_t {
  join,
  leave,
  write,
  set_size,
  wait,
  ask_size,
  look_at_size,
  announce,
  known,
  done,
  hello,
  farewell
};
enum class from_home : std::uint32_t { answer, ordered, begin, hurry, pending, written, hello };

inline constexpr int home_node = 0;

// To a node, by its number. Messages arrive in the order in which they are sent.
using send_function = std::function<void(int node, packet text)>;

}  // namespace lull::stage
