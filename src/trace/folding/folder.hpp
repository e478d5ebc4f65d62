// Folds the records of one thread while it runs: what repeats needs no byte, however often it comes. expander.hpp gives
// the records back.
//
//   folder f;
//   const std::size_t taken = f.fold(window, false);   // the last record may stay: the next may belong to its call
//   write f.structure() and f.times() behind what came before, and f.take_given_up() beside them; f.clear_output();
//
// The structure is a sequence of numbers. Each token says how many units (signature.hpp) came as foreseen
// (history.hpp), and which came then:
//
//   count << 2 | 0, number       signature `number`; the next unused number is defined behind it
//   count << 2 | 1               the foreseen signature, with other values
//   count << 2 | 2               what came instead last time (history::turn)
//   count << 2 | 3, n            n > 0: n records as they are; 0: signatures and history are forgotten
//
// After the first three come the values of the fields that vary, as differences from what column.hpp foresees. Units
// that came as foreseen since the last token are in no token yet: records() says how far the log goes.
//
// Where more than half of the signatures in a window are not foreseen, the next windows are taken as they are, and cost
// little.
//
// Memory is bounded by some 4 MB, and is some 100 KB for a regular program. std::bad_alloc may be thrown: this folder
// is of no use any more then, and its output is not valid from the last clear_output() on.
#pragma once
#include <cstdint>
#include <span>

#include "trace/folding/bytes.hpp"
#include "trace/folding/history.hpp"
#include "trace/folding/requests.hpp"
#include "trace/folding/signature_table.hpp"

namespace lull::trace::folding {

class folder {
 public:
  folder() = default;
  // From now on, requests are named by the library's handles: other threads may complete them.
  void name_by_handles();
  // Returns how many records were taken: all if `is_last`, else perhaps one less.
  std::size_t fold(std::span<const record> window, bool is_last);

  [[nodiscard]] const bytes& structure() const { return structure_; }
  [[nodiscard]] std::span<const std::uint8_t> times() const { return {times_.data(), times_used_}; }
  void clear_output() {
    structure_.clear();
    times_used_ = 0;
  }
  // Requests whose handles the log must name by the library's (requests.hpp), also for what was folded before.
  [[nodiscard]] requests::lives take_given_up() { return requests_.take_given_up(); }
  // Those that are open now.
  [[nodiscard]] requests::lives open_requests() const { return requests_.open(); }

  [[nodiscard]] std::uint64_t records() const { return records_; }    // folded so far
  [[nodiscard]] std::uint64_t foreseen() const { return foreseen_; }  // units
  [[nodiscard]] std::uint64_t units() const { return units_; }
  [[nodiscard]] std::size_t memory() const;

 private:
  [[nodiscard]] std::size_t follow(std::span<const record> window, std::size_t begin);
  bool take(std::span<const record> unit);
  [[nodiscard]] bool take_values(known_signature& s, const record* unit);
  [[nodiscard]] bool looks_like(const known_signature& s, std::span<const record> unit);
  [[nodiscard]] bool is_name_right(const known_signature& s, const record& r);
  [[nodiscard]] bool are_values_foreseen(const known_signature& s, const record* unit);
  [[nodiscard]] std::uint64_t value(const part& p, const record& r, std::size_t of);
  [[nodiscard]] bool describe(std::span<const record> unit, signature& made);
  void put_values(known_signature& s, std::span<const record> unit);
  void put_definition(const signature& s);
  void came(known_signature& s, std::span<const record> unit);
  void note_request(const known_signature& s, const record& r);
  void put_token(unsigned what);
  void put_as_they_are(std::span<const record> records);
  void begin_anew();
  void judge(std::size_t units, std::size_t wrong);

  signature_table signatures_;
  history history_;
  requests requests_;
  bool by_handles_ = false;
  bytes structure_, times_;
  std::size_t times_used_ = 0;
  std::uint64_t last_end_ = 0;
  std::uint64_t matched_ = 0;  // units as foreseen since the last token
  std::uint64_t records_ = 0, foreseen_ = 0, units_ = 0;
  std::uint64_t plain_windows_ = 0, next_plain_windows_ = 4;  // to take as they are: left, and at the next time
};

}  // namespace lull::trace::folding
