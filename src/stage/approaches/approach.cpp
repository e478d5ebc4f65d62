#include "stage/approaches/approach.hpp"

#include <algorithm>
#include <array>

namespace lull::stage {
namespace {

constexpr std::array rows{&time_partitioning, &dedicated_cores, &dedicated_nodes};

}  // namespace

const approach_row& row_of(approach how) {
  return **std::ranges::find_if(rows, [how](const approach_row* row) { return row->how == how; });
}

}  // namespace lull::stage
