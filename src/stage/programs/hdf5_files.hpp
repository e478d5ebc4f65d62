// The files that an unmodified program writes by HDF5, from H5Fcreate until they are handed over.
//
//   H5Fcreate     creates an empty file in its place and makes HDF5 open memory instead, by its own default driver: the
//                 bytes are those of a plain run. If the client returns no memory, or the file is of a kind that cannot
//                 be staged, the call is unchanged
//   write         limited by the buffer; a file for which there is no room continues in its place (give_to_program)
//   H5Fflush      from then on the file is written even if this process is killed
//   close         when HDF5 closes its descriptor, which may be later than H5Fclose, the file is handed over
//   path calls    wait for files that are handed over (path_front.h); a file that is open in memory continues in its
//                 place as soon as other code than HDF5 looks into it
//
// After a file could not be written, the next of these HDF5 calls fails, once. Any thread, and functions of the program
// that HDF5 calls, may call the hooks: no lock is held while HDF5 runs.
#pragma once
#include <cstdint>
#include <string>

#include "stage/processes/client.hpp"

namespace lull::stage {

// Counts of one process.
struct file_counts {
  std::int64_t created = 0;              // by H5Fcreate
  std::uint64_t written_by_program = 0;  // by the program, and closed
  std::uint64_t bytes = 0;               // of these
  std::int64_t nanoseconds = 0;          // of these, from the begin of H5Fcreate to the end of H5Fclose
  other_files others;
  bool missed = false;  // the program has seen old content of another process's file
};

// While one exists, path calls of this thread are Lull's own.
class not_the_program {
 public:
  not_the_program();
  ~not_the_program();
  not_the_program(const not_the_program&) = delete;
  not_the_program& operator=(const not_the_program&) = delete;
};

void enter_own_calls() noexcept;
void exit_own_calls() noexcept;

// Makes all further path calls of this thread Lull's own.
void begin_own_thread();

// Starts staging. `stages`: false: only counts; `reports`: this process reports what cannot be staged, once for each
// reason. False: the front is not loaded.
[[nodiscard]] bool stage_hdf5_files(client& by, bool stages, bool reports);
// Waits until a file that a single process wrote is in its place.
void complete_whole_file(const std::string& path);
// Ends staging; the program itself writes those files that HDF5 still has open. Call before the client leaves.
file_counts end_staging_hdf5_files();

}  // namespace lull::stage
