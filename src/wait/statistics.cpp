#include "wait/statistics.hpp"

namespace lull::wait {

wait_counts& wait_counts::operator+=(const wait_counts& other) {
  operations += other.operations;
  bytes += other.bytes;
  waits += other.waits;
  sleeps += other.sleeps;
  timeouts += other.timeouts;
  missed += other.missed;
  ns_waited += other.ns_waited;
  ns_asleep += other.ns_asleep;
  ns_cpu += other.ns_cpu;
  return *this;
}

void wait_statistics::counters::add(const wait_counts& c) {
  const std::array<std::uint64_t, 9> values{c.operations,
                                            c.bytes,
                                            c.waits,
                                            c.sleeps,
                                            c.timeouts,
                                            c.missed,
                                            static_cast<std::uint64_t>(c.ns_waited),
                                            static_cast<std::uint64_t>(c.ns_asleep),
                                            static_cast<std::uint64_t>(c.ns_cpu)};
  for (std::size_t i = 0; i < of.size(); ++i)
    if (values[i] != 0) of[i].fetch_add(values[i], std::memory_order_relaxed);
}

void wait_statistics::counters::clear() {
  for (auto& counter : of) counter.store(0, std::memory_order_relaxed);
}

wait_counts wait_statistics::counters::copy() const {
  const auto value = [&](std::size_t i) { return of[i].load(std::memory_order_relaxed); };
  return {value(0),
          value(1),
          value(2),
          value(3),
          value(4),
          value(5),
          static_cast<std::int64_t>(value(6)),
          static_cast<std::int64_t>(value(7)),
          static_cast<std::int64_t>(value(8))};
}

wait_statistics::wait_statistics(bool detailed)
    : table_(detailed ? std::make_unique<counter_table>() : nullptr), counting_(detailed) {}

void wait_statistics::clear_table() {
  if (!table_) return;
  for (auto& of_operation : *table_)
    for (auto& of_size : of_operation) of_size.clear();
}

void wait_statistics::operation_done(operation what, std::size_t bytes) {
  wait_counts one;
  one.operations = 1;
  one.bytes = bytes;
  (*table_)[static_cast<std::size_t>(what)][size_class_of(bytes)].add(one);
}

void wait_statistics::waited(const awaited& what, const wait_counts& of_this_one) {
  totals_.add(of_this_one);
  if (detailed()) (*table_)[static_cast<std::size_t>(what.what)][size_class_of(what.bytes)].add(of_this_one);
}

wait_table wait_statistics::table() const {
  wait_table copy;
  if (!table_) return copy;
  for (std::size_t what = 0; what < copy.rows.size(); ++what)
    for (std::size_t size = 0; size < size_classes; ++size) copy.rows[what][size] = (*table_)[what][size].copy();
  return copy;
}

}  // namespace lull::wait
