#include "base/topology.hpp"

#include <hwloc.h>

#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/error.hpp"

namespace lull {

std::vector<int> allowed_cores(get_affinity ask) {
  constexpr std::size_t most = std::size_t{1} << 20;  // far more than any kernel is built for
  std::vector<cpu_set_t> mask(1);
  while (ask(0, mask.size() * sizeof(cpu_set_t), mask.data()) != 0) {
    // EINVAL: the mask is smaller than the kernel's.
    if (errno != EINVAL || mask.size() * CPU_SETSIZE >= most)
      throw error("find the cores that this process may use", describe_errno(errno));
    mask.assign(mask.size() * 2, cpu_set_t{});
  }
  std::vector<int> cores;
  const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
  for (std::size_t core = 0; core < bytes * CHAR_BIT; ++core)
    if (CPU_ISSET_S(core, bytes, mask.data())) cores.push_back(static_cast<int>(core));
  return cores;
}

topology this_topology() {
  topology result{.usable_cores = static_cast<int>(allowed_cores().size()), .l2_bytes = std::size_t{1} << 20};
  hwloc_topology_t tree = nullptr;
  if (hwloc_topology_init(&tree) != 0) return result;
  hwloc_topology_set_all_types_filter(tree, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_cache_types_filter(tree, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(tree) == 0) {
    const hwloc_obj_t l2 = hwloc_get_obj_by_type(tree, HWLOC_OBJ_L2CACHE, 0);
    if (l2 && l2->attr && l2->attr->cache.size > 0) result.l2_bytes = l2->attr->cache.size;
  }
  hwloc_topology_destroy(tree);
  return result;
}

}  // namespace lull
