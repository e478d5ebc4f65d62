// A pattern carried out and timed, on all PEs together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>

#include "buffers.hpp"
#include "options.hpp"
#include "pattern.hpp"

namespace access_patterns {

// Of all senders, as PE 0 knows it; `right` everybody knows. A payload is delivered when quiet is over, or, with a
// pattern that tells, when the receiver has copied it and has told so in turn.
struct result {
  std::uint64_t payloads = 0;  // of all senders
  double latency_us = 0, p10_us = 0, p90_us = 0;
  double sender_us = 0;  // the median until the sender's own steps are over, A included
  double mb_per_s = 0;   // of one sender, by the median
  double puts_per_s = 0;
  double sender_cpu_us = 0, receiver_cpu_us = 0;  // of all threads of the process, for one payload; means
  bool right = true;
};

class bench {
 public:
  // Collective; PEs from the middle on receive from those before. The buffers stay.
  bench(const options& wanted, buffers& memory);
  ~bench();
  bench(const bench&) = delete;
  bench& operator=(const bench&) = delete;

  // Collective. Everything that arrives is checked.
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
  std::size_t next_ = 0;  // the set that has rested longest
  std::uint64_t rounds_ = 0;
  unsigned long told_ = 0;  // payloads so far that were told
  std::minstd_rand draw_{1};
};

}  // namespace access_patterns
