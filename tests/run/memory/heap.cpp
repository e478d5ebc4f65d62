// The symmetric heap gives every PE the same addresses, preserves the content, and reports when it is full.
#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

void nothing_is_asked_and_nothing_given() {
  CHECK(shmem_malloc(0) == nullptr);
  CHECK(shmem_calloc(0, 8) == nullptr && shmem_calloc(8, 0) == nullptr);
  CHECK(shmem_align(64, 0) == nullptr);
  CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == nullptr);
  CHECK(shmem_realloc(nullptr, 0) == nullptr);
  shmem_free(nullptr);
}

void what_does_not_fit_is_refused_and_the_heap_goes_on() {
  CHECK(shmem_malloc(std::size_t{1} << 50) == nullptr);
  CHECK(shmem_malloc(std::numeric_limits<std::size_t>::max()) == nullptr);
  CHECK(shmem_calloc(std::numeric_limits<std::size_t>::max() / 2, 3) == nullptr);
  CHECK(shmem_align(std::size_t{1} << 62, 8) == nullptr);
  CHECK(shmem_align(24, 8) == nullptr);  // not a power of two
  CHECK(shmem_align(0, 8) == nullptr);
  std::vector<void*> pieces;
  while (void* const piece = shmem_malloc(std::size_t{5} << 20)) pieces.push_back(piece);
  CHECK(pieces.size() > 3);
  CHECK(shmem_realloc(pieces.back(), std::size_t{6} << 20) == nullptr);  // the old block stays
  for (void* const piece : pieces) shmem_free(piece);
  void* const again = shmem_malloc(pieces.size() * (std::size_t{5} << 20));  // all in one block: nothing was lost
  CHECK(again != nullptr);
  shmem_free(again);
}

void alignment_is_kept() {
  std::vector<void*> pieces;
  for (std::size_t alignment = 1; alignment <= std::size_t{4} << 20; alignment *= 2) {
    void* const piece = shmem_align(alignment, 40);
    CHECK(piece && reinterpret_cast<std::uintptr_t>(piece) % std::max(alignment, sizeof(void*)) == 0);
    pieces.push_back(piece);
  }
  for (void* const piece : pieces) shmem_free(piece);
}

void zeroed_memory_is_zero_although_used_before(const ring& r) {
  auto* const used = static_cast<unsigned char*>(shmem_malloc(100'000));
  std::memset(used, 0xff, 100'000);
  shmem_free(used);
  const auto* const zeroed = symmetric<unsigned char>(100'000);
  std::vector<unsigned char> theirs(100'000, 1);
  shmem_getmem(theirs.data(), zeroed, theirs.size(), r.next);  // no PE sees it unzeroed
  CHECK(std::ranges::all_of(theirs, [](unsigned char c) { return c == 0; }));
  shmem_free(const_cast<unsigned char*>(zeroed));
}

void a_changed_size_keeps_the_contents(const ring& r) {
  auto* const small = static_cast<unsigned char*>(shmem_malloc(1000));
  for (std::size_t i = 0; i < 1000; ++i) small[i] = static_cast<unsigned char>(i + static_cast<std::size_t>(r.me));
  const auto holds = [](const unsigned char* p, std::size_t count, int pe) {
    for (std::size_t i = 0; i < count; ++i)
      if (p[i] != static_cast<unsigned char>(i + static_cast<std::size_t>(pe))) return false;
    return true;
  };
  auto* const large = static_cast<unsigned char*>(shmem_realloc(small, 1'000'000));
  CHECK(large && holds(large, 1000, r.me));
  unsigned char theirs[1000];
  shmem_getmem(theirs, large, 1000, r.next);
  CHECK(holds(theirs, 1000, r.next));
  auto* const smaller = static_cast<unsigned char*>(shmem_realloc(large, 500));
  CHECK(smaller && holds(smaller, 500, r.me));
  CHECK(shmem_realloc(smaller, 0) == nullptr);  // which frees it
  auto* const fresh = static_cast<unsigned char*>(shmem_realloc(nullptr, 64));
  CHECK(fresh);
  shmem_free(fresh);
}

// The same random calls on all PEs: a neighbour's write to my address arrives at my address.
void many_calls_stay_symmetric(const ring& r) {
  struct piece {
    std::uint64_t* words;
    std::size_t count;
    std::uint64_t stamp;
  };
  std::vector<piece> pieces;
  std::mt19937_64 same(7);
  for (std::uint64_t step = 1; step <= 150; ++step) {
    if (pieces.size() > 20 || (!pieces.empty() && same() % 3 == 0)) {
      std::swap(pieces[same() % pieces.size()], pieces.back());
      const piece old = pieces.back();
      for (const std::size_t i : {std::size_t{0}, old.count - 1})
        CHECK(old.words[i] == old.stamp * 1000 + static_cast<std::uint64_t>(r.before));
      shmem_free(old.words);
      pieces.pop_back();
      continue;
    }
    const std::size_t count = 1 + same() % 5000;
    void* const memory =
        same() % 2 == 0 ? shmem_malloc(count * 8)
                        : shmem_malloc_with_hints(count * 8, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
    CHECK(memory != nullptr);
    auto* const words = static_cast<std::uint64_t*>(memory);
    shmem_uint64_p(words, step * 1000 + static_cast<std::uint64_t>(r.me), r.next);
    shmem_uint64_p(words + count - 1, step * 1000 + static_cast<std::uint64_t>(r.me), r.next);
    pieces.push_back({words, count, step});
    shmem_barrier_all();
  }
  for (const piece& old : pieces) shmem_free(old.words);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  nothing_is_asked_and_nothing_given();
  what_does_not_fit_is_refused_and_the_heap_goes_on();
  alignment_is_kept();
  zeroed_memory_is_zero_although_used_before(r);
  a_changed_size_keeps_the_contents(r);
  many_calls_stay_symmetric(r);
  finish();
}
