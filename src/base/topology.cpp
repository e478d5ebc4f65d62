#include "base/topology.hpp"

#include <hwloc.h>
#include <sched.h>

namespace lull {

topology this_topology() {
  topology result{.usable_cores = 1, .l2_bytes = std::size_t{1} << 20};
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) result.usable_cores = CPU_COUNT(&mask);
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
