#include "base/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/error.hpp"

namespace lull {
namespace {

// A machine as hwloc sees it; empty if that fails.
class machine_tree {
 public:
  template <class Describe>
  explicit machine_tree(const Describe& describe) {
    if (hwloc_topology_init(&tree_) != 0) return;
    // Do not filter more: the objects in between determine which cores a NUMA node has.
    hwloc_topology_set_all_types_filter(tree_, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    describe(tree_);
    loaded_ = hwloc_topology_load(tree_) == 0;
  }
  ~machine_tree() {
    if (tree_) hwloc_topology_destroy(tree_);
  }
  machine_tree(const machine_tree&) = delete;
  machine_tree& operator=(const machine_tree&) = delete;

  explicit operator bool() const { return loaded_; }
  [[nodiscard]] hwloc_topology_t get() const { return tree_; }

 private:
  hwloc_topology_t tree_ = nullptr;
  bool loaded_ = false;
};

constexpr std::size_t most_numbers = std::size_t{1} << 20;  // far more CPUs than any kernel is built for

std::vector<int> numbers_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return numbers_in(line);
}

// Block `index` of `blocks` of the items.
template <class Item>
std::span<const Item> block_of(std::span<const Item> items, std::size_t index, std::size_t blocks) {
  const std::size_t begin = items.size() * index / blocks, end = items.size() * (index + 1) / blocks;
  return items.subspan(begin, end - begin);
}

std::vector<int> threads_of(std::span<const std::vector<int>> cores) {
  std::vector<int> threads;
  for (const std::vector<int>& core : cores) threads.insert(threads.end(), core.begin(), core.end());
  return threads;
}

using bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, decltype(&hwloc_bitmap_free)>;

}  // namespace

std::vector<int> numbers_in(std::string_view list) {
  std::vector<int> all;
  while (!list.empty()) {
    const char* const end = list.data() + list.size();
    int first = 0;
    auto parsed = std::from_chars(list.data(), end, first);
    int last = first;
    if (parsed.ec == std::errc{} && parsed.ptr != end && *parsed.ptr == '-')
      parsed = std::from_chars(parsed.ptr + 1, end, last);
    if (parsed.ec != std::errc{} || first < 0) return {};
    for (int number = first; number <= last && all.size() < most_numbers; ++number) all.push_back(number);
    const std::string_view rest(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
    const auto next = rest.find_first_not_of(", ");
    if (next == 0) return {};
    list = next == std::string_view::npos ? std::string_view() : rest.substr(next);
  }
  return all;
}

std::vector<int> allowed_cores(get_affinity ask) {
  std::vector<cpu_set_t> mask(1);
  while (ask(0, mask.size() * sizeof(cpu_set_t), mask.data()) != 0) {
    // EINVAL: the mask is smaller than the kernel's.
    if (errno != EINVAL || mask.size() * CPU_SETSIZE >= most_numbers)
      throw error("find the cores that this process may use", describe_errno(errno));
    mask.assign(mask.size() * 2, cpu_set_t{});
  }
  std::vector<int> cores;
  const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
  for (std::size_t core = 0; core < bytes * CHAR_BIT; ++core)
    if (CPU_ISSET_S(core, bytes, mask.data())) cores.push_back(static_cast<int>(core));
  return cores;
}

machine_cores cores_among(std::span<const int> cpus, const std::string& root) {
  const std::string devices = (root == "/" ? "" : root) + "/sys/devices";
  std::map<int, std::vector<int>> by_first;  // by the lowest number of a core's threads, allowed or not
  for (const int cpu : cpus) {
    const auto siblings =
        numbers_of(devices + "/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    by_first[siblings.empty() ? cpu : std::ranges::min(siblings)].push_back(cpu);
  }
  const std::vector<int> efficient = numbers_of(devices + "/cpu_atom/cpus");
  machine_cores found;
  for (auto& [first, threads] : by_first) found.cores.push_back(std::move(threads));
  // Not that of std::ranges, which clang 14 does not compile.
  const auto others = std::stable_partition(found.cores.begin(), found.cores.end(), [&](const std::vector<int>& core) {
    return std::ranges::find(efficient, core.front()) == efficient.end();
  });
  found.performance = static_cast<std::size_t>(others - found.cores.begin());
  if (found.performance == 0) found.performance = found.cores.size();
  return found;
}

std::vector<std::vector<int>> shares_of(const machine_cores& machine, int shares) {
  const auto count = static_cast<std::size_t>(std::max(shares, 0));
  std::span<const std::vector<int>> cores(machine.cores);
  if (count <= machine.performance) cores = cores.first(machine.performance);
  const std::vector<int> threads = threads_of(cores);
  std::vector<std::vector<int>> found(count);
  for (std::size_t share = 0; share < count && !threads.empty(); ++share) {
    if (count <= cores.size())
      found[share] = threads_of(block_of(cores, share, count));
    else if (count <= threads.size())
      std::ranges::copy(block_of(std::span(threads), share, count), std::back_inserter(found[share]));
    else
      found[share] = {threads[share % threads.size()]};
    std::ranges::sort(found[share]);
  }
  return found;
}

topology this_topology() {
  topology result{.usable_cores = static_cast<int>(allowed_cores().size()), .l2_bytes = std::size_t{1} << 20};
  const machine_tree machine(
      [](hwloc_topology_t tree) { hwloc_topology_set_cache_types_filter(tree, HWLOC_TYPE_FILTER_KEEP_ALL); });
  if (!machine) return result;
  const hwloc_obj_t l2 = hwloc_get_obj_by_type(machine.get(), HWLOC_OBJ_L2CACHE, 0);
  if (l2 && l2->attr && l2->attr->cache.size > 0) result.l2_bytes = l2->attr->cache.size;
  return result;
}

std::optional<int> numa_node_of(std::span<const int> cores, const std::string& described) {
  const machine_tree machine([&](hwloc_topology_t tree) {
    if (!described.empty()) hwloc_topology_set_synthetic(tree, described.c_str());
  });
  if (!machine || hwloc_get_nbobjs_by_type(machine.get(), HWLOC_OBJ_NUMANODE) < 2) return std::nullopt;
  const bitmap wanted(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  for (const int core : cores) hwloc_bitmap_set(wanted.get(), static_cast<unsigned>(core));
  // If a core has memory of several kinds, the first is the usual kind.
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(machine.get(), HWLOC_OBJ_NUMANODE, node));)
    if (hwloc_bitmap_isincluded(wanted.get(), node->cpuset)) return static_cast<int>(node->os_index);
  return std::nullopt;
}

bool keep_on_numa_node(std::span<std::byte> memory, int node) {
  const machine_tree machine([](hwloc_topology_t) {});
  if (!machine) return false;
  const bitmap nodes(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  hwloc_bitmap_set(nodes.get(), static_cast<unsigned>(node));
  return hwloc_set_area_membind(machine.get(), memory.data(), memory.size(), nodes.get(), HWLOC_MEMBIND_BIND,
                                HWLOC_MEMBIND_BYNODESET) == 0;
}

}  // namespace lull
