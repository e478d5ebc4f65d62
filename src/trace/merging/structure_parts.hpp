// The structure of a folded log (folding/folder.hpp) in parts, so that logs can be compared: its shape, which is the
// same for processes that run the same program, and what differs between them.
//
//   shape        all tokens and definitions, without the following
//   parameters   peers, tags and sizes of the definitions; values of fields that vary
//   plain        records that were copied as they are
//
// In the shape, a token is `count << 3 | what`; `whats` below says what comes behind it. So joining the parts needs no
// history, and takes time for tokens only, however many calls were as foreseen.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/folding/bytes.hpp"

namespace lull::trace::merging {

using folding::bytes;

// To which ranks a parameter may refer: those of the communicator, or of the window's communicator, that its record
// names; or those of the process's job.
struct scope {
  enum class kind : std::uint8_t { job, communicator, window };
  kind of = kind::job;
  std::uint16_t number = 0;
  auto operator<=>(const scope&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads it
};

struct parameter {
  std::uint64_t value = 0;  // signed numbers in two's complement
  scope ranks = {};
  bool operator==(const parameter&) const = default;
};

struct structure_parts {
  bytes shape = {};
  std::vector<parameter> parameters = {};
  bytes plain = {};
  bool operator==(const structure_parts&) const = default;
};

// `records`: of the log, which bound the work for damaged bytes. None: it is damaged.
[[nodiscard]] std::optional<structure_parts> split(const std::vector<std::span<const std::uint8_t>>& structure,
                                                   std::uint64_t records);

// Where the parameters come from when the parts are joined, in their order.
class parameter_source {
 public:
  virtual ~parameter_source() = default;
  // None: there are no more.
  [[nodiscard]] virtual std::optional<std::uint64_t> next(scope ranks) = 0;
};

// The structure again, byte for byte, except that a number never takes more bytes than it needs. None: it is damaged.
[[nodiscard]] std::optional<bytes> join(std::span<const std::uint8_t> shape, parameter_source& parameters,
                                        std::span<const std::uint8_t> plain);

}  // namespace lull::trace::merging
