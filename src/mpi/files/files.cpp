#include "mpi/files/files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "mpi/files/device_memory.hpp"

namespace lull::mpi {
namespace {

struct open_files {
  stage::staging* by = nullptr;
  std::mutex mutex;
  std::map<MPI_File, file_pointer> all;
  std::set<std::string> reported;
};

// Lives as long as the process.
open_files& table() {
  static open_files& made = *new open_files;
  return made;
}

}  // namespace

stage::shared_files* files_of_node() noexcept { return table().by != nullptr ? table().by->files() : nullptr; }

file_pointer find_file(MPI_File handle) {
  open_files& of = table();
  if (of.by == nullptr) return nullptr;
  const std::lock_guard hold(of.mutex);
  const auto found = of.all.find(handle);
  return found != of.all.end() ? found->second : nullptr;
}

void remember_file(const file_pointer& file) {
  const std::lock_guard hold(table().mutex);
  table().all[file->handle] = file;
}

void forget_file(MPI_File handle) {
  const std::lock_guard hold(table().mutex);
  table().all.erase(handle);
}

void stage_files(stage::staging& by) { table().by = &by; }
void end_of_files() { table().by = nullptr; }

bool is_for_dedicated_nodes() noexcept {
  return table().by != nullptr && table().by->sets_aside() && !table().by->shares_files();
}

void complete_file(const std::string& path) {
  if (table().by != nullptr) table().by->complete_file(path);
}

library_call::library_call() {
  if (table().by != nullptr) table().by->begin_own_calls();
}
library_call::~library_call() {
  if (table().by != nullptr) table().by->end_own_calls();
}

namespace files {
namespace {

int fail(open_file& file, int code) {
  LULL_LIBRARY(MPI_File_call_errhandler)(file.handle, code);
  return code;
}

int class_of(int error) {
  switch (error) {
    case 0:
      return MPI_SUCCESS;
    case ENOSPC:
    case EFBIG:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    default:
      return MPI_ERR_IO;
  }
}

void set_bytes(MPI_Status* status, std::int64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  if (const auto set = library_function<int(MPI_Status*, MPI_Datatype, MPI_Count)>(function::MPI_Status_set_elements_x))
    set(status, predefined.byte, static_cast<MPI_Count>(bytes));
  else
    LULL_LIBRARY(MPI_Status_set_elements)(status, predefined.byte, static_cast<int>(bytes));
  LULL_LIBRARY(MPI_Status_set_cancelled)(status, 0);
}

// A request that is complete. `bytes` travels in the address.
int complete_request(std::int64_t bytes, MPI_Request* request) {
  const auto query = [](void* state, MPI_Status* status) -> int {
    set_bytes(status, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(state)));
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
  };
  const auto release = [](void*) -> int { return MPI_SUCCESS; };
  const auto cancel = [](void*, int) -> int { return MPI_SUCCESS; };
  void* const state = reinterpret_cast<void*>(static_cast<std::intptr_t>(bytes));  // NOLINT(performance-no-int-to-ptr)
  const int result = LULL_LIBRARY(MPI_Grequest_start)(query, release, cancel, state, request);
  return result == MPI_SUCCESS ? LULL_LIBRARY(MPI_Grequest_complete)(*request) : result;
}

std::int64_t first_byte(const open_file& file, const kind_of_call& kind, const arguments& what) {
  return (kind.at_offset ? what.offset : file.position) * file.etype_size;
}

// The range of the file that an independent call touches.
stage::range range_of_call(open_file& file, const kind_of_call& kind, const arguments& what) {
  const std::lock_guard hold(file.mutex);
  const std::int64_t from = first_byte(file, kind, what), bytes = what.count * size_of_type(what.type);
  stage::range made{std::numeric_limits<std::int64_t>::max(), 0};
  // The pieces of a view ascend, so the first and the last byte are enough.
  for (const std::int64_t at : {from, from + bytes - 1})
    for_pieces(file.view, file.begin, at, bytes > 0 ? 1 : 0, [&](const stage::piece& one) {
      made.begin = std::min(made.begin, one.offset);
      made.end = std::max(made.end, one.end());
      return true;
    });
  return made;
}

stage::collective_call next_collective(open_file& file, const kind_of_call& kind) {
  if (!kind.collective) return {};
  return {file.name + ++file.collective_calls, file.processes_of_my_server, false};
}

// Hands these bytes of the view over, in parts that fit. False: there is no memory.
bool write_view(open_file& file, std::int64_t from, std::int64_t total, const flat_type& memory, const void* buffer,
                stage::collective_call of) {
  stage::shared_files& node = *files_of_node();
  std::vector<stage::piece> pieces;
  auto most = static_cast<std::int64_t>(node.most_bytes() / 2);
  for (std::int64_t done = 0; done < total;) {
    pieces.clear();
    std::int64_t bytes = 0;
    for_pieces(file.view, file.begin, from + done, std::min(total - done, most), [&](const stage::piece& one) {
      if (!pieces.empty() && pieces.back().end() == one.offset)
        pieces.back().length += one.length;
      else if (pieces.size() < node.most_pieces())
        pieces.push_back(one);
      else
        return false;
      bytes += one.length;
      return true;
    });
    std::byte* const to = node.room(pieces.size(), static_cast<std::size_t>(bytes));
    if (to == nullptr) {
      if ((most /= 2) < 4096) return false;
      continue;
    }
    gather(memory, buffer, done, bytes, to);
    done += bytes;
    of.last = done == total;
    node.write(file.number, pieces, to, of);
  }
  if (total == 0) node.write_nothing(file.number, {of.name, of.processes, true});
  return true;
}

}  // namespace

void report_declined(open_file& file, const char* what) {
  files_of_node()->count_declined(file.number);
  report_once(file, what, "the MPI library does it, after everything before is written");
}

void report_once(open_file& file, const char* what, const char* consequence) {
  int rank = 0;
  LULL_LIBRARY(MPI_Comm_rank)(world_of_program, &rank);
  const std::lock_guard hold(table().mutex);
  if (rank == 0 && table().reported.insert(what).second)
    fmt::print(stderr, "lull: stage {}: {}; {}\n", file.path, what, consequence);
}

std::int64_t size_of_type(MPI_Datatype type) {
  int bytes = 0;
  if (const auto ask = library_function<int(MPI_Datatype, MPI_Count*)>(function::MPI_Type_size_x)) {
    MPI_Count many = 0;
    ask(type, &many);
    return static_cast<std::int64_t>(many);
  }
  LULL_LIBRARY(MPI_Type_size)(type, &bytes);
  return bytes;
}

int error_after_close(open_file& file) {
  const int failed = class_of(files_of_node()->close(file.number));
  return failed != MPI_SUCCESS ? fail(file, failed) : MPI_SUCCESS;
}

std::int64_t begin_of_call() noexcept { return now_ns(); }

int failed_inside(open_file& file, const std::exception& problem) {
  fmt::print(stderr, "lull: stage {}: {}\n", file.path, problem.what());
  return fail(file, MPI_ERR_IO);
}

// No exception reaches the program.
int hand_over(open_file& file, const kind_of_call& kind, const arguments& what, bool& staged) try {
  const std::lock_guard hold(file.mutex);
  const bool is_valid = (file.mode & MPI_MODE_RDONLY) == 0 && what.count >= 0 &&
                        (!kind.at_offset || what.offset >= 0) && what.type != predefined.datatype_null;
  if (!file.is_staged() || !is_valid) return MPI_SUCCESS;  // the library returns its error
  const flat_type memory = flattened(what.type);
  const std::int64_t total = memory.size * what.count;
  if (total > 0 && file.view.size == 0) return MPI_SUCCESS;
  staged = true;
  if (const int failed = class_of(files_of_node()->error(file.number)); failed != MPI_SUCCESS)
    return fail(file, failed);
  const stage::collective_call of = next_collective(file, kind);
  const bool packs = total > 0 && file.gpus.may_be_on_device(what.buffer);
  const std::vector<std::byte> copy =
      packs ? packed(what.buffer, what.count, what.type, memory.size) : std::vector<std::byte>();
  if (!write_view(file, first_byte(file, kind, what), total, packs ? flat_bytes() : memory,
                  packs ? copy.data() : what.buffer, of))
    return fail(file, MPI_ERR_NO_MEM);
  if (!kind.at_offset) file.position += total / file.etype_size;
  if (kind.nonblocking) return complete_request(total, what.request);
  if (kind.begins)
    file.split_bytes = total;
  else
    set_bytes(what.status, total);
  return MPI_SUCCESS;
} catch (const std::exception& problem) {
  staged = true;
  return failed_inside(file, problem);
}

int end_of_split(open_file& file, MPI_Status* status) {
  set_bytes(status, file.split_bytes);
  return MPI_SUCCESS;
}

void before_library(open_file& file, const kind_of_call& kind, const arguments& what) {
  if (file.number < 0) return;
  stage::shared_files& node = *files_of_node();
  const bool own_range = kind.reads && !kind.collective && !kind.shared_pointer && file.is_staged();
  const bool waited =
      kind.ends ? false : node.wait(file.number, own_range ? range_of_call(file, kind, what) : stage::range{});
  if (kind.shared_pointer && !kind.ends) report_declined(file, "access by the shared file pointer");
  if (kind.reads && !kind.ends) node.count_read(waited);
  if (kind.at_offset || kind.shared_pointer || kind.ends) return;
  const std::lock_guard hold(file.mutex);
  LULL_LIBRARY(MPI_File_seek)(file.handle, static_cast<MPI_Offset>(file.position), MPI_SEEK_SET);
}

void after_library(open_file& file, const kind_of_call& kind, const arguments& what, std::int64_t begin_ns,
                   int result) {
  stage::shared_files* const node = files_of_node();
  if (!kind.reads && !kind.ends && result == MPI_SUCCESS && node != nullptr)
    node->wrote_itself(begin_ns, static_cast<std::uint64_t>(what.count * size_of_type(what.type)));
  if (file.number < 0) return;
  if (!kind.reads) node->look_at_size(file.number);
  if (kind.at_offset || kind.shared_pointer) return;
  MPI_Offset at = 0;
  const std::lock_guard hold(file.mutex);
  if (LULL_LIBRARY(MPI_File_get_position)(file.handle, &at) == MPI_SUCCESS) file.position = at;
}

int seek(MPI_File handle, MPI_Offset offset, int whence) {
  const file_pointer file = find_file(handle);
  if (!file || file->number < 0) return LULL_LIBRARY(MPI_File_seek)(handle, offset, whence);
  if (whence == MPI_SEEK_END) (void)files_of_node()->wait(file->number, {});
  const std::lock_guard hold(file->mutex);
  // The library's pointer is not up to date: it is set before each call that uses it.
  if (whence == MPI_SEEK_CUR) offset += static_cast<MPI_Offset>(file->position), whence = MPI_SEEK_SET;
  const int result = LULL_LIBRARY(MPI_File_seek)(handle, offset, whence);
  MPI_Offset at = 0;
  if (result == MPI_SUCCESS && LULL_LIBRARY(MPI_File_get_position)(handle, &at) == MPI_SUCCESS) file->position = at;
  return result;
}

int get_position(MPI_File handle, MPI_Offset* offset) {
  const file_pointer file = find_file(handle);
  if (!file || file->number < 0) return LULL_LIBRARY(MPI_File_get_position)(handle, offset);
  const std::lock_guard hold(file->mutex);
  *offset = static_cast<MPI_Offset>(file->position);
  return MPI_SUCCESS;
}

int get_size(MPI_File handle, MPI_Offset* bytes) {
  const file_pointer file = find_file(handle);
  if (!file || file->number < 0) return LULL_LIBRARY(MPI_File_get_size)(handle, bytes);
  if (!file->is_staged()) (void)files_of_node()->wait(file->number, {});
  if (!file->is_staged()) return LULL_LIBRARY(MPI_File_get_size)(handle, bytes);
  *bytes = static_cast<MPI_Offset>(files_of_node()->size(file->number));
  return MPI_SUCCESS;
}

// Collective: what others have handed over before their calls comes before the change, and what they hand over
// afterwards behind it.
int set_size(MPI_File handle, MPI_Offset bytes) {
  const file_pointer file = find_file(handle);
  if (!file || file->number < 0) return LULL_LIBRARY(MPI_File_set_size)(handle, bytes);
  stage::shared_files& node = *files_of_node();
  if (!file->is_staged() || bytes < 0 || (file->mode & MPI_MODE_RDONLY) != 0) {
    (void)node.wait(file->number, {});
    const int result = LULL_LIBRARY(MPI_File_set_size)(handle, bytes);
    node.look_at_size(file->number);
    return result;
  }
  int rank = 0;
  const bool alone = file->comm == predefined.comm_null;
  if (!alone) {
    LULL_LIBRARY(MPI_Comm_rank)(file->comm, &rank);
    LULL_LIBRARY(MPI_Barrier)(file->comm);
  }
  if (rank == 0) node.set_size(file->number, bytes);
  if (!alone) LULL_LIBRARY(MPI_Barrier)(file->comm);
  return MPI_SUCCESS;
}

int preallocate(MPI_File handle, MPI_Offset bytes) {
  const file_pointer file = find_file(handle);
  if (!file || file->number < 0) return LULL_LIBRARY(MPI_File_preallocate)(handle, bytes);
  report_declined(*file, "MPI_File_preallocate");
  (void)files_of_node()->wait(file->number, {});
  const int result = LULL_LIBRARY(MPI_File_preallocate)(handle, bytes);
  files_of_node()->look_at_size(file->number);
  return result;
}

int sync(MPI_File handle) {
  const file_pointer file = find_file(handle);
  if (!file || file->number < 0) return LULL_LIBRARY(MPI_File_sync)(handle);
  stage::shared_files& node = *files_of_node();
  if (node.sync_waits()) (void)node.wait(file->number, {});
  if (const int failed = class_of(node.error(file->number)); failed != MPI_SUCCESS) return fail(*file, failed);
  return node.sync_waits() ? LULL_LIBRARY(MPI_File_sync)(handle) : MPI_SUCCESS;
}

int set_atomicity(MPI_File handle, int flag) {
  const file_pointer file = find_file(handle);
  if (!file || file->number < 0) return LULL_LIBRARY(MPI_File_set_atomicity)(handle, flag);
  (void)files_of_node()->wait(file->number, {});
  if (flag != 0) report_declined(*file, "atomic mode");
  const int result = LULL_LIBRARY(MPI_File_set_atomicity)(handle, flag);
  if (result != MPI_SUCCESS) return result;
  files_of_node()->look_at_size(file->number);
  const std::lock_guard hold(file->mutex);
  file->is_atomic = flag != 0;
  return result;
}

}  // namespace files
}  // namespace lull::mpi
