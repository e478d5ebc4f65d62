// The entry point of liblull-stage-hdf5 for the process that opens it (hdf5_module.cpp).
#include <exception>

#include "stage/blocks/hdf5/hdf5_module.hpp"
#include "stage/blocks/hdf5/iteration_files.hpp"

namespace {

using namespace lull::stage;

void write(std::span<const handed_over> all, bool sync, amount& written, std::string& why) noexcept {
  try {
    written = blocks::write_iteration(all, sync);
  } catch (const std::exception& problem) {
    why = problem.what();
  }
}

void join(const std::string& folder, bool sync, std::string& missing, std::string& why) noexcept {
  try {
    missing = blocks::write_virtual_file(folder, 0, sync);
  } catch (const std::exception& problem) {
    why = problem.what();
  }
}

}  // namespace

const blocks::module_functions* lull_stage_hdf5() noexcept {
  static constexpr blocks::module_functions all{write, join};
  return &all;
}
