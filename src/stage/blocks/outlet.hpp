// Where a process's iterations go under `lull stage`: to the client that stands in the same process, in another library, and is there
// from the program's MPI_Init to its MPI_Finalize.
#pragma once
#include <string>
#include <vector>

#include "stage/files/staged_file.hpp"

namespace lull::stage {

class outlet {
 public:
  // As client::hand_over_as_it_is().
  [[nodiscard]] virtual bool hand_over(staged_file&& finished) = 0;
  // Sees what has been written, whose memory is free then. What could not be, one line each.
  [[nodiscard]] virtual std::vector<std::string> look() = 0;

 protected:
  ~outlet() = default;
};

}  // namespace lull::stage

// Of liblull-stage-programs; null: there is no client now.
extern "C" [[gnu::visibility("default")]] lull::stage::outlet* lull_stage_outlet() noexcept;
