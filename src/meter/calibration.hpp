// Two points of a meter make a guess into a fit: the power of an idle and of a fully loaded machine, linear in between.
//
//   P(u) = idle_watts + (full_watts - idle_watts) * u        u: utilisation of all CPUs, 0 to 1
//
// A machine is hardly ever quite idle nor quite full, so the fit goes through the two points as measured and is drawn
// out to 0 and 1. What is kept of it stands in the site file, as the table [calibration].
#pragma once
#include <string>

namespace lull::meter {

struct load_point {
  double utilisation = 0;  // mean over the measurement, 0 to 1
  double watts = 0;        // mean power of the meter over it
};

struct calibration {
  double idle_watts = 0, full_watts = 0;  // at utilisation 0 and 1
  std::string when;                       // date of the measurement
  std::string meter;                      // source it was made with: "ipmi", "powercap"
  double band = 0.1;                      // share of the power by which the fit is held to be right

  // Whether the meter covers the whole node; else processors (and their DRAM, where the meter has it) alone.
  [[nodiscard]] bool of_node() const;
};

// The fit through two points. Throws when they are not two loads, apart by at least a tenth, with more power at the
// higher one.
[[nodiscard]] calibration fit(const load_point& idle, const load_point& full, std::string meter, std::string when);

// The table [calibration] as it stands in a site file.
[[nodiscard]] std::string as_toml(const calibration& c);

}  // namespace lull::meter
