// Which messages of a program are sent synchronously, so that the writer of GOAL can express both their ends: the send
// and the receive that takes it are each the k-th of the same sender, receiver, communicator and tag, as MPI matches
// them.
//
//   synchronous_sends known(program, ranks);      reads the program once
//   if (known.next(key)) ...                      in the order of sends, or of receives
//
// Memory: one number for each of these messages, and for each key that has any.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "netsim/program/program.hpp"

namespace lull::netsim {

class synchronous_sends {
 public:
  struct key {
    std::uint32_t from, to, group, tag;
    bool operator==(const key&) const = default;
  };

  // Longer sends ask in any case, and do not count.
  synchronous_sends(const program& of, std::uint32_t ranks, std::uint64_t longest);

  // Whether the next send, or the next receive, of the key is synchronous.
  [[nodiscard]] bool next_send(const key& of) { return is_next(of, &messages::sent); }
  [[nodiscard]] bool next_receive(const key& of) { return is_next(of, &messages::received); }

 private:
  struct hash {
    std::size_t operator()(const key& k) const {
      const std::uint64_t ends = std::uint64_t{k.from} << 32U | k.to, message = std::uint64_t{k.group} << 32U | k.tag;
      return std::hash<std::uint64_t>{}((ends * 0x9e3779b97f4a7c15U) ^ (message * 0xc2b2ae3d27d4eb4fU));
    }
  };
  struct place {
    std::uint64_t number = 0;  // of messages so far
    std::size_t next = 0;      // index in `numbers`
  };
  struct messages {
    std::vector<std::uint64_t> numbers;  // of the synchronous ones, in order
    place sent, received;
  };
  [[nodiscard]] bool is_next(const key& of, place messages::*end);

  std::unordered_map<key, messages, hash> all_;
};

}  // namespace lull::netsim
