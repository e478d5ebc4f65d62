// The exchange over PMIx: for programs that mpirun, `srun --mpi=pmix` or `lull run` starts and that do not use MPI.
#pragma once
#include <optional>

#include "job/bootstrap.hpp"
#include "job/published.hpp"
#include "stage/link/exchange.hpp"

namespace lull::stage {

class job_exchange final : public exchange {
 public:
  // Collective. job::members determines which processes share a node, including emulated ones (LULL_NODES).
  explicit job_exchange(job::bootstrap& boot);
  [[nodiscard]] int rank() const override { return boot_.rank().index(); }
  [[nodiscard]] int size() const override { return boot_.size(); }
  [[nodiscard]] std::string node() const override { return node_; }
  [[nodiscard]] std::vector<std::vector<std::byte>> all(std::span<const std::byte> mine) override;

 private:
  job::bootstrap& boot_;
  std::string node_;
  std::optional<job::published> last_;
  int calls_ = 0;
};

}  // namespace lull::stage
