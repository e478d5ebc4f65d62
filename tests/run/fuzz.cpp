// Random programs: all PEs make the same plan from a seed, carry out their part, and compare with a model.
//
//     fuzz [SEED [PHASES]]
//
// A failure names the seed and the phase; the same seed, PEs and nodes make the same plan again.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "fuzz/atomics.hpp"
#include "fuzz/dice.hpp"
#include "fuzz/sequences.hpp"
#include "fuzz/teams.hpp"
#include "fuzz/threads.hpp"
#include "fuzz/transfers.hpp"

namespace {

using fuzz::dice;
using fuzz::situation;

constexpr std::size_t large = (std::size_t{5} << 19U) + 4096;  // more than is sent eagerly between nodes
std::byte in_static_memory[4096];

// Blocks of any size for each PE, at any distance from each other, followed by a signal; then they are read again.
void blocks_with_gaps(situation& s, dice& d, std::byte* area, std::uint64_t* signal) {
  s.subject = "large blocks with gaps";
  const std::size_t count = 1 + d.below(d.chance(50) ? std::size_t{3} : std::size_t{2000});
  const std::size_t room = large / count, block = 1 + d.below(room), there = block + d.below(room - block + 1);
  const std::size_t here = block + d.below(std::size_t{3});
  const int distance = d.below(s.r.pes), to = (s.r.me + distance) % s.r.pes;
  const int from = (s.r.me + s.r.pes - distance) % s.r.pes;
  const std::uint64_t seed = d.next();
  const bool by_quiet = d.chance(50);
  const auto data_of = [&](int pe) {
    std::vector<std::byte> data(count * here);
    fuzz::fill(data, seed + static_cast<std::uint64_t>(pe));
    return data;
  };
  std::vector<std::byte> mine = data_of(s.r.me);
  const std::vector<std::byte> expected = data_of(from);
  std::fill_n(area, count * there, std::byte{1});
  *signal = 0;
  shmem_barrier_all();
  const auto dst = static_cast<std::ptrdiff_t>(there), sst = static_cast<std::ptrdiff_t>(here);
  shmem_ibput8(area, mine.data(), dst, sst, block, count, to);
  std::ranges::fill(mine, std::byte{0});
  if (by_quiet)
    shmem_pe_quiet(&to, 1);
  else
    shmem_fence();
  shmem_signal_set(signal, 7, to);
  shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 7);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT(s, std::equal(area + i * there, area + i * there + block,
                         expected.begin() + static_cast<std::ptrdiff_t>(i * here)));
    EXPECT(s, std::all_of(area + i * there + block, area + (i + 1) * there,
                          [](std::byte b) { return b == std::byte{1}; }));
  }
  shmem_pe_quiet(&to, 1);
  shmem_ibget8(mine.data(), area, sst, dst, block, count, to);
  const std::vector<std::byte> sent = data_of(s.r.me);
  for (std::size_t i = 0; i < count * here; ++i) EXPECT(s, mine[i] == (i % here < block ? sent[i] : std::byte{0}));
  shmem_barrier_all();
}

// One block for each PE, from a few bytes to megabytes, followed by a signal or a barrier.
void blocks_of_any_size(situation& s, dice& d, std::byte* area, std::uint64_t* signal) {
  s.subject = "large blocks";
  const std::size_t size = 1 + d.below(d.chance(30) ? large : std::size_t{70'000});
  const int distance = d.below(s.r.pes), way = d.below(6);
  const std::uint64_t seed = d.next();
  const int to = (s.r.me + distance) % s.r.pes, from = (s.r.me + s.r.pes - distance) % s.r.pes;
  const auto data_of = [&](int pe) {
    std::vector<std::byte> data(size);
    fuzz::fill(data, seed + static_cast<std::uint64_t>(pe));
    return data;
  };
  const std::vector<std::byte> mine = data_of(s.r.me);
  std::vector<std::byte> got;
  *signal = 0;
  shmem_barrier_all();
  switch (way) {
    case 0:
      shmem_putmem_nbi(area, mine.data(), size, to);
      break;
    case 1:
      shmem_putmem_signal_nbi(area, mine.data(), size, signal, 7, SHMEM_SIGNAL_SET, to);
      break;
    case 2:
      shmem_putmem_signal(area, mine.data(), size, signal, 7, SHMEM_SIGNAL_ADD, to);
      break;
    case 3:
      std::copy(mine.begin(), mine.end(), area);
      shmem_sync_all();
      got.resize(size);
      shmem_getmem_nbi(got.data(), area, size, to);
      shmem_quiet();
      EXPECT(s, got == data_of(to));
      break;
    case 4:
      shmem_putmem(area, mine.data(), size, to);
      shmem_fence();
      shmem_uint64_atomic_add(signal, 7, to);
      break;
    default:
      shmem_putmem_nbi(area, mine.data(), size, to);
      shmem_fence();
      shmem_uint64_p(signal, 7, to);
  }
  if (way == 1 || way == 2) EXPECT(s, shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 7) == 7);
  if (way >= 4) shmem_uint64_wait_until(signal, SHMEM_CMP_GE, 7);
  if (way == 0) shmem_barrier_all();
  if (way != 3) {
    const auto expected = data_of(from);
    EXPECT(s, std::equal(expected.begin(), expected.end(), area));
  }
  shmem_barrier_all();
}

// Blocks of the heap are allocated, resized, moved and freed; what a neighbour put there stays.
void heap(situation& s, dice& d) {
  s.subject = "heap";
  struct piece {
    std::byte* memory;
    std::size_t size;
    std::uint64_t seed;
  };
  std::vector<piece> pieces;
  const auto check = [&](const piece& p) {
    std::vector<std::byte> expected(p.size);
    fuzz::fill(expected, p.seed + static_cast<std::uint64_t>(s.r.before));
    EXPECT(s, std::equal(expected.begin(), expected.end(), p.memory));
  };
  for (int i = 0; i < 12; ++i) {
    const std::size_t size = 1 + d.below(d.chance(70) ? std::size_t{300} : std::size_t{40'000});
    const int how = d.below(5);
    const std::size_t which = d.below(pieces.size());
    const std::uint64_t seed = d.next();
    if (how == 0 && !pieces.empty()) {
      check(pieces[which]);
      shmem_free(pieces[which].memory);
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    if (how == 1 && !pieces.empty()) {
      auto& p = pieces[which];
      p.memory = static_cast<std::byte*>(shmem_realloc(p.memory, size));
      EXPECT(s, p.memory != nullptr);
      std::vector<std::byte> whole(p.size);
      fuzz::fill(whole, p.seed + static_cast<std::uint64_t>(s.r.before));
      EXPECT(s, std::equal(p.memory, p.memory + std::min(size, p.size), whole.begin()));
      shmem_free(p.memory);
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const std::size_t alignment = std::size_t{8} << d.below(10);
    auto* const memory = static_cast<std::byte*>(how == 2   ? shmem_align(alignment, size)
                                                 : how == 3 ? shmem_calloc(size, 1)
                                                            : shmem_malloc_with_hints(size, 0));
    EXPECT(s, memory != nullptr);
    if (how == 2) EXPECT(s, reinterpret_cast<std::uintptr_t>(memory) % alignment == 0);
    if (how == 3) EXPECT(s, std::all_of(memory, memory + size, [](std::byte b) { return b == std::byte{0}; }));
    std::vector<std::byte> mine(size);
    fuzz::fill(mine, seed + static_cast<std::uint64_t>(s.r.me));
    shmem_barrier_all();  // all PEs have read what will be overwritten
    shmem_putmem(memory, mine.data(), size, s.r.next);
    shmem_barrier_all();
    pieces.push_back({memory, size, seed});
  }
  for (const piece& p : pieces) {
    check(p);
    shmem_free(p.memory);
  }
}

// Not atomic on purpose, under a lock; and a reduction over an active set, with its work arrays.
void locks_and_active_sets(situation& s, dice& d, long* lock, long* counter, long* work) {
  s.subject = "locks";
  const int home = d.below(s.r.pes), times = 1 + d.below(6);
  const long before = shmem_long_g(counter, home);
  shmem_barrier_all();
  for (int i = 0; i < times; ++i) {
    if (i % 2 == 0)
      shmem_set_lock(lock);
    else
      while (shmem_test_lock(lock) != 0) {
      }
    shmem_long_p(counter, shmem_long_g(counter, home) + 1, home);
    shmem_clear_lock(lock);
  }
  shmem_barrier_all();
  EXPECT(s, shmem_long_g(counter, home) == before + static_cast<long>(times) * s.r.pes);
  s.subject = "active sets";
  static long from[8], to[8];
  for (int i = 0; i < 8; ++i) from[i] = s.r.me * i;
  shmem_barrier_all();
  const int stride = d.below(2), first = d.below(s.r.pes);
  const int size = (s.r.pes - 1 - first) / (1 << stride) + 1;
  if (s.r.me >= first && (s.r.me - first) % (1 << stride) == 0) {
    shmem_long_sum_to_all(to, from, 8, first, stride, size, work, work + 8);
    long sum = 0;
    for (int i = 0; i < size; ++i) sum += first + i * (1 << stride);
    for (int i = 0; i < 8; ++i) EXPECT(s, to[i] == sum * i);
  }
  shmem_barrier_all();
}

void static_memory(situation& s, dice& d) {
  s.subject = "static memory";
  const std::size_t place = d.below(sizeof in_static_memory), size = d.below(sizeof in_static_memory - place);
  const std::uint64_t seed = d.next();
  std::vector<std::byte> mine(size), expected(size);
  fuzz::fill(mine, seed + static_cast<std::uint64_t>(s.r.me));
  fuzz::fill(expected, seed + static_cast<std::uint64_t>(s.r.before));
  shmem_putmem_nbi(in_static_memory + place, mine.data(), size, s.r.next);
  shmem_barrier_all();
  EXPECT(s, std::equal(expected.begin(), expected.end(), in_static_memory + place));
  shmem_getmem(mine.data(), in_static_memory + place, size, s.r.before);
  fuzz::fill(expected, seed + static_cast<std::uint64_t>((s.r.before + s.r.pes - 1) % s.r.pes));
  EXPECT(s, mine == expected);
  shmem_barrier_all();
}

// Whether the text is a single number, which is stored in `number`.
bool read_number(const char* text, std::uint64_t& number) {
  const std::string_view whole = text;
  const auto [end, status] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
  return status == std::errc{} && end == whole.data() + whole.size();
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 1, phases = 40;
  if (argc > 3 || (argc > 1 && !read_number(argv[1], seed)) || (argc > 2 && !read_number(argv[2], phases))) {
    std::fprintf(stderr, "fuzz: its arguments are a seed and the number of phases, both whole numbers\n");
    return 2;
  }
  const bool threaded = seed % 3 == 1;
  int level = threaded ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE;
  if (shmem_init_thread(level, &level) != 0 || (threaded && level != SHMEM_THREAD_MULTIPLE)) return 1;
  situation s{.r = {}, .seed = seed};
  dice d(seed);
  {
    fuzz::transfers transfers(s);
    fuzz::atomics atomics(s);
    fuzz::teams teams(s);
    alignas(16) static std::byte variable[fuzz::parts::bytes_for(8)];
    fuzz::parts memory(s, seed % 2 == 0 && s.r.pes <= 8 ? variable : nullptr);
    fuzz::sequences sequences(s, memory, SHMEM_TEAM_WORLD);
    std::optional<fuzz::threads> threads;
    if (threaded) threads.emplace(s);
    auto* const area = symmetric<std::byte>(large);
    auto* const signal = symmetric<std::uint64_t>(1);
    auto* const lock = symmetric<long>(1);
    auto* const counter = symmetric<long>(1);
    auto* const work = symmetric<long>(8 + SHMEM_REDUCE_SYNC_SIZE);
    for (std::uint64_t phase = 0; phase < phases; ++phase) {
      s.phase = static_cast<int>(phase);
      switch (d.below(17)) {
        case 0:
        case 1:
        case 2:
          transfers.phase(d);
          break;
        case 3:
        case 4:
          atomics.phase(d);
          break;
        case 5:
          teams.change(d);
          break;
        case 6:
        case 7:
          teams.act(d);
          break;
        case 8:
          if (d.chance(50))
            blocks_of_any_size(s, d, area, signal);
          else
            blocks_with_gaps(s, d, area, signal);
          break;
        case 9:
          heap(s, d);
          break;
        case 11:
        case 12:
        case 13:
          sequences.phase(d);
          break;
        case 15:
          if (threads) threads->phase(d);
          break;
        case 14:
          teams.share(d);
          break;
        case 10:
          locks_and_active_sets(s, d, lock, counter, work);
          break;
        default:
          static_memory(s, d);
      }
    }
    for (void* const memory : {static_cast<void*>(work), static_cast<void*>(counter), static_cast<void*>(lock),
                               static_cast<void*>(signal), static_cast<void*>(area)})
      shmem_free(memory);
  }
  finish();
}
