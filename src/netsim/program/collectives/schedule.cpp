#include "netsim/program/collectives/schedule.hpp"

namespace lull::netsim {

stream with_tags_apart(stream schedule) {
  while (const operation* next = schedule.next()) {
    operation o = *next;
    o.tag |= 1U << 31;
    co_yield o;
  }
}

}  // namespace lull::netsim
