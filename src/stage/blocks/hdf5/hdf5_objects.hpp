// HDF5 with owners and exceptions.
#pragma once
#include <hdf5.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "stage/blocks/block_file.hpp"

namespace lull::stage::blocks {

// A failure inside HDF5; the caller knows the path.
struct hdf5_failure {
  std::string why;
};

// Throws the last failure that HDF5 has recorded.
[[noreturn]] void fail_as_hdf5_says();
inline void check(herr_t result) {
  if (result < 0) fail_as_hdf5_says();
}

class hdf5_object {
 public:
  hdf5_object(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) fail_as_hdf5_says();
  }
  ~hdf5_object() {
    if (id_ >= 0) close_(id_);
  }
  hdf5_object(const hdf5_object&) = delete;
  hdf5_object& operator=(const hdf5_object&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): it stands for the identifier
  void close() { check(close_(std::exchange(id_, -1))); }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Identifiers that HDF5 keeps in variables. A program that uses HDF5 may have copies of these (copy relocations), which
// its library uses instead of its own; the value seen through the headers then stays at -1.
[[nodiscard]] hid_t hdf5_constant(hid_t seen, const char* variable);
[[nodiscard]] inline hid_t file_access() { return hdf5_constant(H5P_FILE_ACCESS, "H5P_CLS_FILE_ACCESS_ID_g"); }
[[nodiscard]] inline hid_t link_creation() { return hdf5_constant(H5P_LINK_CREATE, "H5P_CLS_LINK_CREATE_ID_g"); }
[[nodiscard]] inline hid_t dataset_creation() {
  return hdf5_constant(H5P_DATASET_CREATE, "H5P_CLS_DATASET_CREATE_ID_g");
}

// The values of H5F_ACC_...; those macros also compare the versions of headers and library, and may abort.
inline constexpr unsigned read_only = 0x0, truncate_it = 0x2;

// Silences HDF5's messages while it lives; Lull reports failures itself.
class quiet_hdf5 {
 public:
  quiet_hdf5() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &with_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~quiet_hdf5() { H5Eset_auto2(H5E_DEFAULT, print_, with_); }
  quiet_hdf5(const quiet_hdf5&) = delete;
  quiet_hdf5& operator=(const quiet_hdf5&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* with_ = nullptr;
};

// Extents in HDF5's types.
struct extents {
  int rank;
  std::array<hsize_t, most_dimensions> of;
  explicit extents(const std::vector<std::int64_t>& values);
  [[nodiscard]] const hsize_t* data() const { return of.data(); }
};

[[nodiscard]] hid_t type_of(element what);  // owned by HDF5, not to be closed

void write_attribute(hid_t to, const char* name, const std::vector<std::int64_t>& values);
void write_attribute(hid_t to, const char* name, const std::string& text);

}  // namespace lull::stage::blocks
