// A link between two PEs of an OpenSHMEM job: PE 0 measures, its partner serves it, and the others sleep.
#pragma once
#include <cstdint>
#include <memory>

#include "calibrate/transfer_procedure.hpp"

namespace lull::calibrate {

class shmem_link final : public link_under_test {
 public:
  // Collective. Messages go from PE 0 to `partner` and have at most `largest` bytes.
  shmem_link(int partner, std::size_t largest);
  ~shmem_link() override;  // collective: PE 0 releases the partner
  shmem_link(const shmem_link&) = delete;
  shmem_link& operator=(const shmem_link&) = delete;

  void serve();           // called by the partner; returns when PE 0 has finished
  void stand_by() const;  // called by all others: sleeps until then

  double now_ns() override;
  double round_trips_ns(std::size_t bytes, int count) override;
  void post(std::size_t bytes) override;
  void drain() override;
  double receiver_cpu_ns() override;

  // The duration of an atomic: each awaited, and many at once.
  double fetching_ns(int count);
  double non_fetching_ns(int count);

 private:
  struct shared;
  enum class order : std::uint64_t { round_trips, tell_cpu, end };
  void send(order what, std::size_t bytes, int count);

  int partner_;
  shared* shared_;
  std::byte *there_, *mine_;  // where messages arrive, and their source
  std::uint64_t orders_ = 0, trips_ = 0, told_ = 0;
};

}  // namespace lull::calibrate
