// The destination of a process's iterations under `lull stage`: the client in the same process, which is in another
// library and exists from the program's MPI_Init to its MPI_Finalize.
#pragma once
#include <string>
#include <vector>

#include "stage/files/staged_file.hpp"

namespace lull::stage {

class outlet {
 public:
  // Like client::hand_over_as_it_is().
  [[nodiscard]] virtual bool hand_over(staged_file&& finished) = 0;
  // Checks which iterations have been written, which frees their memory. Returns one line for each failure.
  [[nodiscard]] virtual std::vector<std::string> look() = 0;

 protected:
  ~outlet() = default;
};

}  // namespace lull::stage

// Exported by liblull-stage-programs; null if there is no client at the moment.
extern "C" [[gnu::visibility("default")]] lull::stage::outlet* lull_stage_outlet() noexcept;
