// The files that the program has open by MPI-IO, by their handles. The library has each of them open, too, with the
// same view: only the writes, and what must know of them, are carried out here.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "mpi/files/device_memory.hpp"
#include "mpi/files/flattening.hpp"
#include "mpi/flavour.hpp"
#include "stage/programs/staging.hpp"
#include "stage/shared/shared_files.hpp"

namespace lull::mpi {

struct open_file {
  MPI_File handle{};
  int number = -1;  // in shared_files; negative: the library writes the file, and its writes are counted only
  int mode = 0;
  std::string path;
  MPI_Comm comm{};                 // of its processes, for set_size; null if it is a single one
  std::uint64_t name = 0;          // of its collective calls, with their count
  int processes_of_my_server = 1;  // of the communicator
  gpu_runtimes gpus;

  std::mutex mutex;  // of what follows
  bool is_atomic = false;
  bool is_native = true;  // the data representation of the view
  flat_type view = flat_bytes();
  std::int64_t begin = 0;  // of the view, in bytes
  std::int64_t etype_size = 1;
  std::int64_t position = 0;  // the individual file pointer, in etypes
  std::uint64_t collective_calls = 0;
  std::int64_t split_bytes = 0;  // of a collective write that has begun
  [[nodiscard]] bool is_staged() const { return number >= 0 && is_native && !is_atomic; }
};

using file_pointer = std::shared_ptr<open_file>;

// Null: not opened while files were staged.
[[nodiscard]] file_pointer find_file(MPI_File handle);
void remember_file(const file_pointer& file);
void forget_file(MPI_File handle);

// Null before stage_files(), and after end_of_files().
[[nodiscard]] stage::shared_files* files_of_node() noexcept;

// Whether ranks are set aside, but not for files of several processes.
[[nodiscard]] bool is_for_dedicated_nodes() noexcept;
// Waits until a file that a single process wrote is in its place.
void complete_file(const std::string& path);

// Between the construction and the destruction, the path calls of this thread, which the library makes, wait for no
// file.
class library_call {
 public:
  library_call();
  ~library_call();
  library_call(const library_call&) = delete;
  library_call& operator=(const library_call&) = delete;
};

}  // namespace lull::mpi
