// The files that an unmodified program writes by HDF5, from H5Fcreate to where they are handed over.
//
//   H5Fcreate     creates the file in its place, empty, and lets HDF5 open memory instead, by its own default driver: the bytes
//                 are those of a plain run. Where the client gives no memory, or the file is of a kind that cannot be
//                 staged, the call stays as it is
//   write         within the buffer; a file for which there is no room goes on in its place (give_to_program)
//   H5Fflush      from then on the file is written even if this process is killed
//   close         when HDF5 closes its descriptor, which may be later than H5Fclose, the file is handed over
//   path calls    wait for what is on its way (path_front.h); a file that is open in memory goes on in its place as soon as
//                 anybody but HDF5 looks into it
//
// After a file could not be written, the next of these calls of HDF5 fails, once. Hooks may be called by any thread, and by
// functions of the program that HDF5 calls: no lock is held while HDF5 works.
#pragma once
#include <cstdint>

#include "stage/processes/client.hpp"

namespace lull::stage {

// Of one process.
struct file_counts {
  std::int64_t created = 0;              // by H5Fcreate
  std::uint64_t written_by_program = 0;  // and closed
  std::uint64_t bytes = 0;               // of these
  std::int64_t nanoseconds = 0;          // of these, from the begin of H5Fcreate to the end of H5Fclose
  other_files others;
  bool missed = false;  // the program has seen another process's file as it was before
};

// As long as one lives, path calls of this thread are our own business.
class not_the_program {
 public:
  not_the_program();
  ~not_the_program();
  not_the_program(const not_the_program&) = delete;
  not_the_program& operator=(const not_the_program&) = delete;
};

// All path calls of this thread are, from now on.
void begin_own_thread();

// From now on. `stages`: and not only counts; `reports`: this process says what cannot be staged, once for each reason. False: the
// front is not there.
[[nodiscard]] bool stage_hdf5_files(client& by, bool stages, bool reports);
// No more files are staged; those that HDF5 has still open the program writes by itself. Before the client leaves.
file_counts end_staging_hdf5_files();

}  // namespace lull::stage
