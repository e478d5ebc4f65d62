#include "stage/blocks/hdf5/into_descriptor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "stage/blocks/hdf5/hdf5_objects.hpp"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace lull::stage::blocks {
namespace {

struct open_file {
  H5FD_t common;  // HDF5's part must come first
  hdf5_target* target;
  haddr_t allocated;
  haddr_t end;
};

open_file& ours(H5FD_t* file) { return *reinterpret_cast<open_file*>(file); }
const open_file& ours(const H5FD_t* file) { return *reinterpret_cast<const open_file*>(file); }

// HDF5 copies the contents of an access list.
struct of_list {
  hdf5_target* target;
};

H5FD_t* open(const char*, unsigned flags, hid_t access, haddr_t) {
  const auto* const held = static_cast<const of_list*>(H5Pget_driver_info(access));
  struct stat found {};
  if (held == nullptr || fstat(held->target->descriptor, &found) != 0) return nullptr;
  const haddr_t end = (flags & truncate_it) != 0 ? 0 : static_cast<haddr_t>(found.st_size);
  auto made = std::make_unique<open_file>(open_file{{}, held->target, 0, end});
  return &made.release()->common;  // close() takes ownership
}

herr_t close(H5FD_t* file) {
  const std::unique_ptr<open_file> taken_back(&ours(file));
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t allocated(const H5FD_t* file, H5FD_mem_t) { return ours(file).allocated; }
herr_t allocate(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  ours(file).allocated = end;
  return 0;
}
haddr_t end_of(const H5FD_t* file, H5FD_mem_t) { return ours(file).end; }

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t from, size_t bytes, void* into) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = pread(ours(file).target->descriptor, at, bytes, static_cast<off_t>(from));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    at += got;
    from += static_cast<haddr_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  std::memset(at, 0, bytes);  // beyond the end of the file
  return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t to, size_t bytes, const void* from) {
  open_file& one = ours(file);
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0 && one.target->failed == 0) {
    const ssize_t put = pwrite(one.target->descriptor, at, bytes, static_cast<off_t>(to));
    if (put == 0) one.target->failed = EIO;
    if (put < 0 && errno != EINTR) one.target->failed = errno;
    if (put <= 0) continue;
    at += put;
    to += static_cast<haddr_t>(put);
    bytes -= static_cast<size_t>(put);
  }
  one.end = std::max(one.end, to + bytes);
  return 0;
}

herr_t truncate(H5FD_t* file, hid_t, hbool_t) {
  open_file& one = ours(file);
  if (one.end == one.allocated || one.target->failed != 0) return 0;
  if (ftruncate(one.target->descriptor, static_cast<off_t>(one.allocated)) != 0) one.target->failed = errno;
  one.end = one.allocated;
  return 0;
}

hid_t driver() {
  static const hid_t registered = [] {
    constexpr H5FD_mem_t kinds[] = H5FD_FLMAP_DICHOTOMY;
    H5FD_class_t made{};
#if H5_VERSION_GE(1, 13, 0)
    made.version = H5FD_CLASS_VERSION;
    made.value = static_cast<H5FD_class_value_t>(3201);
#endif
    made.name = "lull-descriptor";
    made.maxaddr = static_cast<haddr_t>(~haddr_t{0}) >> 2U;
    made.fc_degree = H5F_CLOSE_STRONG;
    made.fapl_size = sizeof(of_list);
    made.open = open;
    made.close = close;
    made.query = query;
    made.get_eoa = allocated;
    made.set_eoa = allocate;
    made.get_eof = end_of;
    made.read = read;
    made.write = write;
    made.truncate = truncate;
    std::ranges::copy(kinds, made.fl_map);
    return H5FDregister(&made);
  }();
  return registered;
}

}  // namespace

hid_t access_by(hdf5_target& target) {
  const hid_t list = H5Pcreate(file_access());
  const of_list held{&target};
  if (list >= 0 && H5Pset_driver(list, driver(), &held) >= 0) return list;
  if (list >= 0) H5Pclose(list);
  return -1;
}

}  // namespace lull::stage::blocks
