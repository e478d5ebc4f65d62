// One file over all files of an iteration. Its variables are virtual datasets, which contain no data but refer to the
// parts.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/error.hpp"
#include "stage/blocks/hdf5/hdf5_making.hpp"
#include "stage/blocks/hdf5/hdf5_objects.hpp"
#include "stage/blocks/hdf5/iteration_files.hpp"

namespace lull::stage::blocks {
namespace {

namespace fs = std::filesystem;

// The number of processes in a file by its name: 3 for "p0003+2.h5"; empty for a name of another form.
std::optional<int> processes_by_name(const std::string& name) {
  const char* const end = name.data() + name.size();
  int first = 0, more = 0;
  if (!name.starts_with('p') || !name.ends_with(".h5")) return std::nullopt;
  auto [rest, status] = std::from_chars(name.data() + 1, end, first);
  if (status == std::errc{} && *rest == '+') {
    const auto counted = std::from_chars(rest + 1, end, more);
    rest = counted.ptr;
    status = counted.ec;
  }
  const bool is_one = status == std::errc{} && end - rest == 3;
  return is_one ? std::optional(1 + more) : std::nullopt;
}

struct part {
  fs::path file;
  fs::file_time_type written;
  std::vector<head> heads;  // if there is one, its datasets are in no group
};

std::vector<head> read_record(const fs::path& path) {
  const auto fail = [&](const std::string& why) { throw error("read " + path.string(), why); };
  const descriptor opened(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) fail(describe_errno(errno));
  std::vector<head> heads;
  hdf5_target target{opened.get()};
  try {
    const hdf5_object access(access_by(target), H5Pclose);
    const hdf5_object file(H5Fopen(path.c_str(), read_only, access), H5Fclose);
    const hdf5_object record(H5Dopen2(file, name_of_own_record, H5P_DEFAULT), H5Dclose);
    const hdf5_object space(H5Dget_space(record), H5Sclose);
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 0)));
    check(H5Dread(record, type_of(element::uint8), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()));
    packet_reader reader(bytes);
    for (auto left = reader.take<std::uint32_t>(); left > 0; --left) heads.push_back(take_head(reader));
  } catch (const hdf5_failure& problem) {
    fail(problem.why);
  }
  return heads;
}

// The files of the folder, the newest last; empty while they cover too few processes.
std::vector<part> parts_in(const std::string& folder, int wanted) {
  std::vector<part> found;
  int processes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (const auto has = processes_by_name(entry.path().filename())) {
      processes += *has;
      found.push_back({entry.path(), {}, {}});
    }
  if (processes < wanted) return {};
  for (part& one : found) {
    one.written = fs::last_write_time(one.file);
    one.heads = read_record(one.file);
  }
  std::ranges::stable_sort(found, {}, &part::written);
  return found;
}

// The location of the data of one process.
struct source {
  const head* what;
  std::string file, group;
};

std::map<int, source> sources_of(const std::vector<part>& parts, int processes) {
  std::map<int, source> by_process;
  for (const part& one : parts)
    for (const head& each : one.heads) {
      if (each.processes != processes) continue;  // a file of an earlier run
      const std::string file = one.file.parent_path().filename() / one.file.filename();
      by_process[each.process] = {&each, file, one.heads.size() == 1 ? "" : fmt::format("p{:04}/", each.process)};
    }
  return by_process;
}

struct virtual_variable {
  const block* like = nullptr;
  std::vector<std::pair<const block*, const source*>> from;
};

// By name, sorted.
std::map<std::string, virtual_variable> variables_of(const std::map<int, source>& sources, const std::string& path) {
  std::map<std::string, virtual_variable> found;
  for (const auto& [process, one] : sources)
    for (const block& each : one.what->blocks) {
      virtual_variable& of = found[each.variable];
      if (of.like == nullptr) of.like = &each;
      if (each.type != of.like->type || each.all != of.like->all)
        throw error(
            "write " + path,
            fmt::format("process {} describes {} with another type or other extents than the processes before it",
                        process, each.variable));
      if (each.position > 0 && each.bytes() > 0) of.from.emplace_back(&each, &one);
    }
  return found;
}

void write_variable(hid_t file, const std::string& name, const virtual_variable& what) {
  if (what.from.empty()) return;
  const extents all(what.like->all);
  const hdf5_object space(H5Screate_simple(all.rank, all.data(), nullptr), H5Sclose);
  const hdf5_object linking(H5Pcreate(link_creation()), H5Pclose), creation(H5Pcreate(dataset_creation()), H5Pclose);
  check(H5Pset_create_intermediate_group(linking, 1));
  const hid_t type = type_of(what.like->type);
  const bool is_real = what.like->type == element::float32 || what.like->type == element::float64;
  constexpr double missing = std::numeric_limits<double>::quiet_NaN();
  if (is_real) check(H5Pset_fill_value(creation, type_of(element::float64), &missing));
  for (const auto& [one, from] : what.from) {
    const extents offset(one->offset), count(one->count);
    const hdf5_object data(H5Screate_simple(count.rank, count.data(), nullptr), H5Sclose);
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, offset.data(), nullptr, count.data(), nullptr));
    check(H5Pset_virtual(creation, space, from->file.c_str(), ("/" + from->group + name).c_str(), data));
  }
  check(H5Sselect_all(space));
  const hdf5_object made(H5Dcreate2(file, name.c_str(), type, space, linking, creation, H5P_DEFAULT), H5Dclose);
  if (!what.like->unit.empty()) write_attribute(made, "unit", what.like->unit);
}

std::string new_mark() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint64_t>(now_ns());
  return fmt::format("join-{:016x}", number);
}

}  // namespace

std::string write_virtual_file(const std::string& folder, int wanted, bool sync) {
  const quiet_hdf5 meanwhile;
  const std::vector<part> parts = parts_in(folder, wanted);
  if (parts.empty() || parts.back().heads.empty()) {
    if (wanted == 0) throw error("join " + folder, "it contains no files of an iteration");
    return {};
  }
  const head& newest = parts.back().heads.front();
  const std::map<int, source> sources = sources_of(parts, newest.processes);
  const int missing = newest.processes - static_cast<int>(sources.size());
  if (wanted > 0 && missing > 0) return {};
  const destination where{folder + ".h5", false, new_mark()};
  const auto variables = variables_of(sources, where.path);
  make_hdf5_file(where, sync, [&](hid_t file) {
    write_attribute(file, "iteration", std::vector<std::int64_t>{newest.iteration});
    write_attribute(file, "processes", std::vector<std::int64_t>{newest.processes});
    for (const auto& [name, what] : variables) write_variable(file, name, what);
  });
  if (missing == 0) return {};
  return fmt::format("{}: the output of {} of {} is missing", where.path, counted(missing, "process"),
                     newest.processes);
}

}  // namespace lull::stage::blocks
