// Gives back the records that folder.hpp has folded, exactly, except that each life of a request has a handle of its own
// (signature.hpp), and that a status says what was posted where it means nothing. Damaged input never does more than end
// the records early.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/folding/bytes.hpp"
#include "trace/folding/history.hpp"
#include "trace/folding/signature_table.hpp"

namespace lull::trace::folding {

class expander {
 public:
  using pieces = std::vector<std::span<const std::uint8_t>>;
  using handles = std::unordered_map<std::uint64_t, std::uint64_t>;

  // The pieces must outlive it. `records`: how many there are; `given_up`: the library's handles of the requests that
  // the folder has given up (folder::take_given_up).
  expander(pieces structure, pieces times, std::uint64_t records, handles given_up);

  // Appends the next records, at least one. False: there are no more.
  bool next(std::vector<record>& to);
  [[nodiscard]] bool is_damaged() const { return damaged_; }

 private:
  struct posted {
    std::uint64_t handle = 0, bytes = 0;
    std::int32_t peer = 0, tag = 0;
  };

  bool read_token();
  bool read_signature();
  bool give(std::uint32_t number, bool with_values, std::vector<record>& to);
  bool give_as_they_are(std::vector<record>& to);
  [[nodiscard]] bool make(const part& p, const std::array<std::uint64_t, fields>& values, record& r);
  void post(const record& r);
  void prepare(const record& r, std::uint64_t slot);
  [[nodiscard]] std::uint64_t library_handle(std::uint64_t life) const;
  bool damage() {
    damaged_ = true;
    return false;
  }

  byte_reader structure_, times_;
  std::uint64_t left_;  // records
  handles given_up_;
  std::vector<known_signature> signatures_;
  history history_;
  std::uint64_t matched_ = 0;  // units as foreseen before the token's own
  unsigned token_ = 0;
  std::uint64_t as_they_are_ = 0;  // records
  std::uint64_t last_end_ = 0;
  std::uint64_t without_call_ = 0;  // units since the last call
  std::vector<posted> ring_, slots_;
  std::uint64_t posted_ = 0, prepared_ = 0;
  bool damaged_ = false;
};

}  // namespace lull::trace::folding
