// A program for testing a network: every process computes, then all take part in one collective, a number of times.
#include "netsim/program/collective.hpp"
#include "netsim/program/player.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

std::vector<key> own_keys() {
  key which{.name = "collective",
            .meaning = "collective in which all processes take part",
            .of = kind::choice,
            .by_default = "allreduce",
            .words = {}};
  for (const collective_family& f : all_collective_families()) which.words.emplace_back(f.name);
  return {
      which,
      {.name = "collective_bytes",
       .meaning =
           "size of the vector; for gather, scatter, allgather and alltoall, the bytes from one process to one other",
       .of = kind::size,
       .by_default = "8 B",
       .most = most_number},
      {.name = "rounds", .meaning = "how often", .by_default = 100, .least = 1, .most = most_number},
      {.name = "between",
       .meaning = "computing time before each collective",
       .of = kind::time,
       .by_default = 0,
       .most = longest_time}};
}

class rounds_of_a_collective final : public program {
 public:
  explicit rounds_of_a_collective(const job_setup& setup) {
    const reader from(own_keys_, setup.job().own);
    for (const collective_family& f : all_collective_families())
      if (from.word("collective") == f.name) which_ = f.of.front();
    bytes_ = static_cast<std::uint64_t>(from.whole("collective_bytes"));
    rounds_ = from.whole("rounds");
    between_ = from.whole("between");
  }
  [[nodiscard]] stream of(std::uint32_t /*rank*/, const completions& /*done*/) const override {
    for (std::int64_t round = 0; round < rounds_; ++round) {
      co_yield does::compute(between_);
      co_yield does::all_of(which_, bytes_);
      co_yield does::iteration();
    }
  }

 private:
  const std::vector<key> own_keys_ = own_keys();
  collective which_ = collective::barrier;
  std::uint64_t bytes_;
  std::int64_t rounds_;
  picoseconds between_;
};

}  // namespace

workload_entry collective_entry() {
  return program_entry("collective", "a program: all processes repeatedly compute, then take part in a collective",
                       own_keys(), [](const job_setup& setup) -> std::unique_ptr<program> {
                         return std::make_unique<rounds_of_a_collective>(setup);
                       });
}

}  // namespace lull::netsim
