#include "mpi/waiting/networks/network.hpp"

namespace lull::mpi {

constinit thread_local asked_networks asked_here;
when_asked duty_of_networks = when_asked::nothing;

}  // namespace lull::mpi
