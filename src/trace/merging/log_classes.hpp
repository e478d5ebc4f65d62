// Folded logs of a job, merged: those with the same shape (structure_parts.hpp) form a class, which is stored once,
// with the law by which each parameter follows from the rank (rank_law.hpp). Where the ranks of a class follow several
// laws, as at the borders of a grid, they are in groups, each with its laws. A log that merging would not make smaller
// is a class of its own, and stored as it is.
//
// The bytes of a class are numbers (folding/bytes.hpp):
//
//   form, records, count of logs, runs of the differences between their numbers
//   form 0: the structure of its only log
//   form 1: length of the shape, the shape; number of different plain records, their lengths, the number of each log's
//           as runs, the plain records; count of parameters, count of groups, each log's group as runs (if there are
//           several); the laws of all parameters, and for each group the laws of its parameters, one after the other:
//
//     zigzag(n) << 2 | 0    the constant n
//     n << 2 | 1            law n of this class
//     0 << 2 | 2            a new law of this class, which follows
//     0 << 2 | 3            a table follows: the values of all logs, as runs
//     1 << 2 | 3            each group has a law
//     n << 2 | 3            n > 1: table n - 2 of this class
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "trace/merging/rank_law.hpp"
#include "trace/merging/runs.hpp"
#include "trace/merging/structure_parts.hpp"

namespace lull::trace::merging {

// Where the process of a log is, among the ranks that a parameter may refer to.
using places = std::function<place(scope)>;

struct folded_structure {
  bytes structure;
  std::uint64_t records = 0;
  places where;
};

// The bytes of each class; together they contain each log once. Logs are numbered as in `logs`.
[[nodiscard]] std::vector<bytes> merge_logs(std::span<const folded_structure> logs);

class log_class {
 public:
  // None: the bytes are damaged. They must outlive it. `logs`: how many logs there are.
  [[nodiscard]] static std::optional<log_class> read(std::span<const std::uint8_t> content, std::uint64_t logs);

  [[nodiscard]] const std::vector<std::uint64_t>& logs() const { return logs_; }  // ascending
  [[nodiscard]] std::uint64_t records() const { return records_; }                // of each of them
  // The structure of logs()[member]; none: it is damaged.
  [[nodiscard]] std::optional<bytes> structure_of(std::size_t member, const places& where) const;

 private:
  friend class law_source;
  enum class rule : std::uint8_t { constant, law, table, grouped };
  struct entry {
    rule what;
    std::uint64_t value;  // the constant, or the number of the law or table
  };
  [[nodiscard]] bool read_merged(folding::byte_reader& from);
  [[nodiscard]] bool read_plain(folding::byte_reader& from);
  [[nodiscard]] bool read_entries(folding::byte_reader& from, std::uint64_t count, std::vector<entry>& to);
  [[nodiscard]] std::span<const std::uint8_t> plain_of(std::size_t member) const;

  bool is_merged_ = false;
  std::uint64_t records_ = 0;
  std::vector<std::uint64_t> logs_;
  bytes shape_;  // or the structure
  std::vector<bytes> plain_;
  runs plain_of_, group_of_;
  std::uint64_t groups_ = 1;
  std::vector<rank_law> laws_;
  std::vector<runs> tables_;
  std::vector<entry> entries_;
  std::vector<std::vector<entry>> of_group_;
};

}  // namespace lull::trace::merging
