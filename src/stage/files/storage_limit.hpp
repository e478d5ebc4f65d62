// A limited storage system, for experiments: the writes of all processes of a job on this machine together take as long
// as on a storage of LULL_STAGE_STORAGE_LIMIT bytes per second. Writers may hinder each other, as on a parallel file
// system: LULL_STAGE_STORAGE_WRITERS of them at a time get half of it together, n get 1 / (1 + n / that).
//
// A writer passes its bytes through before the file gets its name. The storage takes them in pieces, in the order of
// their arrival from any process, so simultaneous writers get equal shares. Processes of several emulated nodes or
// virtual hosts of one machine share one storage.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "job/segment.hpp"
#include "stage/link/exchange.hpp"

namespace lull::stage {

class storage_limit {
 public:
  storage_limit() = default;  // no limit
  // Collective over all processes, with the same limits. 0 bytes: no limit; 0 writers: any number gets all of it.
  // Throws lull::error.
  storage_limit(std::size_t bytes_per_s, double writers_at_half_speed, exchange& others);

  void pass(std::uint64_t bytes) const;  // sleeps until the storage has taken them

 private:
  struct shared;
  [[nodiscard]] double seconds_of(double bytes, int writers) const;

  std::size_t bytes_per_s_ = 0;
  double writers_at_half_speed_ = 0;
  std::shared_ptr<job::mapping> state_;  // shared by all processes of this machine
};

}  // namespace lull::stage
