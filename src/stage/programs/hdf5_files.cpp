#include "stage/programs/hdf5_files.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fmt/core.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "stage/programs/hdf5_front.hpp"
#include "stage/whole_file.hpp"

namespace lull::stage {
namespace {

// Of H5Fpublic.h and H5Ppublic.h; the same since 1.10.
constexpr unsigned truncate = 0x2, exclusive = 0x4, swmr_write = 0x20, read_write = 0x1;
constexpr hdf5_id default_list = 0;

struct staged {
  staged_file file;
  std::string given_name;  // by the program
};

struct plain {
  std::string name;
  std::int64_t begin_ns;
};

// It lives as long as the process does: HDF5 may close files when everything else has ended.
struct files {
  std::mutex mutex;
  client* by = nullptr;  // null: no more files are staged
  bool stages = false;   // and not only counts
  bool speaks = false;
  bool forked = false;  // this is a child of the program's process: the files are its parent's
  std::vector<staged> open;
  std::map<hdf5_id, plain> written_by_program;
  std::set<std::string> handed_over;  // paths
  std::set<std::string> said;
  file_counts counts;
};

// This thread is in a hook: what it renames or removes there is no business of the program's.
thread_local bool inside = false;

// The file that HDF5 is opening on this thread.
thread_local const staged_file* opening = nullptr;

template <class Open>
hdf5_id opened(const staged_file& file, Open&& open) {
  opening = &file;
  const hdf5_id made = open(file.path().c_str());
  opening = nullptr;
  return made;
}

class hook {
 public:
  explicit hook(files& of) : lock_(of.mutex) { inside = true; }
  hook(const hook&) = delete;
  hook& operator=(const hook&) = delete;
  ~hook() { inside = false; }

 private:
  std::lock_guard<std::mutex> lock_;
};

files& all() {
  static files& made = *new files;
  return made;
}

void decline(files& of, const std::string& name, const std::string& why) {
  if (of.speaks && of.said.insert(why).second)
    fmt::print(stderr, "lull: stage {}: {}; the program writes it by itself\n", name, why);
}

template <class Signature>
Signature* in(const hdf5_library& library, const char* name) {
  return reinterpret_cast<Signature*>(dlsym(library.handle, name));
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// Why HDF5 would not write this file as a plain one, by itself; null: it would.
const char* why_not(const hdf5_library& library, unsigned flags, hdf5_id access) {
  unsigned major = 0, minor = 0, release = 0;
  const auto version = in<int(unsigned*, unsigned*, unsigned*)>(library, "H5get_libversion");
  if (version == nullptr || version(&major, &minor, &release) < 0 || (major == 1 && minor < 10))
    return "Lull stages files of HDF5 1.10 and later";
  if ((flags & swmr_write) != 0) return "others may read it while it is written (SWMR)";
  if (is_set("HDF5_VOL_CONNECTOR")) return "HDF5_VOL_CONNECTOR names another storage";
  if (access == default_list)
    return is_set("HDF5_DRIVER") ? "HDF5_DRIVER names another driver than HDF5's default" : nullptr;
  const auto driver_of = in<hdf5_id(hdf5_id)>(library, "H5Pget_driver");
  const auto default_driver = in<hdf5_id()>(library, "H5FD_sec2_init");
  if (driver_of == nullptr || default_driver == nullptr) return "this HDF5 does not tell its driver";
  const hdf5_id driver = driver_of(access);
  if (driver == default_driver()) return nullptr;
  const auto parallel = in<hdf5_id()>(library, "H5FD_mpio_init");
  return parallel != nullptr && driver == parallel() ? "it is one file of several processes (MPI-IO)"
                                                     : "the program has chosen another driver than HDF5's default";
}

std::string path_of(const char* name) {
  std::error_code failed;
  const std::filesystem::path absolute = std::filesystem::absolute(name, failed);
  if (failed) return name;
  const std::filesystem::path path = std::filesystem::weakly_canonical(absolute, failed);
  return failed ? absolute.string() : path.string();
}

std::string name_of(const hdf5_library& library, hdf5_id object) {
  char name[64] = "";  // as long as those of staged_file::path()
  const long length = library.get_name(object, name, sizeof name);
  return length > 0 && length < static_cast<long>(sizeof name) ? name : "";
}

// HDF5 has it open, by whatever handle.
bool is_open(const staged_file& file) {
  struct stat mine {
  }, found{};
  if (fstat(file.descriptor(), &mine) != 0) return false;
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return false;
  bool other = false;
  while (const dirent* const entry = readdir(folder)) {
    const int descriptor = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || descriptor == file.descriptor() || descriptor == dirfd(folder)) continue;
    other = other || (fstat(descriptor, &found) == 0 && found.st_ino == mine.st_ino && found.st_dev == mine.st_dev);
  }
  closedir(folder);
  return other;
}

// What HDF5 has closed goes on its way, or, when nothing is staged any more, to its place.
void hand_over_closed(files& of) {
  for (auto one = of.open.begin(); one != of.open.end();) {
    if (is_open(one->file)) {
      ++one;
      continue;
    }
    if (of.by != nullptr) {
      of.handed_over.insert(one->file.final_path());
      of.by->hand_over(std::move(one->file));
    } else {
      // A name of its own, for several may end at once.
      write_whole_file(one->file.descriptor(),
                       {one->file.final_path(), one->file.exclusive(), fmt::format("late-{}", getpid())}, true);
    }
    one = of.open.erase(one);
  }
}

staged* staged_as(files& of, const std::string& path) {
  for (staged& one : of.open)
    if (!path.empty() && one.file.path() == path) return &one;
  return nullptr;
}

staged* staged_for(files& of, const std::string& final_path) {
  for (staged& one : of.open)
    if (one.file.final_path() == final_path) return &one;
  return nullptr;
}

void tell_failures(files& of) {
  for (const std::string& line : of.by->failures()) fmt::print(stderr, "lull: {}\n", line);
}

std::optional<staged_file> begin(files& of, const hdf5_library& library, const char* name, unsigned flags,
                                 hdf5_id access) {
  if (!of.stages || of.by == nullptr || name == nullptr) return std::nullopt;
  if (const char* const why = why_not(library, flags, access)) {
    decline(of, name, why);
    return std::nullopt;
  }
  return of.by->begin_file(name, (flags & exclusive) != 0);
}

hdf5_id create(const hdf5_library& library, const char* name, unsigned flags, hdf5_id creation, hdf5_id access) {
  files& of = all();
  const hook here(of);
  const std::int64_t begin_ns = now_ns();
  ++of.counts.created;
  try {
    hand_over_closed(of);
    // HDF5 refuses to create a file that it has open; it knows this one by its memory.
    if (const staged* const same = name != nullptr ? staged_for(of, path_of(name)) : nullptr)
      return opened(same->file,
                    [&](const char* path) { return library.create(path, flags & ~exclusive, creation, access); });
    if (std::optional<staged_file> file = begin(of, library, name, flags, access)) {
      const hdf5_id made = opened(*file, [&](const char* path) {
        return library.create(path, (flags & ~exclusive) | truncate, creation, access);
      });
      if (made >= 0) of.open.push_back({std::move(*file), name});
      return made;
    }
    if (of.by != nullptr && name != nullptr) of.by->written(path_of(name), true);
  } catch (const std::exception& problem) {
    decline(of, name, problem.what());
  }
  const hdf5_id made = library.create(name, flags, creation, access);
  if (made >= 0 && of.by != nullptr) of.written_by_program[made] = {name, begin_ns};
  return made;
}

void wait_until_written(files& of, const char* name) {
  if (of.by == nullptr || name == nullptr) return;
  hand_over_closed(of);
  if (!of.handed_over.empty() && of.handed_over.contains(path_of(name))) {
    of.by->written(path_of(name), true);
    tell_failures(of);
  }
}

hdf5_id open(const hdf5_library& library, const char* name, unsigned flags, hdf5_id access) {
  files& of = all();
  const hook here(of);
  try {
    if (name != nullptr)
      if (const staged* const same = staged_for(of, path_of(name)))
        return opened(same->file, [&](const char* path) { return library.open(path, flags, access); });
    wait_until_written(of, name);
    if ((flags & read_write) != 0 && name != nullptr && of.handed_over.contains(path_of(name)) && of.speaks &&
        of.said.insert("reopened").second)
      fmt::print(stderr, "lull: stage {}: it is opened again to be changed; the program changes it by itself\n", name);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "lull: {}\n", problem.what());
  }
  return library.open(name, flags, access);
}

int close(const hdf5_library& library, hdf5_id file) {
  files& of = all();
  const hook here(of);
  const int result = library.close(file);
  try {
    if (const auto written = of.written_by_program.extract(file)) {
      struct stat found {};
      const bool is_there = stat(written.mapped().name.c_str(), &found) == 0;
      const auto bytes = static_cast<std::uint64_t>(is_there ? found.st_size : 0);
      ++of.counts.written_by_program;
      of.counts.bytes += bytes;
      const std::int64_t begin_ns = written.mapped().begin_ns;
      of.counts.nanoseconds += of.by != nullptr ? of.by->wrote_itself(begin_ns, bytes) : now_ns() - begin_ns;
    }
    hand_over_closed(of);
    if (of.by != nullptr) tell_failures(of);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "lull: {}\n", problem.what());
  }
  return result;
}

long get_name(const hdf5_library& library, hdf5_id object, char* name, std::size_t size) {
  files& of = all();
  {
    const hook here(of);
    if (!of.open.empty())
      if (const staged* const one = staged_as(of, name_of(library, object))) {
        if (name != nullptr && size > 0) std::snprintf(name, size, "%s", one->given_name.c_str());
        return static_cast<long>(one->given_name.size());
      }
  }
  return library.get_name(object, name, size);
}

void about_to_use(const char* name) {
  if (inside) return;
  files& of = all();
  const hook here(of);
  try {
    wait_until_written(of, name);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "lull: {}\n", problem.what());
  }
}

const char* real_path(const char* name) {
  return opening != nullptr && opening->path() == name ? opening->final_path().c_str() : nullptr;
}

constexpr hdf5_hooks hooks{create, open, close, get_name, about_to_use, real_path};

decltype(&lull_hdf5_use) use_hooks = nullptr;  // of the front

// When HDF5 has closed what was open at the exit.
[[gnu::destructor]] void write_the_rest() {
  files& of = all();
  if (of.forked || of.open.empty()) return;
  const hook here(of);
  try {
    hand_over_closed(of);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "lull: {}\n", problem.what());
    std::fflush(nullptr);
    _exit(EXIT_FAILURE);
  }
}

}  // namespace

not_the_program::not_the_program() { inside = true; }
not_the_program::~not_the_program() { inside = false; }

bool stage_hdf5_files(client& by, bool stages, bool speaks) {
  use_hooks = reinterpret_cast<decltype(&lull_hdf5_use)>(dlsym(RTLD_DEFAULT, "lull_hdf5_use"));
  if (use_hooks == nullptr) return false;
  files& of = all();
  of.by = &by;
  of.stages = stages;
  of.speaks = speaks;
  use_hooks(&hooks);
  pthread_atfork(nullptr, nullptr, [] {
    all().forked = true;
    use_hooks(nullptr);
  });
  return true;
}

file_counts end_staging_hdf5_files() {
  files& of = all();
  const hook here(of);
  hand_over_closed(of);
  for (const staged& one : of.open) decline(of, one.given_name, "it is open when MPI ends");
  of.by = nullptr;
  return of.counts;
}

}  // namespace lull::stage
