#include "transport/rendezvous.hpp"

#include <limits>
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "model/machine/machine_file.hpp"

namespace lull::transport {

std::size_t rendezvous_threshold() {
  std::string variable = "LULL_RENDEZVOUS", given = setting_text("LULL_RENDEZVOUS");
  if (const char* const of_ucx = variable_of_environment("UCX_RNDV_THRESH"); given == "auto" && of_ucx != nullptr) {
    variable = "UCX_RNDV_THRESH";
    given = of_ucx;
  }
  if (given == "auto") return model::this_machine().messages.rendezvous_from_bytes;
  if (given == "inf") return std::numeric_limits<std::size_t>::max();
  try {
    return parse_size(given);
  } catch (const error&) {
    throw usage_error("read " + variable, "'" + given + "' is not a number of bytes",
                      "set it to a number such as 64k, or to auto or inf: fence must know which messages can be "
                      "overtaken");
  }
}

}  // namespace lull::transport
