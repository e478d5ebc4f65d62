// lull/stage.h: the output of this process, and its errors as codes and lines.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "lull/stage.h"
#include "stage/blocks/hdf5/hdf5_module.hpp"
#include "stage/blocks/output.hpp"

namespace {

using namespace lull;
using namespace lull::stage::blocks;

struct {
  std::mutex mutex;
  std::optional<output> open;
} mine;

thread_local std::string last_error;

template <class Call>
auto guarded(Call&& call, decltype(call()) otherwise) noexcept {
  try {
    const std::scoped_lock lock(mine.mutex);
    return call();
  } catch (const std::exception& problem) {
    try {
      last_error = problem.what();
    } catch (...) {  // no memory for the message
      last_error.clear();
    }
    return otherwise;
  }
}

output& opened(const char* action) {
  if (!mine.open) throw usage_error(action, "no output is open", "call lull_stage_open() first");
  return *mine.open;
}

std::string text_of(const char* text, const char* action) {
  if (text == nullptr) throw usage_error(action, "the name is NULL", "give a name");
  return text;
}

// The iterations' folders: this one, or those in it.
std::vector<std::string> iterations_in(const std::string& folder) {
  namespace fs = std::filesystem;
  const auto holds_parts = [](const fs::path& path) {
    return std::any_of(fs::directory_iterator(path), fs::directory_iterator(), [](const fs::directory_entry& entry) {
      const std::string name = entry.path().filename();
      return name.size() > 1 && name[0] == 'p' && name[1] >= '0' && name[1] <= '9' && name.ends_with(".h5");
    });
  };
  if (!fs::is_directory(folder))
    throw usage_error("join " + folder, "there is no such folder", "name the folder of the output");
  const std::string whole = fs::canonical(folder);
  if (holds_parts(whole)) return {whole};
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(whole))
    if (entry.is_directory() && holds_parts(entry.path())) found.push_back(entry.path());
  std::ranges::sort(found);
  if (found.empty()) throw usage_error("join " + folder, "it contains no iterations", "name the folder of an output");
  return found;
}

}  // namespace

extern "C" {

int lull_stage_open(const char* description, int process, int processes) {
  constexpr const char* action = "open an output";
  return guarded(
      [&] {
        if (mine.open) throw usage_error(action, "another output is open", "call lull_stage_close() first");
        mine.open.emplace(text_of(description, action), process, processes);
        return static_cast<int>(LULL_STAGE_OK);
      },
      static_cast<int>(LULL_STAGE_ERROR));
}

int lull_stage_set(const char* parameter, int64_t value) {
  constexpr const char* action = "set a parameter of the output";
  return guarded(
      [&] {
        opened(action).set(text_of(parameter, action), value);
        return static_cast<int>(LULL_STAGE_OK);
      },
      static_cast<int>(LULL_STAGE_ERROR));
}

int lull_stage_place(const char* variable, const int64_t offset[], const int64_t count[]) {
  constexpr const char* action = "place a block of the output";
  return guarded(
      [&] {
        if (offset == nullptr || count == nullptr) throw usage_error(action, "offset or count is NULL", "give both");
        opened(action).place(text_of(variable, action), offset, count);
        return static_cast<int>(LULL_STAGE_OK);
      },
      static_cast<int>(LULL_STAGE_ERROR));
}

int64_t lull_stage_bytes(const char* variable) {
  constexpr const char* action = "get the size of a variable";
  return guarded([&] { return static_cast<int64_t>(opened(action).block_of(text_of(variable, action)).bytes()); },
                 int64_t{LULL_STAGE_ERROR});
}

int lull_stage_dimensions(const char* variable) {
  constexpr const char* action = "get the dimensions of a variable";
  return guarded([&] { return static_cast<int>(opened(action).block_of(text_of(variable, action)).all.size()); },
                 static_cast<int>(LULL_STAGE_ERROR));
}

const char* lull_stage_type(const char* variable) {
  constexpr const char* action = "get the type of a variable";
  return guarded([&] { return row_of(opened(action).block_of(text_of(variable, action)).type).name; },
                 static_cast<const char*>(nullptr));
}

int lull_stage_write(const char* variable, const void* data) {
  constexpr const char* action = "write a variable";
  return guarded(
      [&] {
        opened(action).write(text_of(variable, action), data);
        return static_cast<int>(LULL_STAGE_OK);
      },
      static_cast<int>(LULL_STAGE_ERROR));
}

int lull_stage_end_iteration(int64_t iteration) {
  return guarded(
      [&] {
        const bool taken = opened("end an iteration of the output").end_iteration(iteration);
        return static_cast<int>(taken ? LULL_STAGE_OK : LULL_STAGE_DROPPED);
      },
      static_cast<int>(LULL_STAGE_ERROR));
}

int lull_stage_close(void) {
  return guarded(
      [] {
        (void)opened("close an output");
        mine.open.reset();
        return static_cast<int>(LULL_STAGE_OK);
      },
      static_cast<int>(LULL_STAGE_ERROR));
}

int lull_stage_join(const char* folder) {
  return guarded(
      [&] {
        std::string missing;
        for (const std::string& one : iterations_in(text_of(folder, "join the files of an output"))) {
          const std::string line = join_by_hdf5(one, setting_text("LULL_STAGE_FSYNC") == "1");
          if (!line.empty()) missing += (missing.empty() ? "" : "\n") + line;
        }
        last_error = missing;
        return static_cast<int>(missing.empty() ? LULL_STAGE_OK : LULL_STAGE_INCOMPLETE);
      },
      static_cast<int>(LULL_STAGE_ERROR));
}

const char* lull_stage_error(void) { return last_error.c_str(); }
}
