#include "output.hpp"

#include <hdf5.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

namespace stencil {
namespace {

// HDF5's reason for the last failure: the cause, not its consequences.
std::string reason_of_hdf5() {
  std::string cause;
  const auto first = [](unsigned, const H5E_error2_t* error, void* into) -> herr_t {
    auto& text = *static_cast<std::string*>(into);
    if (text.empty() && error->desc != nullptr) text = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first, &cause);
  return cause.empty() ? "HDF5 reports no reason" : cause;
}

// An identifier of HDF5, closed at the end of its scope.
class owned {
 public:
  owned(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) throw std::runtime_error(reason_of_hdf5());
  }
  ~owned() {
    if (id_ >= 0) close_(id_);
  }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): it stands for the identifier

  void close() {
    const hid_t id = std::exchange(id_, -1);
    check(close_(id));
  }
  static void check(herr_t result) {
    if (result < 0) throw std::runtime_error(reason_of_hdf5());
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void write_attribute(hid_t file, const char* name, const std::vector<int>& values) {
  const hsize_t count = values.size();
  const owned space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const owned attribute(H5Acreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  owned::check(H5Awrite(attribute, H5T_NATIVE_INT, values.data()));
}

void write_dataset(hid_t file, const char* name, hid_t type_in_file, hid_t type, hid_t in_memory, hid_t in_file,
                   const void* data) {
  const owned properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  owned::check(H5Pset_obj_track_times(properties, false));  // the same air gives the same bytes
  const owned set(H5Dcreate2(file, name, type_in_file, in_file, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
  owned::check(H5Dwrite(set, type, in_memory, in_file, H5P_DEFAULT, data));
}

void write_all(const std::string& path, int step, const grid& where, const air& what) {
  const auto [nx, ny, nz] = where.cells();
  const std::array<hsize_t, 3> cells{static_cast<hsize_t>(nz), static_cast<hsize_t>(ny), static_cast<hsize_t>(nx)};
  const std::array<hsize_t, 3> with_border{cells[0], cells[1] + 2, cells[2] + 2};
  const std::array<hsize_t, 3> begin{0, 1, 1};

  owned file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  write_attribute(file, "step", {step});
  write_attribute(file, "origin", {where.origin()[0], where.origin()[1]});
  write_attribute(file, "all_cells", {where.all_cells()[0], where.all_cells()[1], where.all_cells()[2]});
  const owned in_file(H5Screate_simple(3, cells.data(), nullptr), H5Sclose);
  const owned in_memory(H5Screate_simple(3, with_border.data(), nullptr), H5Sclose);
  owned::check(H5Sselect_hyperslab(in_memory, H5S_SELECT_SET, begin.data(), nullptr, cells.data(), nullptr));
  for (std::size_t q = 0; q < quantity_names.size(); ++q)
    write_dataset(file, quantity_names[q].data(), H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, in_memory, in_file,
                  what.quantities()[q].data());
  const std::vector<std::uint8_t> cloudy = what.cloudy();
  write_dataset(file, "cloudy", H5T_STD_U8LE, H5T_NATIVE_UINT8, in_file, in_file, cloudy.data());
  file.close();
}

}  // namespace

void write_output(const std::string& folder, int step, const grid& where, const air& what) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // reported below, in one line
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "stencil_%06d_%05d.h5", step, where.rank());
  const std::string path = folder + "/" + name.data();
  try {
    write_all(path, step, where, what);
  } catch (const std::exception& error) {
    throw std::runtime_error("write " + path + ": " + error.what());
  }
}

}  // namespace stencil
