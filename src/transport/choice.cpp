#include "transport/choice.hpp"

#include <string>

#include "base/settings.hpp"
#include "transport/libfabric/libfabric.hpp"
#include "transport/libfabric/selection.hpp"
#include "transport/ucx/ucx.hpp"

namespace lull::transport {

std::unique_ptr<transport> make_transport(receiver& to, const options& wanted) {
  const std::string named = setting_text("LULL_TRANSPORT");
  const bool between_hosts = !wanted.one_host && !wanted.emulated;
  if (wanted.outlives_peers) return make_ucx(to, wanted);  // libfabric does not report a failed peer
  if (named == "libfabric" || (named == "auto" && between_hosts && has_adapter_of_libfabric()))
    return make_libfabric(to, wanted);
  return make_ucx(to, wanted);
}

}  // namespace lull::transport
