#include "stage/blocks/plugins.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lull/stage_plugin.h"
#include "stage/blocks/block_file.hpp"
#include "stage/blocks/python_host.hpp"

namespace lull::stage::blocks {
namespace {

std::string name_of(const plugin& one) { return one.python.empty() ? one.library + ":" + one.function : one.python; }

void call_library(const plugin& one, const lull_stage_iteration& with) {
  static std::map<std::string, lull_stage_plugin> known;
  lull_stage_plugin& function = known[name_of(one)];
  if (function == nullptr) {
    void* const library = dlopen(one.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw error("open the plug-in", dlerror());
    function = reinterpret_cast<lull_stage_plugin>(dlsym(library, one.function.c_str()));
    if (function == nullptr) throw error("open the plug-in", "the library has no function " + one.function);
  }
  if (const int code = function(&with); code != 0) throw error("run the plug-in", "it gave " + std::to_string(code));
}

void call_python(const plugin& one, const lull_stage_iteration& with, const std::vector<block_in_file>& where) {
  static std::map<std::string, std::unique_ptr<python_host>> hosts;
  std::unique_ptr<python_host>& host = hosts[one.python];
  if (!host) host = std::make_unique<python_host>(one.python);
  host->call(with, where);
}

// Those that have failed, by name: they are not called again.
std::set<std::string>& failed() {
  static std::set<std::string> names;
  return names;
}

void run(const plugin& one, const lull_stage_iteration& with, const std::vector<block_in_file>& where) {
  if (with.number % one.every != 0 || failed().contains(name_of(one))) return;
  try {
    one.python.empty() ? call_library(one, with) : call_python(one, with, where);
  } catch (const std::exception& problem) {
    failed().insert(name_of(one));
    fmt::print(stderr, "lull: call {} with iteration {}: {}; it is not called again\n", name_of(one), with.number,
               problem.what());
  }
}

void run_all(std::span<const handed_over> all) {
  std::vector<std::pair<block_file, int>> files;
  for (const handed_over& one : all) files.emplace_back(block_file(one.content), one.content);
  std::ranges::sort(files, {}, [](const auto& one) { return one.first.about().process; });
  std::vector<lull_stage_block> blocks;
  std::vector<block_in_file> where;
  for (const auto& [file, descriptor] : files)
    for (const block& one : file.about().blocks) {
      if (one.position == 0 || one.bytes() == 0) continue;
      blocks.push_back({one.variable.c_str(), row_of(one.type).name, one.unit.c_str(), file.about().process,
                        static_cast<int>(one.all.size()), one.all.data(), one.offset.data(), one.count.data(),
                        file.data(one)});
      where.push_back({descriptor, one.position});
    }
  const head& about = files.front().first.about();
  const std::string folder = std::filesystem::path(all.front().where.path).parent_path();
  const std::string output = folder.substr(0, folder.rfind('.'));  // FOLDER/NAME of FOLDER/NAME.000010
  const std::string name = std::filesystem::path(output).filename(),
                    place = std::filesystem::path(output).parent_path();
  for (const plugin& one : about.plugins)
    run(one,
        {about.iteration, about.processes, place.c_str(), name.c_str(), one.options.c_str(), blocks.size(),
         blocks.data()},
        where);
}

}  // namespace

void run_plugins(std::span<const handed_over> all) noexcept {
  try {
    if (!block_file(all.front().content).about().plugins.empty()) run_all(all);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "lull: {}\n", problem.what());
  }
}

}  // namespace lull::stage::blocks
