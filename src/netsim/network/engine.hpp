// Runs a simulation on a topology: chooses one of the two switch models, and measures its time.
#pragma once
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "netsim/network/eager_queues.hpp"
#include "netsim/network/explicit_queues.hpp"

namespace lull::netsim {

namespace detail {

inline double cpu_seconds() { return static_cast<double>(thread_cpu_ns()) * 1e-9; }

template <class Model>
result timed(Model& model, double began, const progress& shown) {
  const double ready = cpu_seconds();
  result r = model.run(shown);
  r.setup_cpu_s = ready - began;
  r.loop_cpu_s = cpu_seconds() - ready;
  return r;
}

}  // namespace detail

template <topology_shape T>
result run_engine(const T& topology, const simulation& asked, const progress& shown) {
  using model = network_parameters::queue_model;
  const model wanted = asked.network.queues;
  std::string why_not = "explicit queues were requested";
  if (wanted != model::explicit_queues) {
    why_not = eager_queues<T>::why_not(topology, asked);
    if (why_not.empty()) {
      const double began = detail::cpu_seconds();
      eager_queues<T> eager(topology, asked, shown);
      result r = detail::timed(eager, began, shown);
      why_not = eager.why_not_exact();
      if (why_not.empty() || r.stopped) return r;
    }
    if (wanted == model::fifo)
      throw error("simulate with network.queues = fifo", why_not,
                  "enlarge the buffer, or set network.queues to explicit or auto");
  }
  const double began = detail::cpu_seconds();
  explicit_queues<T> full(topology, asked, shown);
  result r = detail::timed(full, began, shown);
  r.why_not_fifo = why_not;
  return r;
}

}  // namespace lull::netsim
