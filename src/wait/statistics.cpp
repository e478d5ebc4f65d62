#include "wait/statistics.hpp"

#include <tuple>
#include <type_traits>

#include "base/counters.hpp"

namespace lull::wait {

wait_counts& wait_counts::operator+=(const wait_counts& other) { return add_fields(*this, other); }

void wait_statistics::counters::add(const wait_counts& c) {
  const auto values =
      std::apply([](const auto&... fields) { return std::array{static_cast<std::uint64_t>(fields)...}; }, fields_of(c));
  static_assert(values.size() == std::tuple_size_v<decltype(of)>);
  for (std::size_t i = 0; i < of.size(); ++i)
    if (values[i] != 0) of[i].fetch_add(values[i], std::memory_order_relaxed);
}

void wait_statistics::counters::clear() {
  for (auto& counter : of) counter.store(0, std::memory_order_relaxed);
}

wait_counts wait_statistics::counters::copy() const {
  wait_counts all;
  const auto* next = of.data();
  std::apply(
      [&](auto&... fields) {
        ((fields = static_cast<std::remove_reference_t<decltype(fields)>>((next++)->load(std::memory_order_relaxed))),
         ...);
      },
      fields_of(all));
  return all;
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
