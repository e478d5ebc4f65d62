#include "stage/shared/file_systems.hpp"

#include <fcntl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace lull::stage {
namespace {

// f_type of statfs(2). Their clients keep locks on what they cache, and give it up when another node asks for it.
constexpr std::array<std::uint32_t, 8> coherent{
    0x0bd00bd0,  // Lustre: lustre_user.h, LL_SUPER_MAGIC
    0x47504653,  // IBM Storage Scale (GPFS): "GPFS"
    0x19830326,  // BeeGFS: its client module, BEEGFS_MAGIC
    0x00c36400,  // Ceph: linux/magic.h, CEPH_SUPER_MAGIC
    0x01161970,  // GFS2: linux/magic.h, GFS2_MAGIC
    0x7461636f,  // OCFS2: linux/magic.h, OCFS2_SUPER_MAGIC
    0x20030528,  // OrangeFS, which caches no data: fs/orangefs, ORANGEFS_SUPER_MAGIC
    0xaad7aaea,  // PanFS: statfs(2), PANFS
};

}  // namespace

std::optional<struct stat> status_of(const std::string& path) {
  struct stat found {};
  if (syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), &found, 0) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return found;
}

bool shows_writes_of_other_nodes(const std::string& path, const place_of_node& among) {
  if (among.nodes <= 1 || among.one_machine) return true;
  struct statfs found {};
  return statfs(path.c_str(), &found) == 0 &&
         std::ranges::find(coherent, static_cast<std::uint32_t>(found.f_type)) != coherent.end();
}

// The end is looked at when nothing else is pending: an earlier change of size may have moved it.
const file_entry* delays_read(const directory& of, int file, const range& bytes, std::uint64_t before) {
  const file_entry* const found = of.pending_in(file, bytes, before);
  const file_row& row = of.row(file);
  if (found != nullptr || row.pending == 0) return found;
  const auto now = status_of(row.path);
  if (now && now->st_size >= std::min(bytes.end, row.size)) return nullptr;
  return of.pending_in(file, {.begin = bytes.begin}, before);
}

}  // namespace lull::stage
