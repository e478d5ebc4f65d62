// Extracts the power of a node from the Redfish response of its management controller.
#pragma once
#include <string>

#include "meter/parts/printed_quantity.hpp"

namespace lull::meter {

// `text`: the body of a Power or an EnvironmentMetrics resource, of any shape. May throw std::exception: no answer.
[[nodiscard]] meter_answer power_in_redfish(const std::string& text);

}  // namespace lull::meter
