// The interface between the front of HDF5, in liblull-hdf5.so, and the library that stages a program's files.
//
// The front is preloaded into every program of a command. It defines the HDF5 functions that begin and end files, and
// links no HDF5: it finds the library for a call at the call. This may be any version from 1.10 on, linked, loaded late
// by another library, or one of several. Without hooks it only passes the call on.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lull::stage {

using hdf5_id = std::int64_t;  // since 1.10

// One HDF5 library of this process, by its functions; null if it has none of that name.
struct hdf5_library {
  hdf5_id (*create)(const char* name, unsigned flags, hdf5_id creation, hdf5_id access) = nullptr;
  hdf5_id (*open)(const char* name, unsigned flags, hdf5_id access) = nullptr;
  int (*close)(hdf5_id file) = nullptr;
  int (*flush)(hdf5_id object, int scope) = nullptr;
  int (*is_hdf5)(const char* name) = nullptr;
  int (*is_accessible)(const char* name, hdf5_id access) = nullptr;
  void* handle = nullptr;  // for dlsym
};

// The hooks that replace HDF5's functions; they get the library that the call is for. They call it and hold no lock
// around the call, because HDF5 calls functions of the program, which may call HDF5.
struct hdf5_hooks {
  hdf5_id (*create)(const hdf5_library&, const char* name, unsigned flags, hdf5_id creation, hdf5_id access);
  hdf5_id (*open)(const hdf5_library&, const char* name, unsigned flags, hdf5_id access);
  int (*close)(const hdf5_library&, hdf5_id file);
  int (*flush)(const hdf5_library&, hdf5_id object, int scope);
  // A file is about to be read; it may be outstanding, from this process or another.
  void (*about_to_read)(const char* name);
};

}  // namespace lull::stage

// Exported by the front, found by dlsym: from now on these hooks replace HDF5's functions. Null: none do.
extern "C" [[gnu::visibility("default")]] void lull_hdf5_use(const lull::stage::hdf5_hooks* hooks) noexcept;
