// The compression of blocks: by HDF5's own gzip, or by Zstandard under the number registered with the HDF Group, so
// that other programs can read it with the plug-in of that number.
#include <zstd.h>

#include <algorithm>
#include <cstdlib>

#include "stage/blocks/hdf5/hdf5_objects.hpp"
#include "stage/blocks/hdf5/iteration_files.hpp"

namespace lull::stage::blocks {
namespace {

constexpr H5Z_filter_t zstd_filter = 32015;
constexpr std::size_t bytes_of_chunk = std::size_t{1} << 20U;  // the part of a dataset that HDF5 caches while it reads

// A filter function of HDF5: returns the number of valid bytes, 0 for a failure; the buffer comes from malloc.
std::size_t run_zstd(unsigned flags, std::size_t values, const unsigned* level, std::size_t bytes, std::size_t* size,
                     void** buffer) {
  const bool unpack = (flags & H5Z_FLAG_REVERSE) != 0;
  const unsigned long long most = unpack ? ZSTD_getFrameContentSize(*buffer, bytes) : ZSTD_compressBound(bytes);
  if (unpack && (most == ZSTD_CONTENTSIZE_ERROR || most == ZSTD_CONTENTSIZE_UNKNOWN)) return 0;
  void* const made = std::malloc(std::max<std::size_t>(most, 1));  // NOLINT(cppcoreguidelines-no-malloc): HDF5 frees it
  if (made == nullptr) return 0;
  const std::size_t got = unpack
                              ? ZSTD_decompress(made, most, *buffer, bytes)
                              : ZSTD_compress(made, most, *buffer, bytes, values > 0 ? static_cast<int>(level[0]) : 3);
  if (ZSTD_isError(got) != 0) {
    std::free(made);  // NOLINT(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory)
    return 0;
  }
  std::free(*buffer);  // NOLINT(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory)
  *buffer = made;
  *size = most;
  return got;
}

void register_zstd() {
  if (H5Zfilter_avail(zstd_filter) > 0) return;
  constexpr H5Z_class2_t made{H5Z_CLASS_T_VERS, zstd_filter, 1, 1, "zstd", nullptr, nullptr, run_zstd};
  check(H5Zregister(&made));
}

// A chunk is as wide as the block in the fastest dimensions.
extents chunk_of(const block& of) {
  extents chunk(of.count);
  std::size_t bytes = of.bytes();
  for (std::size_t i = 0; i < of.count.size() && bytes > bytes_of_chunk; ++i) {
    const hsize_t whole = chunk.of[i];
    const hsize_t parts = std::min<hsize_t>(whole, (bytes + bytes_of_chunk - 1) / bytes_of_chunk);
    chunk.of[i] = (whole + parts - 1) / parts;
    bytes = bytes / whole * chunk.of[i];
  }
  return chunk;
}

}  // namespace

void pack(hid_t creation, const block& of) {
  const extents chunk = chunk_of(of);
  check(H5Pset_chunk(creation, chunk.rank, chunk.data()));
  check(H5Pset_shuffle(creation));
  if (of.packed.by == compression::method::gzip)
    return check(H5Pset_deflate(creation, static_cast<unsigned>(of.packed.level)));
  register_zstd();
  const auto level = static_cast<unsigned>(of.packed.level);
  check(H5Pset_filter(creation, zstd_filter, H5Z_FLAG_MANDATORY, 1, &level));
}

}  // namespace lull::stage::blocks
