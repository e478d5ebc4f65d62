// What a message costs by its size, in the terms of LogGP, and how these are found from what was observed: pure functions.
//
// A message of b bytes belongs to the last piece that begins at or below b, the first piece for smaller ones. Alone it takes
//   send + latency + receive + b · alone_per_byte
// and each further one of a stream adds gap + b · per_byte. Its sender spends send + b · send_per_byte on it, its receiver's process
// receive + b · receive_per_byte. Alexandrov et al., LogGP (1995), where G is both per_byte and alone_per_byte, and the overheads have
// no slope. See docs/explanation/the-model.md.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace lull::model {

struct transfer_terms {
  double latency_ns = 0, send_ns = 0, receive_ns = 0, gap_ns = 0;
  double ns_per_byte = 0, alone_ns_per_byte = 0, send_ns_per_byte = 0, receive_ns_per_byte = 0;
};

struct transfer_piece {
  double from_bytes = 0;
  transfer_terms terms;
};
using transfer_pieces = std::vector<transfer_piece>;  // ascending, at least one

[[nodiscard]] const transfer_terms& terms_of(const transfer_pieces& pieces, double bytes);
// From the call of the sender to the moment at which the receiver knows.
[[nodiscard]] double one_way_ns(const transfer_pieces& pieces, double bytes);
// Of `messages` of one size, one after the other, until the receiver knows of the last.
[[nodiscard]] double stream_ns(const transfer_pieces& pieces, double bytes, double messages);
// Of the sender's and the receiver's cores, for one message.
[[nodiscard]] double send_cpu_ns(const transfer_pieces& pieces, double bytes);
[[nodiscard]] double receive_cpu_ns(const transfer_pieces& pieces, double bytes);

// What was observed of messages of one size, ns for each.
struct transfer_observation {
  double bytes = 0;
  double one_way_ns = 0;  // half of a round trip
  double send_ns = 0;     // in the call that sends it, and returns at once
  double receive_ns = 0;  // CPU time of the receiver's process
  double gap_ns = 0;      // what it adds to a longer stream
};

struct fitted_piece {
  double from_bytes = 0;
  transfer_terms terms, low, high;  // of the medians; quartiles of the terms of the single rounds
  double worst_error = 0;           // of a median at one size, a share of it
};

// `rounds` have the same sizes, ascending; there is at least one round, and one size. One piece where there are fewer than six sizes.
[[nodiscard]] std::vector<fitted_piece> fit_transfer(std::span<const std::vector<transfer_observation>> rounds,
                                                     std::size_t most_pieces = 4);

}  // namespace lull::model
