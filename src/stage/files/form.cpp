#include "stage/files/form.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <exception>

#include "base/error.hpp"
#include "stage/blocks/hdf5/hdf5_module.hpp"
#include "stage/blocks/plugins.hpp"

namespace lull::stage {
namespace {

amount write_whole_files(std::span<const handed_over> all, bool sync) {
  amount written;
  std::exception_ptr first;
  for (const handed_over& one : all) try {
      if (one.place != nullptr)
        fill_claim(one.content, *one.place, one.where, sync);
      else
        write_whole_file(one.content, one.where, sync);
      struct stat found {};
      written.add(fstat(one.content, &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0);
    } catch (const error&) {
      if (!first) first = std::current_exception();
    }
  if (first) std::rethrow_exception(first);
  return written;
}

amount write_blocks(std::span<const handed_over> all, bool sync) {
  const amount written = blocks::write_by_hdf5(all, sync);
  blocks::run_plugins(all);
  return written;
}

struct form_row {
  form what;
  amount (*write)(std::span<const handed_over> all, bool sync);
};

constexpr std::array rows{form_row{form::whole, write_whole_files}, form_row{form::blocks, write_blocks}};

}  // namespace

amount write_together(form what, std::span<const handed_over> all, bool sync) {
  const auto* const row = std::ranges::find(rows, what, &form_row::what);
  if (row == rows.end()) throw error("write output", "this version of Lull does not know its form");
  return row->write(all, sync);
}

}  // namespace lull::stage
