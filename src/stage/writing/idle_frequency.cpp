#include "stage/writing/idle_frequency.hpp"

#include "base/settings.hpp"
#include "base/topology.hpp"

namespace lull::stage {

idle_frequency::idle_frequency() {
  if (setting_text("LULL_STAGE_LOWER_FREQUENCY") != "1") return;
  core_ = wait::core_frequency::make(setting_text("LULL_SYSROOT"), allowed_cores()).frequency;
  if (core_) core_->lower();
}

idle_frequency::~idle_frequency() {
  if (core_) core_->raise();
}

}  // namespace lull::stage
