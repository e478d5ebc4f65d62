// MPI-IO of a program whose output servers write: writes are copied and handed over (stage/shared/shared_files.hpp), and
// calls that depend on them wait for them. The bytes of the file are those of a plain run.
//
//   stage_files(staging)   from now on; before that, and after end_of_files(), all calls are the library's
//   writes                 the pieces of the view and the bytes are handed over; they are complete on return, also
//                          nonblocking and split ones
//   reads                  wait for what was handed over before, then the library reads: an independent read for its
//                          own bytes, a collective one for the whole file, because aggregators read for others
//   size, set_size         are known without waiting, and ordered among the writes
//   sync, and everything else that needs the data: atomic mode, shared file pointers, preallocate, other data
//   representations        wait until everything is written; then the library does it
//
// The library's data functions may read, change and write back whole blocks. So none is called while an entry of the
// file is pending.
#pragma once
#include <cstdint>
#include <exception>
#include <string_view>
#include <type_traits>

#include "mpi/files/open_files.hpp"
#include "mpi/functions.hpp"
#include "mpi/library.hpp"

namespace lull::mpi {

void stage_files(stage::staging& by);
void end_of_files();

namespace files {

int open(MPI_Comm comm, const char* path, int mode, MPI_Info info, MPI_File* handle);
int close(MPI_File* handle);
int remove(const char* path, MPI_Info info);
int set_view(MPI_File handle, MPI_Offset begin, MPI_Datatype etype, MPI_Datatype type, const char* representation,
             MPI_Info info);
int seek(MPI_File handle, MPI_Offset offset, int whence);
int get_position(MPI_File handle, MPI_Offset* offset);
int get_size(MPI_File handle, MPI_Offset* bytes);
int set_size(MPI_File handle, MPI_Offset bytes);
int preallocate(MPI_File handle, MPI_Offset bytes);
int sync(MPI_File handle);
int set_atomicity(MPI_File handle, int flag);

// What the name of a data function says.
struct kind_of_call {
  bool nonblocking, at_offset, collective, begins, ends, shared_pointer, reads;
};
[[nodiscard]] constexpr kind_of_call kind_of(function f) {
  const std::string_view name = function_names[static_cast<unsigned>(f)];
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return {.nonblocking = has("_iwrite") || has("_iread"),
          .at_offset = has("_at"),
          .collective = has("_all") || has("_ordered"),
          .begins = has("_begin"),
          .ends = has("_end"),
          .shared_pointer = has("_shared") || has("_ordered"),
          .reads = has("read")};
}

// The arguments of a data function, whatever their number.
struct arguments {
  std::int64_t offset = 0;  // in etypes
  const void* buffer = nullptr;
  std::int64_t count = 0;
  MPI_Datatype type{};
  MPI_Status* status = nullptr;
  MPI_Request* request = nullptr;
};

template <function f>
class arguments_of {
 public:
  template <class... Parameters>
  [[nodiscard]] static arguments from(Parameters... all) {
    arguments_of made;
    (made.take(all), ...);
    return made.found_;
  }

 private:
  void take(const void* buffer) { found_.buffer = buffer; }
  void take(MPI_Status* status) { found_.status = status; }
  void take(MPI_Request* request) { found_.request = request; }
  // An offset, then a count; a datatype is a number in some libraries.
  template <class Number>
  requires(std::is_integral_v<Number> && !std::is_same_v<Number, MPI_Datatype>) void take(Number number) {
    take_number(number);
  }
  void take(MPI_Datatype type) {
    if constexpr (std::is_same_v<MPI_Datatype, int>) {
      if (!has_count_ && (!kind_of(f).at_offset || has_offset_)) return take_number(type);
    }
    found_.type = type;
  }
  void take_number(std::int64_t number) {
    if (kind_of(f).at_offset && !has_offset_) {
      found_.offset = number;
      has_offset_ = true;
    } else {
      found_.count = number;
      has_count_ = true;
    }
  }

  arguments found_;
  bool has_offset_ = false, has_count_ = false;
};

// Returns MPI's error class. `staged`: the call is complete; otherwise the library must carry it out.
[[nodiscard]] int hand_over(open_file& file, const kind_of_call& kind, const arguments& what, bool& staged);
// Before and after a call that the library carries out.
void before_library(open_file& file, const kind_of_call& kind, const arguments& what);
void after_library(open_file& file, const kind_of_call& kind, const arguments& what, std::int64_t begin_ns, int result);
[[nodiscard]] int error_after_close(open_file& file);  // closes it for the servers
// Prints a line, once for each reason, on the first rank; counts the call.
void report_declined(open_file& file, const char* what);
[[nodiscard]] int failed_inside(open_file& file, const std::exception& problem);  // prints it, and returns an error
void report_once(open_file& file, const char* what, const char* consequence);
[[nodiscard]] std::int64_t size_of_type(MPI_Datatype type);
[[nodiscard]] int end_of_split(open_file& file, MPI_Status* status);
[[nodiscard]] std::int64_t begin_of_call() noexcept;

// Reads, and all calls with a shared file pointer.
template <function f, class... Parameters>
int by_library(MPI_File handle, Parameters... rest) {
  const auto library = library_function<int(MPI_File, Parameters...)>(f);
  const file_pointer file = find_file(handle);
  if (!file) return library(handle, rest...);
  constexpr kind_of_call kind = kind_of(f);
  const arguments what = arguments_of<f>::from(rest...);
  const std::int64_t begin_ns = begin_of_call();
  before_library(*file, kind, what);
  const int result = library(handle, rest...);
  after_library(*file, kind, what, begin_ns, result);
  return result;
}

template <function f, class... Parameters>
int write(MPI_File handle, Parameters... rest) {
  const file_pointer file = find_file(handle);
  bool staged = false;
  if (file) {
    const int result = hand_over(*file, kind_of(f), arguments_of<f>::from(rest...), staged);
    if (staged) return result;
  }
  return by_library<f, Parameters...>(handle, rest...);
}

template <function f, class... Parameters>
int end_write(MPI_File handle, Parameters... rest) {
  const file_pointer file = find_file(handle);
  if (file && file->is_staged()) return end_of_split(*file, arguments_of<f>::from(rest...).status);
  return by_library<f, Parameters...>(handle, rest...);
}

}  // namespace files
}  // namespace lull::mpi
