// The row-column dragonfly: groups of routers in rows and columns, each router cabled to all routers of its row and of
// its column (as in Cray's Cascade, Faanes et al. 2012).
//
// Routers of a group are numbered row by row. Ports to a router's own row come before those to its column. Inside a
// group a path goes along the row, then along the column. groups.hpp defines the paths between groups, the channels and
// the global cables.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "netsim/topology/entry.hpp"
#include "netsim/topology/groups.hpp"

namespace lull::netsim {
namespace {

const std::vector<key> dragonfly_rows_keys{
    {.name = "rows", .meaning = "number of rows of a group", .by_default = 6, .least = 1, .most = 256},
    {.name = "columns", .meaning = "number of columns of a group", .by_default = 16, .least = 1, .most = 255},
    {.name = "row_cables",
     .meaning = "number of cables between two routers of a row",
     .by_default = 1,
     .least = 1,
     .most = 16},
    {.name = "column_cables",
     .meaning = "number of cables between two routers of a column",
     .by_default = 3,
     .least = 1,
     .most = 16},
    {.name = "nodes_per_router", .meaning = "number of nodes at a router", .by_default = 8, .least = 1, .most = 1024},
    {.name = "globals", .meaning = "number of cables of a router to other groups", .by_default = 10, .most = 255},
    {.name = "groups",
     .meaning = "number of groups; 0: as many as the cables can connect, each to each",
     .by_default = 6,
     .most = 67108864},
};

class rows_and_columns {
 public:
  rows_and_columns(unsigned rows, unsigned columns, unsigned row_cables, unsigned column_cables)
      : rows_(rows), columns_(columns), row_cables_(row_cables), column_cables_(column_cables) {
    for (unsigned r = 0; r < rows; ++r) {
      for (unsigned c = 0; c < columns; ++c) {
        locations_.push_back({static_cast<std::uint16_t>(r), static_cast<std::uint16_t>(c)});
      }
    }
  }

  [[nodiscard]] unsigned routers() const { return rows_ * columns_; }
  [[nodiscard]] unsigned ports() const { return first_of_column() + (rows_ - 1) * column_cables_; }
  [[nodiscard]] unsigned apart(unsigned a, unsigned b) const {
    return (locations_[a].row != locations_[b].row ? 1U : 0U) +
           (locations_[a].column != locations_[b].column ? 1U : 0U);
  }
  [[nodiscard]] bundle step(unsigned a, unsigned b) const {
    const location from = locations_[a];
    const location to = locations_[b];
    if (from.column != to.column) return {(to.column - (to.column > from.column ? 1U : 0U)) * row_cables_, row_cables_};
    return {first_of_column() + (to.row - (to.row > from.row ? 1U : 0U)) * column_cables_, column_cables_};
  }
  [[nodiscard]] std::pair<unsigned, unsigned> peer(unsigned a, unsigned port) const;
  // Between halves of the columns or halves of the rows, whichever cuts fewer links. A side of odd length is cut next
  // to its middle, and only if the other side is odd too.
  [[nodiscard]] std::uint64_t bisection() const {
    const std::uint64_t across_rows = std::uint64_t{columns_ / 2} * (columns_ - columns_ / 2) * row_cables_ * rows_;
    const std::uint64_t across_columns = std::uint64_t{rows_ / 2} * (rows_ - rows_ / 2) * column_cables_ * columns_;
    if (columns_ % 2 != rows_ % 2) return columns_ % 2 == 0 ? across_rows : across_columns;
    if (columns_ == 1 || rows_ == 1) return std::max(across_rows, across_columns);
    return std::min(across_rows, across_columns);
  }

 private:
  struct location {
    std::uint16_t row, column;
  };
  [[nodiscard]] unsigned first_of_column() const { return (columns_ - 1) * row_cables_; }
  unsigned rows_, columns_, row_cables_, column_cables_;
  std::vector<location> locations_;
};

std::pair<unsigned, unsigned> rows_and_columns::peer(unsigned a, unsigned port) const {
  const location from = locations_[a];
  const bool along_row = port < first_of_column();
  const unsigned cables = along_row ? row_cables_ : column_cables_;
  const unsigned number = along_row ? port : port - first_of_column();
  const unsigned mine = along_row ? from.column : from.row;
  const unsigned other = number / cables + (number / cables >= mine ? 1 : 0);
  const unsigned router = along_row ? from.row * columns_ + other : other * columns_ + from.column;
  return {router, step(router, a).first + number % cables};
}

class dragonfly_rows : public groups_of<rows_and_columns> {
 public:
  explicit dragonfly_rows(const parameters& given)
      : dragonfly_rows(topology_reader("dragonfly-rows", dragonfly_rows_keys, given)) {}

 private:
  explicit dragonfly_rows(const topology_reader& read)
      : dragonfly_rows(read,
                       {read.one("rows"), read.one("columns"), read.one("row_cables"), read.one("column_cables")}) {}
  dragonfly_rows(const topology_reader& read, const rows_and_columns& inside)
      : groups_of(inside, read_outside(read, inside.routers(), inside.ports())) {}
};

}  // namespace

topology_entry dragonfly_rows_entry() {
  return make_entry<dragonfly_rows>(
      "dragonfly-rows", "groups of routers in rows and columns, with cables between the groups", dragonfly_rows_keys,
      {{"rows", {2}}, {"columns", {3}}, {"groups", {4}}, {"globals", {2}}},
      {{"dragonfly-rows-4608",
        "4,608 nodes: 6 groups of 6 x 16 routers of 8 nodes, cables 1 and 3, 10 global cables, radix 48",
        {{"rows", {6}},
         {"columns", {16}},
         {"row_cables", {1}},
         {"column_cables", {3}},
         {"nodes_per_router", {8}},
         {"globals", {10}},
         {"groups", {6}}}}});
}

}  // namespace lull::netsim
