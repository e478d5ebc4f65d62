// A routing that can deadlock does so with small buffers, and the run ends with one line that reports it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "netsim/network/engine.hpp"
#include "netsim/runs.hpp"

namespace lull::netsim {
namespace {

// A ring whose packets go in one direction on one channel: each link waits for the next, in a circle. Its routing can
// fail at one switch.
class one_way_ring {
 public:
  static constexpr unsigned most_links = 100;

  explicit one_way_ring(std::uint32_t size, std::uint32_t fails_at = nowhere) : size_(size), fails_at_(fails_at) {}
  [[nodiscard]] std::uint32_t nodes() const { return size_; }
  [[nodiscard]] std::uint32_t switches() const { return size_; }
  [[nodiscard]] static unsigned ports(std::uint32_t /*any*/) { return 3; }
  [[nodiscard]] endpoint peer(std::uint32_t s, unsigned port) const {
    if (port == 0) return {s, 0, true};
    return port == 1 ? endpoint{(s + 1) % size_, 2, false} : endpoint{(s + size_ - 1) % size_, 1, false};
  }
  [[nodiscard]] static endpoint attach_point(std::uint32_t node) { return {node, 0, false}; }
  [[nodiscard]] static unsigned channels(algorithm /*any*/) { return 1; }
  [[nodiscard]] static std::uint64_t bisection() { return 2; }
  static void start(std::uint32_t /*at*/, route_state& /*packet*/, const chooser& /*ports*/) {}
  [[nodiscard]] hop route(std::uint32_t at, route_state& /*packet*/, const chooser& /*ports*/) const {
    if (at == fails_at_) throw error("route a packet", "it fails here");
    return {1, 0};
  }

 private:
  std::uint32_t size_, fails_at_;
};

simulation blocked_ring(std::uint32_t nodes) {
  simulation s;
  s.network.input_buffer = s.network.output_buffer = s.network.packet;
  job& j = s.jobs.emplace_back();
  j.nodes = first_nodes(nodes);
  j.load = 1;
  return s;
}

std::string failure_of(const simulation& s, std::uint32_t nodes, std::uint32_t fails_at = nowhere) {
  try {
    (void)run_engine(one_way_ring(nodes, fails_at), s, {});
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(a_deadlock, is_reported_in_one_line_that_names_ports_that_wait) {
  for (const std::uint32_t nodes : {5U, 8U, 20U}) {
    EXPECT_THAT(failure_of(blocked_ring(nodes), nodes),
                testing::AllOf(testing::StartsWith("simulate the network: it is deadlocked at "),
                               testing::HasSubstr("packets wait for space that is never freed"),
                               testing::HasSubstr(" from switch "), testing::HasSubstr("virtual channels"),
                               testing::Not(testing::HasSubstr("\n"))));
  }
}

TEST(a_deadlock, of_a_closed_job_is_reported) {
  simulation s = blocked_ring(8);
  s.jobs[0].arrivals = arrivals::closed;
  s.jobs[0].pattern = "all-to-all";
  s.jobs[0].compute = 0;
  EXPECT_THAT(failure_of(s, 8), testing::HasSubstr("deadlocked"));
}

TEST(a_deadlock, comes_at_the_same_time_in_every_run) {
  EXPECT_EQ(failure_of(blocked_ring(8), 8), failure_of(blocked_ring(8), 8));
}

TEST(a_deadlock, is_reported_in_the_same_words_by_any_number_of_threads) {
  simulation s = blocked_ring(8);
  const std::string alone = failure_of(s, 8);
  for (s.threads = 2; s.threads <= 4; ++s.threads) EXPECT_EQ(failure_of(s, 8), alone) << s.threads;
}

TEST(an_error_in_one_thread, ends_all_threads_and_is_that_of_the_run) {
  simulation s = blocked_ring(8);
  s.jobs[0].load = 0.1;
  for (s.threads = 1; s.threads <= 4; ++s.threads)
    for (const std::uint32_t at : {0U, 3U, 7U})
      EXPECT_EQ(failure_of(s, 8, at), "route a packet: it fails here") << s.threads << " threads, switch " << at;
}

TEST(a_deadlock, does_not_befall_the_same_ring_with_little_traffic) {
  simulation s = blocked_ring(8);
  s.jobs[0].load = 0.01;
  s.jobs[0].message = 4096;
  s.jobs[0].messages = 50;
  EXPECT_EQ(failure_of(s, 8), "");
}

}  // namespace
}  // namespace lull::netsim
