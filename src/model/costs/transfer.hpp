// The cost of a message by its size, in terms of LogGP, and how its parameters are fitted to observations: pure
// functions.
//
// A message of b bytes belongs to the last piece that begins at or below b; smaller ones belong to the first piece. A
// single message takes
//   send + latency + receive + b · alone_per_byte
// and each further one of a stream adds gap + b · per_byte. Its sender spends send + b · send_per_byte on it, its
// receiver's process receive + b · receive_per_byte. In Alexandrov et al., LogGP (1995), G is both per_byte and
// alone_per_byte, and the overheads have no slope. See docs/explanation/the-model.md.
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
// From the sender's call until the receiver has the message.
[[nodiscard]] double one_way_ns(const transfer_pieces& pieces, double bytes);
// For `messages` of one size in a row, until the receiver has the last.
[[nodiscard]] double stream_ns(const transfer_pieces& pieces, double bytes, double messages);
// CPU time of the sender and of the receiver for one message.
[[nodiscard]] double send_cpu_ns(const transfer_pieces& pieces, double bytes);
[[nodiscard]] double receive_cpu_ns(const transfer_pieces& pieces, double bytes);

// Observation for messages of one size, in ns per message.
struct transfer_observation {
  double bytes = 0;
  double one_way_ns = 0;  // half of a round trip
  double send_ns = 0;     // in the sending call, which returns at once
  double receive_ns = 0;  // CPU time of the receiving process
  double gap_ns = 0;      // added by each further message of a stream
};

struct fitted_piece {
  double from_bytes = 0;
  transfer_terms terms, low, high;  // of the medians; quartiles over the fits of single rounds
  double worst_error = 0;           // of a median at one size, as a share of it
};

// `rounds` have the same sizes, ascending; at least one round and one size. With fewer than six sizes the result is one
// piece.
[[nodiscard]] std::vector<fitted_piece> fit_transfer(std::span<const std::vector<transfer_observation>> rounds,
                                                     std::size_t most_pieces = 4);

}  // namespace lull::model
