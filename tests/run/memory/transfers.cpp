// Puts and gets of every size class and kind reach the right place, complete, while the target computes or waits.
#include <algorithm>
#include <cstring>
#include <vector>

#include "check.hpp"

namespace {

constexpr std::size_t largest = std::size_t{3} << 20;  // beyond the eager limit: rendezvous between nodes

unsigned char pattern(int pe, std::size_t i) {
  return static_cast<unsigned char>(i * 31 + static_cast<unsigned>(pe) * 7 + 1);
}

std::vector<unsigned char> filled(int pe, std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = pattern(pe, i);
  return data;
}

void puts_and_gets_of_every_size(int me, int pes, unsigned char* area) {
  const int next = (me + 1) % pes, before = (me + pes - 1) % pes;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{4096}, std::size_t{65537},
                                  std::size_t{1} << 20, largest}) {
    for (const bool blocking : {true, false}) {
      std::memset(area, 0, bytes + 1);
      shmem_barrier_all();
      auto mine = filled(me, bytes);
      if (blocking) {
        shmem_putmem(area, mine.data(), bytes, next);
        std::ranges::fill(mine, static_cast<unsigned char>(0xee));  // its source may be reused at once
      } else {
        shmem_putmem_nbi(area, mine.data(), bytes, next);
      }
      shmem_barrier_all();
      const auto theirs = filled(before, bytes);
      CHECK(std::memcmp(area, theirs.data(), bytes) == 0);
      CHECK(area[bytes] == 0);
      std::vector<unsigned char> back(bytes);
      shmem_getmem(back.data(), area, bytes, next);
      CHECK(back == filled(me, bytes));
      shmem_barrier_all();
    }
  }
}

void single_elements_of_every_type(int me, int pes) {
  const int next = (me + 1) % pes, before = (me + pes - 1) % pes;
#define ONE_TYPE(NAME, TYPE, A)                                                              \
  {                                                                                          \
    auto* const cell = static_cast<TYPE*>(shmem_calloc(4, sizeof(TYPE)));                    \
    shmem_##NAME##_p(cell, static_cast<TYPE>(me + 3), next);                                 \
    const TYPE pair[2] = {static_cast<TYPE>(me), static_cast<TYPE>(me + 1)};                 \
    shmem_##NAME##_put(cell + 1, pair, 2, next);                                             \
    shmem_barrier_all();                                                                     \
    CHECK(cell[0] == static_cast<TYPE>(before + 3) && cell[1] == static_cast<TYPE>(before)); \
    CHECK(cell[2] == static_cast<TYPE>(before + 1) && cell[3] == static_cast<TYPE>(0));      \
    CHECK(shmem_##NAME##_g(cell, next) == static_cast<TYPE>(me + 3));                        \
    shmem_free(cell);                                                                        \
  }
  LULL_RMA_TYPES(ONE_TYPE, )
}

// All PEs flood PE 0 with small non-blocking puts while it only computes: memory stays bounded, nothing is lost.
void a_flood_to_a_computing_pe(int me, int pes, unsigned char* area) {
  constexpr int rounds = 5000;
  auto* const words = reinterpret_cast<std::uint64_t*>(area);
  std::fill_n(words, static_cast<std::size_t>(pes) * rounds, 0);
  shmem_barrier_all();
  std::vector<std::uint64_t> source(rounds);
  for (std::size_t i = 0; i < rounds; ++i) source[i] = static_cast<std::uint64_t>(me) << 32 | (i + 1);
  if (me != 0)
    for (int i = 0; i < rounds; ++i)
      shmem_uint64_put_nbi(words + me * rounds + i, &source[static_cast<std::size_t>(i)], 1, 0);
  shmem_barrier_all();
  if (me == 0)
    for (int pe = 1; pe < pes; ++pe)
      for (int i = 0; i < rounds; ++i)
        CHECK(words[pe * rounds + i] == (static_cast<std::uint64_t>(pe) << 32 | static_cast<std::uint64_t>(i + 1)));
  shmem_barrier_all();
}

void the_heap_is_symmetric_and_refuses_what_does_not_fit(int me, int pes) {
  CHECK(shmem_malloc(std::size_t{1} << 40) == nullptr);
  auto* const a = static_cast<char*>(shmem_malloc(100));
  auto* const b = static_cast<char*>(shmem_align(4096, 100));
  CHECK(a && b && reinterpret_cast<std::uintptr_t>(b) % 4096 == 0);
  std::strcpy(a, "kept");
  auto* const grown = static_cast<char*>(shmem_realloc(a, 100'000));
  CHECK(grown && std::strcmp(grown, "kept") == 0);
  CHECK(shmem_addr_accessible(grown, (me + 1) % pes) && !shmem_addr_accessible(&me, 0));
  CHECK(shmem_ptr(grown, me) == grown);
  shmem_free(grown);
  shmem_free(b);
}

}  // namespace

int main() {
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  auto* const area = static_cast<unsigned char*>(shmem_malloc(largest + 64));
  CHECK(area);
  puts_and_gets_of_every_size(me, pes, area);
  single_elements_of_every_type(me, pes);
  a_flood_to_a_computing_pe(me, pes, area);
  the_heap_is_symmetric_and_refuses_what_does_not_fit(me, pes);
  shmem_free(area);
  finish();
}
