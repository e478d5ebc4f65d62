#include "stage/link/descriptor_limit.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace lull::stage {

std::size_t most_outstanding_files(std::size_t clients, std::size_t descriptors_of_a_file) {
  constexpr rlim_t for_all_else = 64, enough = rlim_t{1} << 16U;
  constexpr std::size_t most = 256;  // per client: more does not help
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  limit.rlim_cur = std::min(limit.rlim_max, std::max(limit.rlim_cur, enough));
  (void)setrlimit(RLIMIT_NOFILE, &limit);
  (void)getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t for_files = limit.rlim_cur > 2 * for_all_else ? limit.rlim_cur - for_all_else : limit.rlim_cur / 2;
  const std::size_t each = for_files / std::max<std::size_t>(clients, 1) / descriptors_of_a_file;
  return std::clamp<std::size_t>(each, 1, most);
}

void leave_descriptors_to_program() {
  constexpr rlim_t enough = 32;
  rlimit limit{};
  const descriptor next(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && next && static_cast<rlim_t>(next.get()) + enough < limit.rlim_cur)
    return;
  throw error("stage the program's output",
              "of " + std::to_string(limit.rlim_cur) + " descriptors, too few are left for the program",
              "raise the limit (ulimit -n)");
}

}  // namespace lull::stage
