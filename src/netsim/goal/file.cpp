#include "netsim/goal/file.hpp"

#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "netsim/goal/binary_reader.hpp"

namespace lull::netsim {
namespace {

namespace fs = std::filesystem;

// The version of a file.
struct goal_version {
  fs::path path;
  fs::file_time_type written;
  std::uintmax_t bytes = 0;
  bool operator==(const goal_version&) const = default;
};

struct recent_goal {
  std::mutex lock;
  goal_version version;
  std::shared_ptr<const goal_graph> graph;
};

recent_goal& recent_graph() {
  static recent_goal last;
  return last;
}

}  // namespace

bool is_goal(const std::string& path) { return is_goal_binary(path) || is_goal_text(path); }

std::uint32_t ranks_of_goal(const std::string& path) {
  return is_goal_binary(path) ? ranks_of_goal_binary(path) : ranks_of_goal_text(path);
}

std::shared_ptr<const goal_graph> read_goal(const std::string& path, const goal_progress& progress) {
  std::error_code failed;
  const goal_version wanted{
      .path = fs::absolute(path), .written = fs::last_write_time(path, failed), .bytes = fs::file_size(path, failed)};
  recent_goal& recent = recent_graph();
  {
    const std::scoped_lock held(recent.lock);
    if (recent.graph && recent.version == wanted) return recent.graph;
  }
  auto made = std::make_shared<const goal_graph>(is_goal_binary(path) ? read_goal_binary(path, progress)
                                                                      : read_goal_text(path, progress));
  const std::scoped_lock held(recent.lock);
  recent.version = wanted;
  recent.graph = made;
  return made;
}

}  // namespace lull::netsim
