// The air: 25 quantities in each cell, carried by a wind that turns with height and mixed with those of neighbouring
// cells.
//
// The scheme is first-order upwind in flux form: what leaves a cell enters the next, so the sum of a quantity is
// constant. A step takes some 50 ns per cell; in an atmospheric model it takes some microseconds, most of them for
// processes within a cell (radiation, condensation). These are replaced by arithmetic of the requested duration or, if
// there are more processes than cores and each must be as fast as on its own core, by sleep.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "grid.hpp"

namespace stencil {

inline constexpr std::array<std::string_view, 25> quantity_names{
    "u",         "v",         "w",         "theta",     "pressure",  "vapour",    "cloud",     "rain",      "ice",
    "snow",      "graupel",   "tracer_01", "tracer_02", "tracer_03", "tracer_04", "tracer_05", "tracer_06", "tracer_07",
    "tracer_08", "tracer_09", "tracer_10", "tracer_11", "tracer_12", "tracer_13", "tracer_14"};

class air {
 public:
  // `cell_ns`: time per cell and step; the part that the step does not take is spent computing, or asleep. Measures
  // both.
  air(grid& where, double cell_ns, bool asleep);

  void step();
  void exchange() { grid_.exchange(now_); }  // before the next step

  [[nodiscard]] const std::vector<std::vector<float>>& quantities() const { return now_; }  // by quantity_names
  [[nodiscard]] std::vector<std::uint8_t> cloudy() const;                                   // by cell, without borders
  [[nodiscard]] double sum(std::size_t quantity) const;                                     // over all processes

 private:
  void carry();
  void measure(double cell_ns);
  void spend();
  [[nodiscard]] double cells_here() const;

  grid& grid_;
  std::vector<std::vector<float>> now_, next_;
  std::vector<float> wind_x_, wind_y_;  // by height, in cells per step
  double asleep_s_ = 0;                 // per step; 0: time is not spent asleep
  std::uint64_t rounds_ = 0;            // of spend(), per cell
  volatile double spent_ = 1;
};

}  // namespace stencil
