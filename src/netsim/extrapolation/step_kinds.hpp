// Operations without their ranks: the same step of different ranks has the same kind.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "netsim/extrapolation/rank_grid.hpp"
#include "netsim/program/program.hpp"

namespace lull::netsim {

// What a step does with which partner, without amounts.
struct step_kind {
  operation::kind what = operation::kind::compute;
  collective which = collective::barrier;
  std::int32_t offset = -1;  // index in the pattern's offsets; -1: it names no partner
  std::uint32_t tag = 0;
  std::uint32_t extent = 0;   // of its group: a bit per dimension; 0: everybody
  std::uint32_t ordinal = 0;  // among the groups of this extent that a rank uses, in order of first use
  std::uint32_t root = 0;     // index in the group
  std::uint32_t awaited = 0;  // wait: 1 + the kind that it waits for; await_put: the number
  bool request = false;

  [[nodiscard]] auto all() const {
    return std::tuple(what, which, offset, tag, extent, ordinal, root, awaited, request);
  }
  bool operator<(const step_kind& other) const { return all() < other.all(); }
};

// Numbers kinds, the same for all ranks and both programs.
class step_kinds {
 public:
  std::uint32_t number_of(const step_kind& k) {
    const auto [at, is_new] = numbers_.try_emplace(k, static_cast<std::uint32_t>(kinds_.size()));
    if (is_new) kinds_.push_back(k);
    return at->second;
  }
  [[nodiscard]] const step_kind& operator[](std::uint32_t number) const { return kinds_[number]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(kinds_.size()); }
  // The index of the offset that decides whether a rank has steps of this kind; -1: all ranks have them.
  [[nodiscard]] std::int32_t offset_of(std::uint32_t number) const {
    const step_kind& k = kinds_[number];
    return k.what == operation::kind::wait ? kinds_[k.awaited - 1].offset : k.offset;
  }

 private:
  std::map<step_kind, std::uint32_t> numbers_;
  std::vector<step_kind> kinds_;
};

// A step of one rank.
struct step {
  std::uint32_t kind = 0;
  std::uint64_t bytes = 0;
  picoseconds before = 0;  // computing since the previous step
  std::uint32_t peer = 0;
  std::uint64_t number = 0;  // of the operation, for error messages
};

// The steps of one rank of a program. The last one has the kind `compute`: what the rank computes after all others.
// Consecutive waits, with only computing between them, come in the order in which their requests began, because the
// order of completion differs from rank to rank.
class step_reader {
 public:
  step_reader(const program& of, std::uint32_t rank, const rank_grid& grid, const std::vector<grid_offset>& offsets,
              step_kinds& kinds, const completions& none);
  // Returns false at the end. Throws std::invalid_argument that says what does not fit.
  bool next(step& s);
  // Declares that the last step has this kind, which means the same partner: a short ring has two routes to it.
  void take_as(std::uint32_t kind) {
    if (last_request_ != no_request) posted_[last_request_].kind = kind;
  }

 private:
  struct post {
    std::uint32_t kind = 0;
    std::uint64_t order = 0;
  };
  struct waited {
    std::uint64_t order;
    step as;
  };

  [[nodiscard]] const operation* take();
  void take_waits(const operation& first, picoseconds before);
  void add_wait(const operation& o, picoseconds before);
  [[nodiscard]] std::int32_t offset_to(std::uint32_t peer) const;
  void find_group(const operation& o, step_kind& k);

  const program& of_;
  const std::uint32_t rank_;
  const rank_grid& grid_;
  const std::vector<grid_offset>& offsets_;
  step_kinds& kinds_;
  stream from_;
  std::uint64_t number_ = 0;
  bool ended_ = false;
  operation in_hand_;
  std::optional<operation> ahead_;  // read after waits, not used yet
  picoseconds before_ahead_ = 0;    // computing
  std::vector<waited> waits_;       // consecutive ones
  std::size_t waits_used_ = 0;
  std::unordered_map<std::uint32_t, post> posted_;  // by request
  std::uint32_t last_request_ = no_request;
  struct use {
    std::uint32_t extent, ordinal;
  };
  std::unordered_map<std::uint32_t, use> groups_;  // by number
};

// "send to +1,0,0 with tag 5", for error messages.
[[nodiscard]] std::string in_words(const step_kind& k, const std::vector<grid_offset>& offsets);

}  // namespace lull::netsim
