// What the front of HDF5, in liblull-hdf5.so, and whoever stages a program's files say to each other.
//
// The front is preloaded into every program of a command. It has those functions of HDF5 by which files begin and end, and
// knows no HDF5: the library that a call is meant for it finds at the call, whichever of 1.10 and later that is, linked,
// brought in late by another library, or one of several. Without hooks a call goes there, and nothing else happens.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lull::stage {

using hdf5_id = std::int64_t;  // since 1.10

// One HDF5 library of this process, by its own functions; null where it has none of that name.
struct hdf5_library {
  hdf5_id (*create)(const char* name, unsigned flags, hdf5_id creation, hdf5_id access) = nullptr;
  hdf5_id (*open)(const char* name, unsigned flags, hdf5_id access) = nullptr;
  int (*close)(hdf5_id file) = nullptr;
  int (*flush)(hdf5_id object, int scope) = nullptr;
  int (*is_hdf5)(const char* name) = nullptr;
  int (*is_accessible)(const char* name, hdf5_id access) = nullptr;
  void* handle = nullptr;  // for dlsym
};

// What stands before HDF5's functions, with the library that the call is meant for. They call it, and hold no lock meanwhile:
// HDF5 calls functions of the program, which may call HDF5.
struct hdf5_hooks {
  hdf5_id (*create)(const hdf5_library&, const char* name, unsigned flags, hdf5_id creation, hdf5_id access);
  hdf5_id (*open)(const hdf5_library&, const char* name, unsigned flags, hdf5_id access);
  int (*close)(const hdf5_library&, hdf5_id file);
  int (*flush)(const hdf5_library&, hdf5_id object, int scope);
  // A file is about to be read: it may be on its way, from this process or another.
  void (*about_to_read)(const char* name);
};

}  // namespace lull::stage

// Of the front, to be found by dlsym: from now on these stand before HDF5. Null: nothing does.
extern "C" [[gnu::visibility("default")]] void lull_hdf5_use(const lull::stage::hdf5_hooks* hooks) noexcept;
