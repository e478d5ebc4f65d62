// A hop between nodes whose buffer numbers exceed 32 bits in the middle of a run, as happens after some hours of short
// phases: all items arrive, each once.
#include "aggregate/hops/node_hop.hpp"
#include "check.hpp"
#include "shmem/current.hpp"

namespace {

using namespace lull::aggregate;

struct received {
  std::uint64_t items = 0, sum = 0;
  static std::size_t take(void* self, const batch& given) {
    auto& all = *static_cast<received*>(self);
    for (std::size_t i = 0; i < given.count; ++i)
      all.sum += lull::detail::read<std::uint64_t>(given.items + i * sizeof(std::uint64_t));
    all.items += given.count;
    return given.count;
  }
};

void consume(hop& one) {
  lull::shmem::current_world->transfers().drive();
  one.consume();
}

}  // namespace

int main() {
  shmem_init();
  lull::fabric::world& world = *lull::shmem::current_world;
  const route way(world.places(), world.pes(), {buffering::per_node, 1});
  if (way.between_nodes(0)) {
    constexpr std::uint64_t phases = 4, items = 100, items_in_buffer = 8, wraps = std::uint64_t{1} << 32U;
    static_assert(phases * items / items_in_buffer > 20, "the numbers pass 2^32");
    buffer_sizes sizes;
    sizes.inter_node_bytes = sizeof(buffer_header) + items_in_buffer * sizeof(std::uint64_t);
    sizes.per_channel = 3;
    sizes.first_buffer = wraps - 20;
    received all;
    node_hop between(world, way, 0, item_format(sizeof(std::uint64_t), false, false), sizes, {&received::take, &all});
    const auto all_channels = [&](auto go_on_from) {
      for (std::size_t channel = go_on_from(0); channel != between.channels(); channel = go_on_from(channel))
        consume(between);
    };
    for (std::uint64_t phase = 0; phase < phases; ++phase) {
      for (std::size_t channel = 0; channel < between.channels(); ++channel)
        for (std::uint64_t item = 1; item <= items; ++item) {
          const std::span one(reinterpret_cast<const std::byte*>(&item), sizeof item);
          while (between.append(channel, one) == 0) consume(between);
        }
      all_channels([&](std::size_t from) { return between.write_all(from); });
      if (between.begin_close(0)) all_channels([&](std::size_t from) { return between.close(from); });
      while (!between.over()) consume(between);
      shmem_barrier_all();
      between.reopen();
      shmem_barrier_all();
    }
    auto* const mine = symmetric<std::uint64_t>(3);
    auto* const of_all = symmetric<std::uint64_t>(3);
    mine[0] = all.items;
    mine[1] = all.sum;
    mine[2] = between.channels();
    shmem_barrier_all();
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, of_all, mine, 3);
    CHECK(of_all[0] == of_all[2] * phases * items);
    CHECK(of_all[1] == of_all[2] * phases * items * (items + 1) / 2);
  }
  finish();
}
