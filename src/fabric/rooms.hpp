// Fabric uses the names of the two rooms below it, job and wait.
#pragma once

namespace lull::job {}
namespace lull::wait {}

namespace lull::fabric {
using namespace job;   // NOLINT(google-build-using-namespace)
using namespace wait;  // NOLINT(google-build-using-namespace)
}  // namespace lull::fabric
