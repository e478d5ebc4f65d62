// The air: 25 quantities in each cell, carried by a wind that turns with height and mixed with their neighbours'.
//
// The scheme is first order, upwind, in the form of fluxes: what leaves a cell comes into the next, so the sum of a quantity
// stays. A step of it takes some 50 ns a cell; an atmospheric model takes some microseconds, most of them for what happens
// within a cell (radiation, condensation). That is stood for by arithmetic whose result nobody uses, as long as asked for; or
// by sleep, where there are more processes than cores, and each shall be as fast as on a core of its own.
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
  // `cell_ns`: what a cell takes in a step; what the step itself does not take is spent, asleep if so asked. Measures both.
  air(grid& where, double cell_ns, bool asleep);

  void step();
  void exchange() { grid_.exchange(now_); }  // before the next step

  [[nodiscard]] const std::vector<std::vector<float>>& quantities() const { return now_; }  // by quantity_names
  [[nodiscard]] std::vector<std::uint8_t> cloudy() const;  // of each cell, without borders
  [[nodiscard]] double sum(std::size_t quantity) const;    // over all processes

 private:
  void carry();
  void measure(double cell_ns);
  void spend();
  [[nodiscard]] double cells_here() const;

  grid& grid_;
  std::vector<std::vector<float>> now_, next_;
  std::vector<float> wind_x_, wind_y_;  // by height, in cells a step
  double asleep_s_ = 0;                 // of a whole step; 0: it is not spent asleep
  std::uint64_t rounds_ = 0;            // of spend(), a cell
  volatile double spent_ = 1;
};

}  // namespace stencil
