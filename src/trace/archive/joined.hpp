// Joins the definitions of single processes to those of one trace: regions by name, communicators and windows by their
// members and order of creation, jobs by the ranks in each.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "trace/events.hpp"
#include "trace/recording/raw_folder.hpp"

namespace lull::trace {

// What the numbers of a process refer to.
class number_map {
 public:
  void add(std::uint16_t number, std::uint64_t from_ticks, std::uint32_t means);
  // no_one if the number was never defined.
  [[nodiscard]] std::uint32_t at(std::uint16_t number, std::uint64_t ticks) const {
    if (number >= by_number_.size()) return no_one;
    const auto& meanings = by_number_[number];
    for (auto m = meanings.rbegin(); m != meanings.rend(); ++m)
      if (m->from_ticks <= ticks || m + 1 == meanings.rend()) return m->means;
    return no_one;
  }

 private:
  struct meaning {
    std::uint64_t from_ticks;
    std::uint32_t means;
  };
  std::vector<std::vector<meaning>> by_number_;
};

struct joined_process {
  const raw_process* raw;
  std::uint32_t program = no_one;             // the region of the main thread's whole run
  std::vector<std::uint32_t> locations = {};  // of each of its logs; those of one thread share one
  number_map regions = {}, communicators = {}, windows = {};
};

struct joined {
  definitions all;
  std::vector<joined_process> processes;  // in the order of all.processes
  std::vector<std::string> remarks;       // what is missing, one line each
};

// `raw` must outlive the result. Processes without records are left out.
[[nodiscard]] joined join(const std::vector<raw_process>& raw);

}  // namespace lull::trace
