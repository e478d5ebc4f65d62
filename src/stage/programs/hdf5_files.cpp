#include "stage/programs/hdf5_files.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "base/clock.hpp"
#include "stage/programs/files_under_way.hpp"
#include "stage/programs/hdf5_front.hpp"
#include "stage/programs/path_front.h"
#include "stage/programs/staged_kinds.hpp"

namespace lull::stage {
namespace {

// From H5Fpublic.h; unchanged since 1.10.
constexpr unsigned read_write = 0x1, exclusive = 0x4;

// The functions of the front, which is in another library.
struct path_front {
  decltype(&lull_hdf5_use) use_hdf5 = nullptr;
  decltype(&lull_paths_use) use_paths = nullptr;
  decltype(&lull_paths_begin_creation) begin_creation = nullptr;
  decltype(&lull_paths_end_creation) end_creation = nullptr;
  decltype(&lull_paths_watch) watch = nullptr;
  decltype(&lull_paths_enter) enter = nullptr;
  decltype(&lull_paths_exit) exit = nullptr;
  decltype(&lull_paths_inside) inside = nullptr;
} front;

template <class Function>
bool find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

bool find_front() {
  return find(front.use_hdf5, "lull_hdf5_use") && find(front.use_paths, "lull_paths_use") &&
         find(front.begin_creation, "lull_paths_begin_creation") &&
         find(front.end_creation, "lull_paths_end_creation") && find(front.watch, "lull_paths_watch") &&
         find(front.enter, "lull_paths_enter") && find(front.exit, "lull_paths_exit") &&
         find(front.inside, "lull_paths_inside");
}

struct staged {
  staged_file file;
  std::size_t place;     // in files::under_way
  std::size_t size = 0;  // as far as it is written
  bool given = false;    // to the program
};

struct plain {
  std::string name;
  std::int64_t begin_ns;
};

// Lives as long as the process, because HDF5 may close files after everything else has ended.
struct files {
  std::mutex mutex;
  client* by = nullptr;  // null: no more files are staged
  bool stages = false;   // false: only counts
  bool reports = false;
  std::map<int, staged> open;  // by the descriptor that HDF5 uses
  std::map<hdf5_id, plain> written_by_program;
  std::set<std::string> handed_over;  // paths
  std::set<std::string> reported;
  file_counts counts;

  // Used without the mutex.
  files_under_way under_way;
  std::atomic<client*> client_of_handlers = nullptr;
  std::atomic<bool> missed = false;  // the program saw old content of another process's file
};

files& all() {
  static files& made = *new files;
  return made;
}

// The calls of this thread are Lull's own, and it holds the lock of the shared state.
class locked {
 public:
  explicit locked(files& of) : lock_(of.mutex) {}

 private:
  const not_the_program here_;  // before the lock: a signal handler of this thread must not wait for it
  const std::lock_guard<std::mutex> lock_;
};

void report(const std::exception& problem) { fmt::print(stderr, "lull: {}\n", problem.what()); }

// Also for signal handlers.
void report_plainly(const char* line) { (void)!write(STDERR_FILENO, line, __builtin_strlen(line)); }

void decline(files& of, const std::string& name, const std::string& why) {
  if (of.reports && of.reported.insert(why).second)
    fmt::print(stderr, "lull: stage {}: {}; the program writes it itself\n", name, why);
}

void report_failures(files& of) {
  if (of.by == nullptr) return;
  for (const std::string& line : of.by->failures()) fmt::print(stderr, "lull: {}\n", line);
}

// ---- files that are open in memory ----

// Afterwards this library's only task is that HDF5 may open it once more.
void give(files& of, staged& one) {
  of.by->give_to_program(one.file);
  one.given = true;
  of.under_way.give(one.place, one.file.descriptor());
}

bool give_or_report(files& of, staged& one) {
  try {
    give(of, one);
    return true;
  } catch (const std::exception& problem) {
    report(problem);  // it stays in memory; the next attempt is at its close
    return false;
  }
}

int close_descriptor(int descriptor) {
  files& of = all();
  const locked here(of);
  front.watch(descriptor, 0);
  auto closed = of.open.extract(descriptor);
  if (closed.empty() || of.by == nullptr) return 0;
  staged& one = closed.mapped();
  try {
    if (one.given) {
      of.under_way.remove(one.place);
      of.by->drop(std::move(one.file));
      return 0;
    }
    of.handed_over.insert(one.file.final_path());
    if (const std::uint32_t count = of.by->hand_over(std::move(one.file)))
      of.under_way.hand_over(one.place, count);
    else
      of.under_way.remove(one.place);
    report_failures(of);
  } catch (const std::exception& problem) {
    report(problem);
  }
  return 1;
}

void grow(int descriptor, off_t end) {
  files& of = all();
  const locked here(of);
  const auto found = of.open.find(descriptor);
  if (found == of.open.end() || of.by == nullptr || found->second.given) return;
  staged& one = found->second;
  const auto size = static_cast<std::size_t>(end);
  if (size <= one.size) return;
  const bool fits = of.by->may_grow(one.file, size - one.size);
  one.size = size;
  if (!fits) (void)give_or_report(of, one);
}

// ---- path calls; no lock and no memory before the file is known to be Lull's ----

void see_to_files(files& of) {
  const locked here(of);
  if (of.by == nullptr) return;
  of.by->see_to_files();
  report_failures(of);
}

void wait_for(files& of, std::uint32_t count) {
  const client* const by = of.client_of_handlers;
  if (by == nullptr || by->wait_for(count)) return;
  see_to_files(of);
}

// Waits for whole files that other processes of this node have handed over. False: one of them will not be written.
bool wait_for_others(files& of, const file_identity* place) {
  const client* const by = of.client_of_handlers;
  if (by == nullptr || by->wait_for_others(place)) return true;
  of.missed = true;
  report_plainly(
      "lull: wait for the output of another process: it will not be written, and the existing file is out of date\n");
  return false;
}

// Waits for a process of another node, if one has marked the file. Only for a file that HDF5 is about to open, because
// closing a descriptor of a file releases the program's locks (fcntl) on it.
void wait_for_mark_of(const char* path) {
  const long opened = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (opened < 0) return;
  (void)wait_for_mark(static_cast<int>(opened));
  syscall(SYS_close, opened);
}

// Also for those that several processes write together; null: any.
void wait_for_shared(files& of, const file_identity* place) {
  if (const client* const by = of.client_of_handlers) by->shared().wait_outside(place);
}

int use_whole(const struct stat* found, lull_path_use how) {
  files& of = all();
  const file_identity file{found->st_dev, found->st_ino};
  const files_under_way::found which = of.under_way.find(file);
  switch (which.what) {
    case files_under_way::state::absent:
      (void)wait_for_others(of, &file);
      return -1;
    case files_under_way::state::handed_over:
      wait_for(of, which.count);
      return -1;
    case files_under_way::state::given:
      return how == lull_path_by_hdf5 ? which.descriptor : -1;
    case files_under_way::state::open:
      break;
  }
  if (how == lull_path_by_hdf5) return which.descriptor;
  if (how == lull_path_look) return -1;
  const locked here(of);
  if (const auto open = of.open.find(which.descriptor);
      open != of.open.end() && of.by != nullptr && !open->second.given)
    (void)give_or_report(of, open->second);
  return -1;
}

int use(const struct stat* found, lull_path_use how) {
  const file_identity file{found->st_dev, found->st_ino};
  wait_for_shared(all(), &file);
  return use_whole(found, how);
}

void describe(struct stat* found, int by_hdf5) {
  const files_under_way::found which = all().under_way.find({found->st_dev, found->st_ino});
  struct stat memory {};
  if (which.what != files_under_way::state::open || fstat(which.descriptor, &memory) != 0) return;
  if (by_hdf5 != 0) {
    *found = memory;
    return;
  }
  found->st_size = memory.st_size;
  found->st_blocks = memory.st_blocks;
  found->st_mtim = memory.st_mtim;
}

int is_ours(const struct stat* found) {
  return all().under_way.find({found->st_dev, found->st_ino}).what != files_under_way::state::absent;
}

// A removal must wait until everything handed over earlier is safe.
int before_removal() {
  files& of = all();
  const client* const by = of.client_of_handlers;
  if (by == nullptr) return 0;
  wait_for_shared(of, nullptr);
  wait_for(of, by->latest());
  if (wait_for_others(of, nullptr) && !by->has_failures()) return 0;
  report_plainly(
      "lull: remove or rename a file: output that the program wrote before could not be written; nothing is removed\n");
  return EIO;
}

void before_other_programs() {
  files& of = all();
  if (const client* const by = of.client_of_handlers) {
    wait_for_shared(of, nullptr);
    wait_for(of, by->latest());
    (void)wait_for_others(of, nullptr);
  }
}

constexpr lull_path_hooks path_hooks{use, describe, is_ours, before_removal, before_other_programs, close_descriptor,
                                     grow};

// ---- HDF5 ----

// Whether the program has not seen yet that a file could not be written.
bool fails_now(files& of) {
  if (of.by == nullptr) return false;
  report_failures(of);
  return of.by->takes_new_failure();
}

std::string path_of(const char* name) { return final_path_of(name).value_or(name); }

// Whether HDF5 has the file with this name open; HDF5 detects this by itself.
bool is_open(const files& of, const char* name) {
  struct stat found {};
  if (stat(name, &found) != 0) return false;
  const auto what = of.under_way.find({found.st_dev, found.st_ino}).what;
  return what == files_under_way::state::open || what == files_under_way::state::given;
}

std::optional<staged_file> begin(files& of, const hdf5_library& library, const char* name, unsigned flags,
                                 hdf5_id access) {
  const char* why = why_not_staged(library, flags, access);  // calls HDF5
  const locked here(of);
  if (of.by == nullptr || is_open(of, name)) return std::nullopt;
  struct stat found {};
  if (why == nullptr && lstat(name, &found) == 0 && S_ISLNK(found.st_mode)) why = "its name is a symbolic link";
  if (why != nullptr) {
    ++of.counts.others.declined;
    decline(of, name, why);
    return std::nullopt;
  }
  of.by->shared().wait_for(name);
  of.under_way.forget([&](std::uint32_t count) { return of.by->is_written(count); });
  return of.by->begin_file(name, (flags & exclusive) != 0);
}

// The descriptor for HDF5, or -1.
int offer(files& of, std::optional<staged_file>&& begun) {
  if (!begun) return -1;
  const int descriptor = begun->descriptor();
  const locked here(of);
  const auto place = descriptor < lull_paths_most ? of.under_way.add(begun->place()->which, descriptor) : std::nullopt;
  if (!place) return of.by->drop(std::move(*begun)), -1;
  of.open.emplace(descriptor, staged{std::move(*begun), *place});
  front.watch(descriptor, 1);
  return descriptor;
}

void withdraw_offer(files& of, int descriptor) {
  const locked here(of);
  front.watch(descriptor, 0);
  const auto offered = of.open.extract(descriptor);
  if (offered.empty() || of.by == nullptr) return;
  of.under_way.remove(offered.mapped().place);
  of.by->drop(std::move(offered.mapped().file));
}

hdf5_id create(const hdf5_library& library, const char* name, unsigned flags, hdf5_id creation, hdf5_id access) {
  files& of = all();
  const std::int64_t begin_ns = now_ns();
  int offered = -1;
  try {
    bool stages = false;
    {
      const locked here(of);
      ++of.counts.created;
      if (fails_now(of)) return -1;
      stages = of.stages && of.by != nullptr && name != nullptr;
    }
    if (writes_by_mpi(library, access)) return library.create(name, flags, creation, access);
    if (stages) offered = offer(of, begin(of, library, name, flags, access));
  } catch (const std::exception& problem) {
    const locked here(of);
    decline(of, name, problem.what());
  }
  if (offered >= 0) {
    front.begin_creation(name, offered);
    const hdf5_id made = library.create(name, flags, creation, access);
    if (front.end_creation() == 0) withdraw_offer(of, offered);
    return made;
  }
  const hdf5_id made = library.create(name, flags, creation, access);
  const locked here(of);
  if (made >= 0 && of.by != nullptr) of.written_by_program[made] = {name, begin_ns};
  return made;
}

void about_to_read(const char* name) {
  files& of = all();
  struct stat found {};
  if (name == nullptr || !of.stages || of.client_of_handlers == nullptr || front.inside() != 0) return;
  const int before = errno;
  if (syscall(SYS_newfstatat, AT_FDCWD, name, &found, 0) == 0 && S_ISREG(found.st_mode) &&
      of.under_way.find({found.st_dev, found.st_ino}).what == files_under_way::state::absent)
    wait_for_mark_of(name);
  errno = before;
}

hdf5_id open(const hdf5_library& library, const char* name, unsigned flags, hdf5_id access) {
  files& of = all();
  about_to_read(name);
  try {
    const locked here(of);
    if (fails_now(of)) return -1;
    if ((flags & read_write) != 0 && name != nullptr && of.by != nullptr && of.handed_over.contains(path_of(name))) {
      ++of.counts.others.appended;
      if (of.reports && of.reported.insert("reopened").second)
        fmt::print(stderr, "lull: stage {}: it is opened again for changes; the program writes them itself\n", name);
    }
  } catch (const std::exception& problem) {
    report(problem);
  }
  return library.open(name, flags, access);
}

int close(const hdf5_library& library, hdf5_id file) {
  files& of = all();
  const int result = library.close(file);
  try {
    const locked here(of);
    if (const auto written = of.written_by_program.extract(file)) {
      struct stat found {};
      const bool is_there = stat(written.mapped().name.c_str(), &found) == 0;
      const auto bytes = static_cast<std::uint64_t>(is_there ? found.st_size : 0);
      ++of.counts.written_by_program;
      of.counts.bytes += bytes;
      const std::int64_t begin_ns = written.mapped().begin_ns;
      of.counts.nanoseconds += of.by != nullptr ? of.by->wrote_itself(begin_ns, bytes) : now_ns() - begin_ns;
    }
    if (fails_now(of)) return -1;
  } catch (const std::exception& problem) {
    report(problem);
  }
  return result;
}

int flush(const hdf5_library& library, hdf5_id object, int scope) {
  files& of = all();
  const int result = library.flush(object, scope);
  try {
    const locked here(of);
    if (fails_now(of)) return -1;
    if (of.by != nullptr)
      for (auto& [descriptor, one] : of.open)
        if (!one.given && !of.by->flush(one.file)) (void)give_or_report(of, one);
  } catch (const std::exception& problem) {
    report(problem);
  }
  return result;
}

constexpr hdf5_hooks hooks{create, open, close, flush, about_to_read};

void stop() {
  files& of = all();
  of.client_of_handlers = nullptr;
  front.use_paths(nullptr, nullptr);
}

// Even if a program exits without ending MPI, everything handed over is written.
[[gnu::destructor]] void wait_for_the_rest() {
  files& of = all();
  if (of.client_of_handlers == nullptr) return;
  try {
    const locked here(of);
    for (auto& [descriptor, one] : of.open)
      if (!one.given) (void)give_or_report(of, one);
    const std::uint32_t latest = of.by->latest();
    if (!of.by->wait_for(latest)) of.by->see_to_files();
    report_failures(of);
    of.by->shared().finish();
    if (of.by->failed() == 0 && !of.missed) return;
  } catch (const std::exception& problem) {
    report(problem);
  }
  std::fflush(nullptr);
  _exit(EXIT_FAILURE);
}

}  // namespace

not_the_program::not_the_program() { enter_own_calls(); }
not_the_program::~not_the_program() { exit_own_calls(); }

void enter_own_calls() noexcept {
  if (front.enter != nullptr) front.enter();
}

void exit_own_calls() noexcept {
  if (front.exit != nullptr) front.exit();
}

void begin_own_thread() {
  if (front.enter != nullptr || find_front()) front.enter();
}

void complete_whole_file(const std::string& path) {
  struct stat found {};
  if (all().client_of_handlers != nullptr && syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), &found, 0) == 0 &&
      S_ISREG(found.st_mode))
    (void)use_whole(&found, lull_path_content);
}

bool stage_hdf5_files(client& by, bool stages, bool reports) {
  if (!find_front()) return false;
  files& of = all();
  of.by = &by;
  of.stages = stages;
  of.reports = reports;
  front.use_hdf5(&hooks);
  if (stages && by.busy() != nullptr) {
    static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
    of.client_of_handlers = &by;
    front.use_paths(&path_hooks, reinterpret_cast<const std::uint32_t*>(by.busy()));
  }
  // A child of the program's process sees the files in their current state and stages none.
  pthread_atfork(
      [] {
        if (all().client_of_handlers != nullptr && front.inside() == 0) before_other_programs();
      },
      nullptr,
      [] {
        front.use_hdf5(nullptr);
        stop();
      });
  return true;
}

file_counts end_staging_hdf5_files() {
  files& of = all();
  const locked here(of);
  for (auto& [descriptor, one] : of.open) {
    front.watch(descriptor, 0);
    if (one.given || !give_or_report(of, one)) continue;
    ++of.counts.others.late;
    decline(of, one.file.final_path(), "it is still open when MPI ends");
  }
  if (of.by != nullptr) (void)of.by->takes_new_failure();
  of.counts.missed = of.missed;
  stop();
  if (of.by != nullptr) of.by->count(of.counts.others);
  of.by = nullptr;
  return of.counts;
}

}  // namespace lull::stage
