// The extensions of shmemx.h: accumulates of all PEs at once lose nothing; strided blocks and vectors move the right
// data.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

// Sums of small integers are exact in every type, in any order.
#define SUMS(NAME, TYPE, A)                                                                           \
  {                                                                                                   \
    constexpr std::size_t n = 37;                                                                     \
    const auto as = [](int whole) { return static_cast<TYPE>(whole); };                               \
    auto* const target = symmetric<TYPE>(n);                                                          \
    TYPE mine[n];                                                                                     \
    for (std::size_t i = 0; i < n; ++i) mine[i] = as(r.me + 1);                                       \
    const TYPE scale = as(2), minus = as(-1);                                                         \
    for (int round = 0; round < 10; ++round)                                                          \
      for (int pe = 0; pe < r.pes; ++pe) shmemx_##NAME##_accumulate(target, mine, n, &scale, pe);     \
    shmemx_##NAME##_accumulate(target, mine, 1, &minus, r.next);                                      \
    shmemx_##NAME##_accumulate(target, nullptr, 0, &minus, r.next);                                   \
    shmem_barrier_all();                                                                              \
    const TYPE all = as(10 * r.pes * (r.pes + 1));                                                    \
    CHECK(target[0] == all - as(r.before + 1));                                                       \
    for (std::size_t i = 1; i < n; ++i) CHECK(target[i] == all);                                      \
    const std::ptrdiff_t to_strides[] = {4 * sizeof(TYPE)}, from_strides[] = {2 * sizeof(TYPE)};      \
    const std::size_t counts[] = {2 * sizeof(TYPE), 5};                                               \
    shmem_barrier_all();                                                                              \
    shmemx_##NAME##_accumulate_strided(target, to_strides, mine, from_strides, counts, 1, &scale, 0); \
    shmem_barrier_all();                                                                              \
    if (r.me == 0)                                                                                    \
      for (std::size_t i = 1; i < n; ++i)                                                             \
        CHECK(target[i] == (i % 4 < 2 && i < 20 ? all + as(r.pes * (r.pes + 1)) : all));              \
    shmem_barrier_all();                                                                              \
    shmem_free(target);                                                                               \
  }

void every_type_accumulates(const ring& r) { LULL_ACCUMULATE_TYPES(SUMS, ) }

void a_large_accumulate(const ring& r) {
  constexpr std::size_t n = 200'000;  // 1.6 MB: several messages between nodes
  auto* const target = symmetric<double>(n);
  std::vector<double> mine(n);
  for (std::size_t i = 0; i < n; ++i) mine[i] = static_cast<double>(i) + r.me;
  const double scale = 3;
  shmemx_double_accumulate(target, mine.data(), n, &scale, 0);
  std::fill(mine.begin(), mine.end(), 0.0);  // the source may be reused on return
  shmem_barrier_all();
  if (r.me == 0)
    for (std::size_t i = 0; i < n; ++i)
      CHECK(target[i] == 3 * (static_cast<double>(i) * r.pes + r.pes * (r.pes - 1) / 2.0));
  shmem_barrier_all();
  shmem_free(target);
}

// Random blocks of one to three dimensions between two arrays, compared with a byte-by-byte copy.
void blocks_of_every_dimension(const ring& r) {
  constexpr std::size_t bytes = 40'000;
  auto* const area = symmetric<unsigned char>(bytes);
  std::vector<unsigned char> mine(bytes), right(bytes), back(bytes), right_back(bytes);
  std::mt19937 same(5);  // the same sequence on all PEs
  for (int round = 0; round < 40; ++round) {
    const int levels = round % 4;
    std::size_t counts[4] = {1 + same() % 40};
    std::ptrdiff_t there[3], here[3];
    std::ptrdiff_t reach_there = static_cast<std::ptrdiff_t>(counts[0]), reach_here = reach_there;
    for (int level = 0; level < levels; ++level) {
      counts[level + 1] = 1 + same() % 6;
      there[level] = reach_there + static_cast<std::ptrdiff_t>(same() % 5);
      here[level] = reach_here + static_cast<std::ptrdiff_t>(same() % 5);
      reach_there = there[level] * static_cast<std::ptrdiff_t>(counts[level + 1]);
      reach_here = here[level] * static_cast<std::ptrdiff_t>(counts[level + 1]);
    }
    CHECK(reach_there < static_cast<std::ptrdiff_t>(bytes) && reach_here < static_cast<std::ptrdiff_t>(bytes));
    const auto fill = [](std::vector<unsigned char>& v, int pe, int number) {
      for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = static_cast<unsigned char>(i * 13 + static_cast<std::size_t>(pe) * 7 + static_cast<std::size_t>(number));
    };
    fill(mine, r.before, round);
    std::fill(right.begin(), right.end(), static_cast<unsigned char>(0));
    const auto copy_block = [&](unsigned char* to, const std::ptrdiff_t* to_strides, const unsigned char* from,
                                const std::ptrdiff_t* from_strides) {
      const auto count = [&](int level) { return level <= levels ? counts[level] : 1; };
      for (std::size_t z = 0; z < count(3); ++z)
        for (std::size_t y = 0; y < count(2); ++y)
          for (std::size_t x = 0; x < count(1); ++x) {
            const std::size_t index[] = {x, y, z};
            std::ptrdiff_t a = 0, b = 0;
            for (int level = 0; level < levels; ++level) {
              a += static_cast<std::ptrdiff_t>(index[level]) * to_strides[level];
              b += static_cast<std::ptrdiff_t>(index[level]) * from_strides[level];
            }
            std::memcpy(to + a, from + b, counts[0]);
          }
    };
    copy_block(right.data(), there, mine.data(), here);
    fill(mine, r.me, round);
    std::fill_n(area, bytes, static_cast<unsigned char>(0));
    shmem_barrier_all();
    shmemx_put_strided(area, there, mine.data(), here, counts, levels, r.next);
    std::fill(mine.begin(), mine.end(), static_cast<unsigned char>(0xee));
    shmem_barrier_all();
    CHECK(std::equal(right.begin(), right.end(), area));
    std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
    std::fill(right_back.begin(), right_back.end(), static_cast<unsigned char>(0));
    shmemx_get_strided(back.data(), here, area, there, counts, levels, r.next);
    fill(mine, r.me, round);
    copy_block(right_back.data(), here, mine.data(), here);
    CHECK(back == right_back);
    shmem_barrier_all();
  }
  shmem_free(area);
}

void vectors(const ring& r) {
  constexpr std::size_t pieces = 300, size = 24;
  auto* const area = symmetric<unsigned char>(pieces * size * 2);
  std::vector<unsigned char> mine(pieces * size), back(pieces * size);
  for (std::size_t i = 0; i < mine.size(); ++i)
    mine[i] = static_cast<unsigned char>(i + static_cast<std::size_t>(r.me));
  std::vector<void*> to(pieces), home(pieces);
  std::vector<const void*> from(pieces), there(pieces);
  for (std::size_t i = 0; i < pieces; ++i) {
    to[i] = area + (i * 7 % pieces) * size * 2;
    there[i] = to[i];
    from[i] = &mine[i * size];
    home[i] = &back[i * size];
  }
  shmemx_put_vector(to.data(), from.data(), pieces, size, r.next);
  shmem_barrier_all();
  for (std::size_t i = 0; i < pieces; ++i)
    for (std::size_t k = 0; k < size; ++k)
      CHECK(area[(i * 7 % pieces) * size * 2 + k] ==
            static_cast<unsigned char>(i * size + k + static_cast<std::size_t>(r.before)));
  shmemx_get_vector(home.data(), there.data(), pieces, size, r.next);
  CHECK(back == mine);
  shmemx_put_vector(to.data(), from.data(), 0, size, r.next);
  shmem_barrier_all();
  shmem_free(area);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  every_type_accumulates(r);
  a_large_accumulate(r);
  blocks_of_every_dimension(r);
  vectors(r);
  finish();
}
