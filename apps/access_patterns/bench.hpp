// Carries out and times a pattern, on all PEs together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>

#include "buffers.hpp"
#include "options.hpp"
#include "pattern.hpp"

namespace access_patterns {

// Results of all senders, on PE 0; `right` on all PEs. A payload is delivered when quiet is over or, with a pattern
// that notifies, when the receiver has copied it and has notified the sender of that.
struct result {
  std::uint64_t payloads = 0;  // of all senders
  double latency_us = 0, p10_us = 0, p90_us = 0;
  double sender_us = 0;  // the median until the end of the sender's own steps, A included
  double mb_per_s = 0;   // of one sender, by the median
  double puts_per_s = 0;
  double sender_cpu_us = 0, receiver_cpu_us = 0;  // of all threads of the process, per payload; means
  bool right = true;
};

class bench {
 public:
  // Collective. The PEs of the second half receive from those of the first. `memory` must outlive the bench.
  bench(const options& wanted, buffers& memory);
  ~bench();
  bench(const bench&) = delete;
  bench& operator=(const bench&) = delete;

  // Collective. Checks everything that arrives.
  [[nodiscard]] result measure(const pattern& of);

 private:
  struct seen;
  struct cells;

  void go_through(const pattern& of, std::uint64_t payloads, seen* counted);
  void round(const pattern& of, std::size_t sets, seen* counted);
  void send(const pattern& of, std::size_t set, seen* counted);
  void receive(const pattern& of, std::size_t set);
  struct places;
  void carry_out(const part& p, const places& at, std::size_t k, std::size_t bytes);
  [[nodiscard]] std::uint64_t from_first(std::uint64_t mine);
  [[nodiscard]] result gather(const pattern& of, const seen& mine);

  const options& wanted_;
  buffers& memory_;
  bool sends_;
  int partner_;
  cells* cells_;          // symmetric
  std::size_t next_ = 0;  // the set unused for longest
  std::uint64_t rounds_ = 0;
  unsigned long told_ = 0;  // payloads notified so far
  std::minstd_rand draw_{1};
};

}  // namespace access_patterns
