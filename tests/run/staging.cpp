// Output by each approach, according to LULL_STAGE, in a job that a launcher has started: everything that clients hand
// over is written when they have left, by whichever process.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "job/bootstrap.hpp"
#include "stage/link/job_exchange.hpp"
#include "stage/processes/client.hpp"
#include "stage/processes/server.hpp"

namespace {

namespace fs = std::filesystem;
using namespace lull::stage;

constexpr int files = 5;
constexpr std::size_t file_bytes = std::size_t{2} << 20U;  // the network announces files of this size

// The same on all processes.
fs::path common_folder(exchange& others) {
  std::string mine;
  if (others.rank() == 0) {
    mine = (fs::temp_directory_path() / "lull-staging-XXXXXX").string();
    if (!mkdtemp(mine.data())) throw lull::error("make a folder", mine);
  }
  const auto told = others.all(std::as_bytes(std::span(mine)));
  return std::string(reinterpret_cast<const char*>(told[0].data()), told[0].size());
}

std::string content_of(int rank, int file) {
  return std::string(file_bytes, static_cast<char>('a' + (rank * files + file) % 26));
}

int simulate(client& output, int rank, const fs::path& folder, bool served) {
  int wrong = 0;
  const auto name_of_file = [&](int file) { return folder / (std::to_string(rank) + "." + std::to_string(file)); };
  for (int file = 0; file < files; ++file) {
    auto begun = output.begin_file(name_of_file(file), true);
    wrong += begun.has_value() == served ? 0 : 1;
    std::ofstream(begun ? begun->path() : name_of_file(file).string(), std::ios::binary) << content_of(rank, file);
    if (begun) output.hand_over(std::move(*begun));
  }
  output.leave();
  for (int file = 0; file < files; ++file) {
    std::ifstream in(name_of_file(file), std::ios::binary);
    wrong += std::string(std::istreambuf_iterator<char>(in), {}) == content_of(rank, file) ? 0 : 1;
  }
  if (wrong > 0) std::fprintf(stderr, "process %d: %d files are not as they should be\n", rank, wrong);
  return wrong > 0 ? 1 : 0;
}

}  // namespace

int main() {
  try {
    lull::job::bootstrap boot;
    job_exchange others(boot);
    const fs::path folder = common_folder(others);
    const plan wanted = plan_of_settings();
    const roles all(wanted, nodes_by_rank(others));
    const int me = others.rank();
    int code = 0;
    if (all.is_server(me)) {
      code = serve(wanted, all, others);
    } else {
      const auto output = client::join(wanted, all, others);
      code = simulate(*output, me, folder, all.server_of(me) != no_server);
    }
    boot.fence();
    if (me == 0) fs::remove_all(folder);
    return code;
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 1;
  }
}
