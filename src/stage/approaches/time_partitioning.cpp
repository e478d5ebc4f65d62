// Time partitioning: compute and output take turns in each process. No servers.
#include "stage/approaches/approach.hpp"
#include "stage/approaches/roles.hpp"

namespace lull::stage {

const approach_row time_partitioning{
    .how = approach::time_partitioning,
    .assign = [](int, std::span<const std::string> nodes) { return std::vector<int>(nodes.size(), no_server); },
    .join = [](const plan&, const roles&, exchange&, const std::shared_ptr<progress>&) { return joined{}; },
    .serve = nullptr};

}  // namespace lull::stage
