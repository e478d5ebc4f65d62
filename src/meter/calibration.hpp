// Two points of a meter turn an estimate into a fit: the power of an idle and of a fully loaded machine, linear in
// between.
//
//   P(u) = idle_watts + (full_watts - idle_watts) * u        u: utilisation of all CPUs, 0 to 1
//
// A machine is hardly ever quite idle or fully loaded, so the fit passes through the two points as measured and is
// extrapolated to 0 and 1. It is stored in the site file, as the table [calibration].
#pragma once
#include <string>

namespace lull::meter {

struct load_point {
  double utilisation = 0;  // mean over the measurement, 0 to 1
  double watts = 0;        // mean power by the meter
};

struct calibration {
  double idle_watts = 0, full_watts = 0;  // at utilisation 0 and 1
  std::string when;                       // date of the measurement
  std::string meter;                      // its source: "ipmi", "powercap"
  double band = 0.1;                      // uncertainty of the fit, as a share of the power

  // Whether the meter covers the whole node; otherwise it covers processors (and DRAM, if the meter has it).
  [[nodiscard]] bool of_node() const;
};

// The fit through two points. Throws if they are not two loads at least a tenth apart, with more power at the higher
// one.
[[nodiscard]] calibration fit(const load_point& idle, const load_point& full, std::string meter, std::string when);

// The table [calibration] for a site file.
[[nodiscard]] std::string as_toml(const calibration& c);

}  // namespace lull::meter
