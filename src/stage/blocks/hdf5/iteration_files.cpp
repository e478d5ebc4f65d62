#include "stage/blocks/hdf5/iteration_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "stage/blocks/hdf5/hdf5_making.hpp"
#include "stage/blocks/hdf5/hdf5_objects.hpp"

namespace lull::stage::blocks {
namespace {

namespace fs = std::filesystem;

void write_block(hid_t file, const std::string& group, const block& one, const std::byte* data) {
  const extents count(one.count);
  const hdf5_object space(H5Screate_simple(count.rank, count.data(), nullptr), H5Sclose);
  const hdf5_object linking(H5Pcreate(link_creation()), H5Pclose), creation(H5Pcreate(dataset_creation()), H5Pclose);
  check(H5Pset_create_intermediate_group(linking, 1));
  check(H5Pset_obj_track_times(creation, 0));  // equal data must give equal files
  if (one.packed.by == compression::method::none)
    check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));  // everything is written
  else
    pack(creation, one);
  const hid_t type = type_of(one.type);
  const std::string name = group + one.variable;
  const hdf5_object made(H5Dcreate2(file, name.c_str(), type, space, linking, creation, H5P_DEFAULT), H5Dclose);
  check(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  if (!one.unit.empty()) write_attribute(made, "unit", one.unit);
  write_attribute(made, "offset", one.offset);
  write_attribute(made, "extents_of_all", one.all);
}

// What the virtual file needs, without opening each dataset.
void write_record(hid_t file, std::span<const block_file* const> of) {
  packet all;
  all.put(static_cast<std::uint32_t>(of.size()));
  for (const block_file* const one : of) put(all, one->about());
  const hsize_t bytes = all.bytes().size();
  const hdf5_object space(H5Screate_simple(1, &bytes, nullptr), H5Sclose),
      creation(H5Pcreate(dataset_creation()), H5Pclose);
  check(H5Pset_obj_track_times(creation, 0));
  const hdf5_object made(
      H5Dcreate2(file, name_of_own_record, type_of(element::uint8), space, H5P_DEFAULT, creation, H5P_DEFAULT),
      H5Dclose);
  check(H5Dwrite(made, type_of(element::uint8), H5S_ALL, H5S_ALL, H5P_DEFAULT, all.bytes().data()));
}

// `of` must be sorted by process.
std::uint64_t write_file(std::span<const block_file* const> of, const destination& where, bool sync) {
  return make_hdf5_file(where, sync, [&](hid_t file) {
    write_attribute(file, "iteration", std::vector<std::int64_t>{of.front()->about().iteration});
    write_attribute(file, "processes", std::vector<std::int64_t>{of.front()->about().processes});
    std::vector<std::int64_t> contains;
    for (const block_file* const one : of) {
      const head& about = one->about();
      contains.push_back(about.process);
      const std::string group = of.size() == 1 ? "" : fmt::format("p{:04}/", about.process);
      for (const block& each : about.blocks)
        if (each.position > 0 && each.bytes() > 0) write_block(file, group, each, one->data(each));
    }
    write_attribute(file, "contains_processes", contains);
    write_record(file, of);
  });
}

// The first writer makes the folder of the iteration.
void make_folder(const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw error("make the folder " + folder, failed.message());
}

}  // namespace

amount write_iteration(std::span<const handed_over> all, bool sync) {
  const std::string folder = fs::path(all.front().where.path).parent_path();
  std::vector<block_file> files;
  files.reserve(all.size());
  for (const handed_over& one : all) files.emplace_back(one.content);
  make_folder(folder);

  amount written;
  if (files.front().about().one_file && files.size() > 1) {
    std::vector<const block_file*> in_order;
    in_order.reserve(files.size());
    for (const block_file& one : files) in_order.push_back(&one);
    std::ranges::sort(in_order, {}, [](const block_file* one) { return one->about().process; });
    destination where = all.front().where;
    where.path = fmt::format("{}/p{:04}+{}.h5", folder, in_order.front()->about().process, files.size() - 1);
    written.add(write_file(in_order, where, sync));
  } else {
    std::exception_ptr first;
    for (std::size_t i = 0; i < files.size(); ++i) try {
        const block_file* const one = &files[i];
        written.add(write_file({&one, 1}, all[i].where, sync));
      } catch (const error&) {
        if (!first) first = std::current_exception();
      }
    if (first) std::rethrow_exception(first);
  }
  (void)write_virtual_file(folder, files.front().about().processes, sync);
  return written;
}

}  // namespace lull::stage::blocks
