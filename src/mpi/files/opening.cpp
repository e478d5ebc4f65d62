// Opening and closing, views, and removing: what changes which bytes a handle means.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/files/files.hpp"

namespace lull::mpi::files {
namespace {

// "ufs:/x": some libraries take the kind of the file system in front of the path.
std::string path_of(const char* name) {
  const std::string_view all = name;
  const std::size_t colon = all.find(':');
  return std::string(colon != all.npos && colon > 1 && colon < all.find('/') ? all.substr(colon + 1) : all);
}

constexpr auto by_program = "the program writes it itself";

// Negative: this process cannot write it. The others are to know, so no exception leaves this.
int number_of(const std::string& name, int mode) noexcept try {
  if ((mode & MPI_MODE_SEQUENTIAL) != 0) return -1;
  return files_of_node()->open(name, (mode & MPI_MODE_RDONLY) == 0).value_or(-1);
} catch (const std::exception&) {
  return -1;
}

// What each process of a communicator knows after it has opened a file.
struct opened {
  std::uint64_t name;
  std::int32_t has_it;
  std::int32_t server;
};

// The upper 32 bits: the process, and how many files it has opened; the lower ones count calls.
std::uint64_t new_name(int world_rank) {
  static std::atomic<std::uint32_t> opens = 0;
  return (static_cast<std::uint64_t>(world_rank + 1) << 52U) | (static_cast<std::uint64_t>(opens++ & 0xfffffU) << 32U);
}

// Whether all processes of the communicator belong to the program's world, and so stage, too. Others, which this program
// has spawned or connected to, do not take part in agree(). Local.
bool is_of_program(MPI_Comm comm) {
  MPI_Group group = predefined.group_null, world = predefined.group_null;
  LULL_LIBRARY(MPI_Comm_group)(comm, &group);
  LULL_LIBRARY(MPI_Comm_group)(world_of_program, &world);
  int ranks = 0;
  LULL_LIBRARY(MPI_Group_size)(group, &ranks);
  std::vector<int> in_group(static_cast<std::size_t>(ranks)), in_world(in_group.size());
  std::iota(in_group.begin(), in_group.end(), 0);
  LULL_LIBRARY(MPI_Group_translate_ranks)(group, ranks, in_group.data(), world, in_world.data());
  LULL_LIBRARY(MPI_Group_free)(&group);
  LULL_LIBRARY(MPI_Group_free)(&world);
  return std::ranges::find(in_world, MPI_UNDEFINED) == in_world.end();
}

// Whether a call that failed had a communicator at all.
bool has_communicator(int result) {
  int error = MPI_SUCCESS;
  const auto ask = library_function<int(int, int*)>(function::MPI_Error_class);
  return ask(result, &error) == MPI_SUCCESS && error != MPI_ERR_COMM;
}

// No process writes before all know the file. A communicator of its own serves set_size: the program may free its own.
void agree(open_file& file, MPI_Comm comm, bool is_open) {
  int ranks = 1, rank = 0, world_rank = 0;
  LULL_LIBRARY(MPI_Comm_size)(comm, &ranks);
  LULL_LIBRARY(MPI_Comm_rank)(comm, &rank);
  LULL_LIBRARY(MPI_Comm_rank)(world_of_program, &world_rank);
  const opened mine{new_name(world_rank), file.number >= 0 ? 1 : 0, files_of_node()->server()};
  std::vector<opened> all(static_cast<std::size_t>(ranks));
  LULL_LIBRARY(MPI_Allgather)
  (&mine, sizeof mine, predefined.byte, all.data(), sizeof mine, predefined.byte, comm);
  if (std::ranges::any_of(all, [](const opened& one) { return one.has_it == 0; })) {
    if (file.number >= 0) (void)files_of_node()->close(file.number);
    file.number = -1;
    if ((file.mode & MPI_MODE_RDONLY) == 0 && is_open)
      report_once(file,
                  "a process that has it open has no server, does not see the same file, or may see late what other "
                  "nodes write (NFS); or it is not a regular file, or sequential",
                  by_program);
    return;
  }
  file.name = all[0].name;
  file.processes_of_my_server = static_cast<int>(std::ranges::count(all, mine.server, &opened::server));
  if (ranks > 1) LULL_LIBRARY(MPI_Comm_split)(comm, 0, rank, &file.comm);
}

}  // namespace

int open(MPI_Comm comm, const char* path, int mode, MPI_Info info, MPI_File* handle) {
  const MPI_Comm seen = in_world_of_program<true>(comm);
  stage::shared_files* const node = files_of_node();
  if (node == nullptr) return LULL_LIBRARY(MPI_File_open)(seen, path, mode, info, handle);
  const std::string name = path_of(path);
  complete_file(name);
  if ((mode & MPI_MODE_APPEND) != 0) node->wait_for(name);
  int result = MPI_SUCCESS;
  {
    const library_call here;
    result = LULL_LIBRARY(MPI_File_open)(seen, path, mode, info, handle);
  }
  // One process alone may have failed (Open MPI), while the others wait in agree().
  const bool agrees = node->takes_files() && has_communicator(result) && is_of_program(seen);
  if (result != MPI_SUCCESS && !agrees) return result;
  const auto file = std::make_shared<open_file>();
  file->handle = *handle;
  file->comm = predefined.comm_null;
  file->mode = mode;
  file->path = name;
  if (agrees) {
    if (result == MPI_SUCCESS) file->number = number_of(name, mode);
    agree(*file, seen, result == MPI_SUCCESS);
    if (result != MPI_SUCCESS) return result;
  } else if ((mode & MPI_MODE_RDONLY) == 0) {
    if (node->takes_files())
      report_once(*file, "processes that were spawned, or of another job, have it open, too", by_program);
    else if (is_for_dedicated_nodes())
      report_once(*file, "several processes share the file (MPI-IO), with dedicated nodes", by_program);
  }
  if ((mode & MPI_MODE_APPEND) != 0) {
    MPI_Offset at = 0;
    LULL_LIBRARY(MPI_File_get_position)(*handle, &at);
    file->position = at;
  }
  remember_file(file);
  return result;
}

int close(MPI_File* handle) {
  const file_pointer file = find_file(*handle);
  if (!file) return LULL_LIBRARY(MPI_File_close)(handle);
  int failed = MPI_SUCCESS;
  if (file->number >= 0) {
    if ((file->mode & MPI_MODE_DELETE_ON_CLOSE) != 0) (void)files_of_node()->wait(file->number, {});
    failed = error_after_close(*file);
    if (file->comm != predefined.comm_null) LULL_LIBRARY(MPI_Comm_free)(&file->comm);
  }
  forget_file(*handle);
  const library_call here;
  const int result = LULL_LIBRARY(MPI_File_close)(handle);
  return result != MPI_SUCCESS ? result : failed;
}

int remove(const char* path, MPI_Info info) {
  if (stage::shared_files* const node = files_of_node()) node->wait_for(path_of(path));
  return LULL_LIBRARY(MPI_File_delete)(path, info);
}

int set_view(MPI_File handle, MPI_Offset begin, MPI_Datatype etype, MPI_Datatype type, const char* representation,
             MPI_Info info) {
  const file_pointer file = find_file(handle);
  if (!file || file->number < 0)
    return LULL_LIBRARY(MPI_File_set_view)(handle, begin, etype, type, representation, info);
  const bool is_native = std::strcmp(representation, "native") == 0 || std::strcmp(representation, "internal") == 0;
  if (is_native != file->is_native) (void)files_of_node()->wait(file->number, {});
  const int result = LULL_LIBRARY(MPI_File_set_view)(handle, begin, etype, type, representation, info);
  if (result != MPI_SUCCESS) return result;
  if (!is_native) report_declined(*file, "a view with another data representation than native");
  flat_type view;
  try {
    view = flattened(type);
  } catch (const std::exception& problem) {
    return failed_inside(*file, problem);
  }
  const std::int64_t etype_size = size_of_type(etype);
  if (is_native && !file->is_native) files_of_node()->look_at_size(file->number);
  const std::lock_guard hold(file->mutex);
  file->is_native = is_native;
  file->view = std::move(view);
  file->begin = begin;
  file->etype_size = std::max<std::int64_t>(etype_size, 1);
  file->position = 0;
  return result;
}

}  // namespace lull::mpi::files
