#include "calibrate/transfer_procedure.hpp"

#include <algorithm>

namespace lull::calibrate {
namespace {

constexpr int longer = 3;  // ratio of messages in the longer and the shorter of two compared streams

int so_many(double ns_of_one, const effort& wanted) {
  return static_cast<int>(std::clamp(wanted.ns_per_figure / std::max(ns_of_one, 1.0),
                                     static_cast<double>(wanted.fewest), static_cast<double>(wanted.most)));
}

double stream_ns(link_under_test& link, std::size_t bytes, int messages) {
  const double begin = link.now_ns();
  for (int i = 0; i < messages; ++i) link.post(bytes);
  link.drain();
  return link.now_ns() - begin;
}

// Other programs take the core for milliseconds from time to time, so a short duration is the median of several.
double median_of(std::vector<double> seen) {
  const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 2);
  std::nth_element(seen.begin(), middle, seen.end());
  return *middle;
}
constexpr int batches = 5;

// The time that a message adds: the difference of two streams excludes the latency of the first and the end.
template <class Measure>
double added_by_one(Measure&& measure, int messages) {
  std::vector<double> seen(batches);
  for (double& one : seen) {
    const double shorter = measure(messages);
    one = (measure(longer * messages) - shorter) / ((longer - 1) * messages);
  }
  return std::max(0.0, median_of(seen));
}

}  // namespace

std::vector<model::transfer_observation> observe_times(link_under_test& link, const std::vector<std::size_t>& sizes,
                                                       const effort& wanted) {
  std::vector<model::transfer_observation> seen;
  for (const std::size_t bytes : sizes) {
    model::transfer_observation one{.bytes = static_cast<double>(bytes)};
    const double first = link.round_trips_ns(bytes, wanted.fewest) / wanted.fewest;
    const int trips = std::max(1, so_many(first, wanted) / batches);
    std::vector<double> taken(batches);
    for (double& batch : taken) batch = link.round_trips_ns(bytes, trips) / trips / 2;
    one.one_way_ns = median_of(taken);

    // Each call alone, so that nothing delays it. The clock's own time is subtracted.
    const double clock = [&] {
      const double begin = link.now_ns();
      for (int i = 0; i < 100; ++i) link.now_ns();
      return (link.now_ns() - begin) / 101;
    }();
    std::vector<double> inside(static_cast<std::size_t>(so_many(first, wanted)));
    for (double& call : inside) {
      const double begin = link.now_ns();
      link.post(bytes);
      call = link.now_ns() - begin - clock;
      link.drain();
    }
    one.send_ns = std::max(0.0, median_of(inside));

    const int messages = so_many(stream_ns(link, bytes, wanted.fewest) / wanted.fewest * batches * longer, wanted);
    one.gap_ns = added_by_one([&](int count) { return stream_ns(link, bytes, count); }, messages);
    seen.push_back(one);
  }
  return seen;
}

std::vector<model::transfer_observation> observe_receiver(link_under_test& link, const std::vector<std::size_t>& sizes,
                                                          const effort& wanted) {
  std::vector<model::transfer_observation> seen;
  for (const std::size_t bytes : sizes) {
    const int messages = so_many(stream_ns(link, bytes, wanted.fewest) / wanted.fewest * longer, wanted);
    const auto cpu_ns = [&](int count) {
      const double before = link.receiver_cpu_ns();
      stream_ns(link, bytes, count);
      return link.receiver_cpu_ns() - before;
    };
    seen.push_back({.bytes = static_cast<double>(bytes), .receive_ns = added_by_one(cpu_ns, messages)});
  }
  return seen;
}

std::vector<std::size_t> sizes_up_to(std::size_t largest) {
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = 8; bytes <= largest; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

}  // namespace lull::calibrate
