// Whether a client hands a file over or writes it itself, by the observed costs of files from begin to end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/clock.hpp"
#include "model/choices/handing_over.hpp"
#include "model/machine/machine_file.hpp"
#include "stage/accounts/figures.hpp"
#include "stage/files/staged_file.hpp"

namespace lull::stage {

class turns {
 public:
  [[nodiscard]] bool writes_itself(bool has_room) {
    return decides_.next(has_room) == model::output_turn::write_yourself;
  }
  void begun(const staged_file& file, std::int64_t begin_ns, bool had_room) {
    beginnings_[file.descriptor()] = {begin_ns, had_room};
  }
  void handed_over(int descriptor, std::size_t bytes) {
    const auto begun = beginnings_.extract(descriptor);
    if (!begun) return;
    const beginning& of = begun.mapped();
    decides_.handed_over(of.had_room, seconds(now_ns() - of.begin_ns), static_cast<double>(bytes));
  }
  void wrote_itself(std::int64_t nanoseconds, std::size_t bytes) {
    decides_.wrote_itself(seconds(nanoseconds), static_cast<double>(bytes));
  }
  [[nodiscard]] model::output_turns_by_room taken() const { return decides_.turns(); }

 private:
  struct beginning {
    std::int64_t begin_ns;
    bool had_room;
  };

  model::handing_over decides_{model::this_machine()};
  std::map<int, beginning> beginnings_;  // of open files, by descriptor
};

}  // namespace lull::stage
