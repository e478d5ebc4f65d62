// All signatures of a log, by number in order of their first use, and by content. A field that is often foreseen wrongly,
// or that makes ever new signatures, becomes varying for its group: the signatures that differ only in values.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "trace/folding/column.hpp"
#include "trace/folding/signature.hpp"

namespace lull::trace::folding {

// A record as it is foreseen, and which bits of it count. A comparison is a few instructions on vectors of 16 bytes,
// which all machines have.
struct pattern {
  words expected = {}, counts = {};
  [[nodiscard]] bool fits(const record& r) const {
    using pair = std::uint64_t __attribute__((vector_size(16)));
    pair came[2], wanted[2], mask[2];  // NOLINT(modernize-avoid-c-arrays)
    std::memcpy(came, &r, sizeof came);
    std::memcpy(wanted, &expected, sizeof wanted);
    std::memcpy(mask, &counts, sizeof mask);
    const pair different = ((came[0] ^ wanted[0]) & mask[0]) | ((came[1] ^ wanted[1]) & mask[1]);
    return (different[0] | different[1]) == 0;
  }
};

struct varying_field {
  std::uint8_t part, of;
  column values = {};
};

// A signature, and what folding needs of it for each record, first what is read most often.
struct alignas(64) known_signature {
  explicit known_signature(const signature& s);

  std::array<pattern, 2> records;
  std::uint8_t count;
  bool is_call;           // the first record begins a call
  bool posts = false;     // the last record posts a request
  bool has_name = false;  // the last record is about a request, or gives it a slot
  bool is_name_varying = false;
  bool ends_by_age = false;  // what mostly happens to requests
  std::uint32_t group = 0;
  signature means;
  std::vector<varying_field> varying;
};

class signature_table {
 public:
  // Then the folder begins anew.
  [[nodiscard]] bool is_full() const { return all_.size() + 2 * columns_ >= 8192; }

  [[nodiscard]] known_signature& operator[](std::uint32_t number) { return all_[number]; }
  [[nodiscard]] known_signature* data() { return all_.data(); }

  // What is common to the group is varying in `s` afterwards. `now`: the number of units so far.
  struct found {
    std::uint32_t number;
    bool is_new;
  };
  [[nodiscard]] found find(signature& s, std::uint64_t now);
  // `s` came, where a signature was foreseen that may be of the same group.
  void foreseen_wrongly(std::uint32_t foreseen, const signature& s, std::uint64_t now);
  void clear();

  [[nodiscard]] std::size_t memory() const;

 private:
  struct group {
    std::array<std::uint8_t, 2> varying = {};
    std::array<std::array<std::uint32_t, fields>, 2> wrong = {};
    std::uint64_t wrong_since = 0, made_since = 0;
    std::vector<std::uint32_t> members = {};
  };
  struct hash_of {
    std::size_t operator()(const signature& s) const;
  };

  std::uint32_t group_of(const signature& s);
  void widen_most_different(group& g);

  std::vector<known_signature> all_;
  std::size_t columns_ = 0;
  std::unordered_map<signature, std::uint32_t, hash_of> numbers_, group_numbers_;
  std::vector<group> groups_;
};

// The fields of a part that may become varying.
[[nodiscard]] std::uint8_t can_vary(const part& p);

}  // namespace lull::trace::folding
