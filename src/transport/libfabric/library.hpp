// Loads libfabric when a process first needs it, so that neither Lull nor a package of it needs libfabric. Only this
// folder includes its headers.
//
// Most of libfabric's interface are inline functions that call the provider; only these few are in the library. Its
// structs have grown at their ends from version to version. Each struct that both sides read is therefore allocated by
// the library (fi_dupinfo), and Lull uses only the fields that version 1.15 has.
#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <memory>
#include <string>

namespace lull::transport {

// clang-format off
#define LULL_LIBFABRIC_FUNCTIONS(row) \
  row(fi_dupinfo) \
  row(fi_fabric) \
  row(fi_freeinfo) \
  row(fi_getinfo) \
  row(fi_strerror) \
  row(fi_version)
// clang-format on

// Pointers to libfabric's functions, under their own names.
struct libfabric_library {
#define LULL_POINTER(name) decltype(&::name) name = nullptr;
  LULL_LIBFABRIC_FUNCTIONS(LULL_POINTER)
#undef LULL_POINTER
};

extern libfabric_library libfabric;  // all null before load_libfabric()

// Loads libfabric, once; it is never unloaded. Throws lull::error if it is missing.
void load_libfabric();

// "libfabric answered Connection refused", of a negative result or a positive error number.
[[nodiscard]] std::string libfabric_answer(long code);
// Throws lull::error if the result is negative.
void check_libfabric(long result, const char* action, const char* fix = "");

struct freed_info {
  void operator()(fi_info* all) const { libfabric.fi_freeinfo(all); }
};
using info_list = std::unique_ptr<fi_info, freed_info>;  // owns all that follow in the list

// Any object of libfabric.
template <class Object>
struct closed_fid {
  void operator()(Object* one) const { fi_close(&one->fid); }
};
template <class Object>
using owned_fid = std::unique_ptr<Object, closed_fid<Object>>;

}  // namespace lull::transport
