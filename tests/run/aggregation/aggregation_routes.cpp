// Short, then long, then short phases may change the route of an aggregator, where several PEs of several nodes leave a
// choice. With any route, each item is handled once, replies are correct, and statistics continue. On a busy machine no
// other route may be better, so each change is also made explicitly.
#include <lull/aggregate.hpp>
#include <lull/aggregate_cache.hpp>

#include <cstring>
#include <span>
#include <vector>

#include "check.hpp"

namespace {

constexpr std::uint64_t short_phase = 60, long_phase = 30'000;

struct route_seen {
  int hops;
  bool per_node;
  bool operator==(const route_seen&) const = default;
};
template <class Aggregator>
route_seen route_of(const Aggregator& a) {
  const lull::aggregate_statistics now = a.statistics();
  return {now.route_hops, now.per_node};
}

// Calls one_phase(items) for each phase.
template <class Aggregator, class Phase>
void phases(const Aggregator& a, bool may_change, Phase&& one_phase) {
  const route_seen first = route_of(a);
  std::uint64_t count = 0, items = 0;
  const auto run = [&](int times, std::uint64_t of_phase) {
    for (int i = 0; i < times; ++i, ++count, items += of_phase) {
      one_phase(of_phase);
      CHECK(may_change || route_of(a) == first);
    }
  };
  run(200, short_phase);
  run(3, long_phase);
  run(80, short_phase);
  run(1, 0);
  const lull::aggregate_statistics all = a.statistics();
  CHECK(all.items == items);
  CHECK(all.phases == count);
}

void of_items(const lull::aggregate_options& options, bool may_change) {
  const int pes = shmem_n_pes();
  std::uint64_t sum = 0, count = 0, expected = 0;
  lull::aggregator items{lull::items_of<std::uint64_t>{}, [&](std::uint64_t value) { sum += value, ++count; }, options};
  phases(items, may_change, [&](std::uint64_t of_phase) {
    sum = count = expected = 0;
    for (std::uint64_t i = 0; i < of_phase; ++i) items.push(i, static_cast<int>(i % static_cast<std::uint64_t>(pes)));
    items.done();
    std::uint64_t own = 0;
    for (auto i = static_cast<std::uint64_t>(shmem_my_pe()); i < of_phase; i += static_cast<std::uint64_t>(pes)) {
      expected += i;
      ++own;
    }
    CHECK(count == own * static_cast<std::uint64_t>(pes));
    CHECK(sum == expected * static_cast<std::uint64_t>(pes));
  });
}

void of_any_size(const lull::aggregate_options& options, bool may_change) {
  const int pes = shmem_n_pes();
  std::uint64_t bytes = 0;
  lull::aggregator items{lull::items_of<lull::byte_span>{},
                         [&](std::span<const std::byte> got) {
                           for (const std::byte b : got) CHECK(b == static_cast<std::byte>(got.size()));
                           bytes += got.size();
                         },
                         options};
  const std::vector<std::vector<std::byte>> sources = [] {
    std::vector<std::vector<std::byte>> made;
    for (std::size_t size = 0; size < 50; ++size) made.emplace_back(size, static_cast<std::byte>(size));
    return made;
  }();
  phases(items, may_change, [&](std::uint64_t of_phase) {
    bytes = 0;
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < of_phase; ++i) {
      const auto to = static_cast<int>(i % static_cast<std::uint64_t>(pes));
      if (to == shmem_my_pe()) expected += sources[i % 50].size();
      items.push(sources[i % 50], to);
    }
    items.done();
    CHECK(bytes == expected * static_cast<std::uint64_t>(pes));
  });
}

void of_answers(const lull::aggregate_options& options, bool may_change) {
  const auto pes = static_cast<std::uint64_t>(shmem_n_pes());
  const auto me = static_cast<std::uint64_t>(shmem_my_pe());
  lull::gatherer squares{lull::items_of<std::uint64_t>{}, [&](std::uint64_t of) { return of * of + me; }, options};
  std::vector<std::uint64_t> values(long_phase);
  phases(squares, may_change, [&](std::uint64_t of_phase) {
    squares.into({values.data(), of_phase});
    for (std::uint64_t i = 0; i < of_phase; ++i) squares.get(i, static_cast<int>((i + me) % pes));
    squares.done();
    for (std::uint64_t i = 0; i < of_phase; ++i) CHECK(values[i] == i * i + (i + me) % pes);
  });
}

// Changes from each route to each other, as an aggregator does.
void of_every_change() {
  using namespace lull::detail;
  const int pes = shmem_n_pes();
  std::uint64_t sum = 0;
  const auto request = [&](const lull::aggregate_options& by, const lull::aggregate_options& chosen_from) {
    return aggregation_request{.item_bytes = sizeof(std::uint64_t),
                               .apply =
                                   [](void* to, const batch& got) {
                                     item_codec<false>::each<std::uint64_t>(
                                         got, [&](std::uint64_t v) { *static_cast<std::uint64_t*>(to) += v; });
                                   },
                               .apply_addressed =
                                   [](void* to, const batch& got) {
                                     item_codec<true>::each<std::uint64_t>(
                                         got, [&](std::uint64_t v) { *static_cast<std::uint64_t*>(to) += v; });
                                   },
                               .handler = &sum,
                               .options = &by,
                               .replies = nullptr,
                               .has_direct = false,
                               .requested_options = &chosen_from};
  };
  // One of each is chosen, whatever the number of nodes.
  std::vector<lull::aggregate_options> routes(4);
  for (std::size_t i = 0; i < 4; ++i) {
    routes[i].buffers = i == 3 ? lull::aggregate_buffers::per_node : lull::aggregate_buffers::per_pe;
    routes[i].hops = i == 3 ? 1 : static_cast<int>(i) + 1;
  }
  const lull::aggregate_options any{};
  channels way{request(any, any)};
  std::uint64_t count = 0, items = 0;
  for (const auto& from : routes)
    for (const auto& to : routes)
      for (const auto& next : {from, to}) {
        way.close();
        way.open(request(next, any));
        const lull::aggregate_statistics now = statistics_of(way.aggregation());
        CHECK(now.route_hops == next.hops);
        CHECK(now.per_node == (next.buffers == lull::aggregate_buffers::per_node));
        for (std::uint64_t phase = 1; phase <= 3; ++phase, ++count) {
          sum = 0;
          for (std::uint64_t i = 0; i < short_phase; ++i, ++items)
            way.push(i, static_cast<int>(i % static_cast<std::uint64_t>(pes)));
          finish(way.aggregation());
          std::uint64_t expected = 0;
          for (auto i = static_cast<std::uint64_t>(shmem_my_pe()); i < short_phase;
               i += static_cast<std::uint64_t>(pes))
            expected += i * static_cast<std::uint64_t>(pes);
          CHECK(sum == expected);
        }
      }
  const lull::aggregate_statistics all = statistics_of(way.aggregation());
  CHECK(all.items == items);
  CHECK(all.phases == count);
}

void of_table() {
  constexpr std::size_t words = 512;
  const auto pes = static_cast<std::uint64_t>(shmem_n_pes());
  auto* const table = symmetric<std::uint64_t>(words);
  for (std::size_t i = 0; i < words; ++i) table[i] = 1000 * static_cast<std::uint64_t>(shmem_my_pe()) + i;
  shmem_barrier_all();
  {
    lull::table_reader reader{static_cast<const std::uint64_t*>(table), words};
    std::vector<std::uint64_t> values(long_phase);
    for (int phase = 0; phase < 150; ++phase) {
      const std::uint64_t of_phase = phase == 100 ? long_phase : short_phase;
      reader.into({values.data(), of_phase});
      for (std::uint64_t i = 0; i < of_phase; ++i) reader.get(i * 7 % words, static_cast<int>(i % pes));
      reader.done();
      for (std::uint64_t i = 0; i < of_phase; ++i) CHECK(values[i] == 1000 * (i % pes) + i * 7 % words);
    }
  }
  shmem_barrier_all();
  shmem_free(table);
}

}  // namespace

int main() {  // NOLINT(bugprone-exception-escape): what nobody catches fails the test
  shmem_init();
  const int pes = shmem_n_pes(), of_node = shmem_team_n_pes(SHMEM_TEAM_SHARED);
  const bool alike = pes % 2 == 0;  // nodes
  const bool may_change = !alike || (of_node > 1 && of_node < pes);
  lull::aggregate_options fixed;
  fixed.hops = 1;
  fixed.buffers = lull::aggregate_buffers::per_pe;
  of_items(fixed, false);
  of_answers(fixed, false);
  of_items({}, may_change);
  of_any_size({}, may_change);
  of_answers({}, may_change);
  if (alike && may_change) of_every_change();
  of_table();
  finish();
  return 0;
}
