// The files that an unmodified program writes by HDF5, from H5Fcreate to where they are handed over.
//
//   H5Fcreate     HDF5 creates the file in memory, by its own default driver: the bytes are those of a plain run. Where
//                 the client gives no memory, or the file is of a kind that cannot be staged, the call stays as it is
//   H5Fclose      when HDF5 has closed the file, which is later where objects in it are still open, it is handed over
//   H5Fget_name   says the program's name
//   H5Fopen       of an open file finds it; of one that is on its way waits until it is written, and so do rename, remove
//                 and unlink
//
// Hooks may be called by any thread; they come one at a time.
#pragma once
#include <cstdint>
#include <string>

#include "stage/client.hpp"

namespace lull::stage {

// Of one process.
struct file_counts {
  std::int64_t created = 0;              // by H5Fcreate
  std::uint64_t written_by_program = 0;  // and closed
  std::uint64_t bytes = 0;               // of these
  std::int64_t nanoseconds = 0;          // of these, from the begin of H5Fcreate to the end of H5Fclose
};

// As long as one lives, what this thread renames and removes is our own business: who calls the client without having come by
// a hook must not meet one on its way.
class not_the_program {
 public:
  not_the_program();
  ~not_the_program();
  not_the_program(const not_the_program&) = delete;
  not_the_program& operator=(const not_the_program&) = delete;
};

// From now on. `speaks`: this process says what cannot be staged, once for each reason. False: the front is not there.
[[nodiscard]] bool stage_hdf5_files(client& by, bool stages, bool speaks);
// No more files are staged; those that HDF5 has still open are written by this process when it closes them, at its exit at
// the latest. Before the client leaves.
file_counts end_staging_hdf5_files();

}  // namespace lull::stage
