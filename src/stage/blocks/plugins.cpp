#include "stage/blocks/plugins.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "stage/blocks/iteration.hpp"
#include "stage/blocks/library_host.hpp"
#include "stage/blocks/python_host.hpp"

namespace lull::stage::blocks {
namespace {

std::string name_of(const plugin& one) { return one.python.empty() ? one.library + ":" + one.function : one.python; }

template <class Host>
Host& host_of(const plugin& one, const auto& made_of) {
  static std::map<std::string, std::unique_ptr<Host>> hosts;
  std::unique_ptr<Host>& host = hosts[name_of(one)];
  if (!host) host = std::make_unique<Host>(made_of);
  return *host;
}

// The plug-ins that have failed, by name: they are not called again.
std::set<std::string>& failed() {
  static std::set<std::string> names;
  return names;
}

void run(const plugin& one, const iteration& with) {
  if (with.about().iteration % one.every != 0 || failed().contains(name_of(one))) return;
  try {
    if (one.python.empty())
      host_of<library_host>(one, one).call(one, with);
    else
      host_of<python_host>(one, one.python).call(with.for_plugin(one), with.where());
  } catch (const std::exception& problem) {
    failed().insert(name_of(one));
    fmt::print(stderr, "lull: call {} with iteration {}: {}; it is not called again\n", name_of(one),
               with.about().iteration, problem.what());
  }
}

void run_all(std::span<const handed_over> all) {
  std::vector<int> files;
  for (const handed_over& one : all) files.push_back(one.content);
  const iteration with(files, all.front().where.path);
  for (const plugin& one : with.about().plugins) run(one, with);
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
