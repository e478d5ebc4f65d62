// fold_records FOLDER: replaces the raw records in a folder `raw` of a trace by what a program under
// LULL_TRACE_FORM=folded would have left, so that tests can compare the archives of both.
#include <cstdio>
#include <fstream>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "trace/recording/folded_writer.hpp"
#include "trace/recording/raw_folder.hpp"

namespace {

using namespace lull::trace;

void fold(const raw_log& log, bool has_several_logs) {
  const mapped_log raw(log.path);
  auto folded = log.path;
  std::ofstream file(folded.replace_extension(".folded"), std::ios::binary);
  const auto state = std::make_unique<folding::running_state>();
  folded_writer writer(*state, log.thread, [&file](const void* from, std::size_t bytes) {
    return static_cast<bool>(file.write(static_cast<const char*>(from), static_cast<std::streamsize>(bytes)));
  });
  constexpr std::size_t window = 2048;
  const std::span<const record> all = raw.records();
  for (std::size_t at = 0; at < all.size(); writer.next_window()) {
    const auto next = all.subspan(at, std::min(window, all.size() - at));
    const auto taken = writer.take(next, has_several_logs, at + next.size() == all.size());
    if (taken < 0) throw lull::error("fold " + log.path.string(), "the file cannot be written");
    at += static_cast<std::size_t>(taken);
  }
  if (!writer.finish()) throw lull::error("fold " + log.path.string(), "the file cannot be written");
  std::filesystem::remove(log.path);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  try {
    for (const raw_process& p : read_raw_folder(words[1]))
      for (const raw_log& log : p.logs) fold(log, p.logs.size() > 1);
  } catch (const lull::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
