#include "mpi/waiting/networks/network.hpp"

namespace lull::mpi {

constinit thread_local network_polls polls_here;
poll_duty duty_of_polls = poll_duty::nothing;

}  // namespace lull::mpi
