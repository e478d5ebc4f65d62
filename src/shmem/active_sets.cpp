// Collectives over active sets, which OpenSHMEM deprecates since 1.5 in favour of teams: PE_start, PE_start + 2^logPE_stride,
// …
//
// The only state of an active set is the caller's pSync, which is zero before and after each call. Two of its words
// implement a barrier over a tree; a third passes offsets along. Everything else is puts and gets between barriers.
// Fast programs use teams.
#include <algorithm>
#include <array>
#include <atomic>
#include <complex>

#include "shmem/current.hpp"
#include "shmem/reductions.hpp"

using lull::pe_id;
using lull::fabric::amo_op;
using lull::fabric::context;
using lull::fabric::world;
using lull::shmem::here;
using lull::wait::operation;

namespace {

class active_set {
 public:
  active_set(const char* call, int start, int log_stride, int size, long* sync)
      : world_(here(call, operation::collective)), start_(start), stride_(1 << log_stride), size_(size), sync_(sync) {
    tree_.transform = lull::fabric::transforming::off;  // PEs wait for it
    me_ = (world_.me().index() - start) / stride_;
    if (world_.checks()) {
      lull::shmem::examine_range(world_.memory(), call, "pSync", sync, SHMEM_SYNC_SIZE * sizeof *sync);
      if (size < 1 || start < 0 || start + (size - 1) * stride_ >= world_.pes() || me_ < 0 || me_ >= size ||
          start + me_ * stride_ != world_.me().index())
        lull::shmem::mistake(call, "the active set contains PEs that do not exist, or does not contain the calling PE");
    }
  }

  [[nodiscard]] int me() const { return me_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] pe_id pe(int index) const { return pe_id{start_ + index * stride_}; }
  [[nodiscard]] world& home() { return world_; }
  [[nodiscard]] context& traffic() { return traffic_; }

  // PEs arrive up a tree and are released down it.
  void sync() {
    const int first_child = me_ * fan_out + 1;
    const int children = std::clamp(size_ - first_child, 0, fan_out);
    await(arrived, children);
    if (me_ != 0) {
      add(arrived, 1, (me_ - 1) / fan_out);
      await(released, 1);
    }
    for (int child = first_child; child < first_child + children; ++child) add(released, 1, child);
  }
  void complete_and_sync() {
    world_.transfers().quiet(traffic_);
    sync();
  }

  // Offset of this PE's `bytes` when the contributions of all PEs are concatenated.
  std::size_t begin_of(std::size_t bytes) {
    std::size_t begin = 0;
    if (me_ != 0) {
      const auto word = at(passed);
      world_.wait().until({operation::collective}, [&] { return word.load(std::memory_order_acquire) != 0; });
      begin = static_cast<std::size_t>(word.exchange(0)) - 1;
    }
    if (me_ + 1 < size_) add(passed, static_cast<long>(begin + bytes + 1), me_ + 1);
    return begin;
  }

  void to_all(void* dest, const void* source, std::size_t bytes, std::size_t begin) {
    for (int step = 0; step < size_ && bytes != 0; ++step)
      world_.transfers().put(traffic_, static_cast<std::byte*>(dest) + begin, source, bytes, pe((me_ + step) % size_),
                             false);
  }

 private:
  static constexpr int fan_out = 8;
  enum word { arrived, released, passed };
  [[nodiscard]] std::atomic_ref<long> at(word w) const { return std::atomic_ref<long>(sync_[w]); }
  void await(word w, long count) {
    if (count == 0) return;
    const auto counter = at(w);
    world_.wait().until({operation::barrier}, [&] { return counter.load(std::memory_order_acquire) == count; });
    // relaxed: the next addition comes after this PE's next message in the tree, which publishes the store
    counter.store(0, std::memory_order_relaxed);
  }
  void add(word w, long value, int index) {
    world_.transfers().non_fetching(tree_, sync_ + w, {amo_op::add, 8, 0, static_cast<std::uint64_t>(value), 0},
                                    pe(index));
  }

  world& world_;
  int start_, stride_, size_, me_;
  long* sync_;
  context traffic_, tree_;
};

void broadcast(active_set&& set, void* dest, const void* source, std::size_t bytes, int root) {
  if (set.me() == root)
    for (int index = 0; index < set.size(); ++index)
      if (index != root && bytes != 0)
        set.home().transfers().put(set.traffic(), dest, source, bytes, set.pe(index), false);
  set.complete_and_sync();
}

void gather(active_set&& set, void* dest, const void* source, std::size_t bytes) {
  set.to_all(dest, source, bytes, bytes * static_cast<std::size_t>(set.me()));
  set.complete_and_sync();
}

void gather_varying(active_set&& set, void* dest, const void* source, std::size_t bytes) {
  set.to_all(dest, source, bytes, set.begin_of(bytes));
  set.complete_and_sync();
}

void all_to_all(active_set&& set, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                std::size_t element, std::size_t count) {
  const auto block = static_cast<std::ptrdiff_t>(element * count);
  const auto blocks = [&](std::ptrdiff_t stride) {
    lull::fabric::block_descriptor s{.levels = 1};
    s.counts = {element, count};
    s.strides = {static_cast<std::int64_t>(element) * stride};
    return s;
  };
  for (int step = 0; step < set.size() && block != 0; ++step) {
    const int index = (set.me() + step) % set.size();
    set.home().transfers().put_strided(set.traffic(), static_cast<std::byte*>(dest) + block * dst * set.me(),
                                       blocks(dst), static_cast<const std::byte*>(source) + block * sst * index,
                                       blocks(sst), set.pe(index));
  }
  set.complete_and_sync();
}

template <class T, class Op>
void reduce(active_set&& set, T* dest, const T* source, int nreduce) {
  const auto count = static_cast<std::size_t>(std::max(nreduce, 0));
  std::vector<T> result(count), theirs(count);
  set.sync();  // all sources are ready
  // the same order, and therefore the same bits, on all PEs
  for (int index = 0; index < set.size() && count != 0; ++index) {
    T* const into = index == 0 ? result.data() : theirs.data();
    set.home().transfers().get(set.traffic(), into, source, count * sizeof(T), set.pe(index));
    if (index != 0) lull::shmem::combine<T, Op>(result.data(), theirs.data(), count);
  }
  set.sync();  // every PE has read all sources: dest may be source
  std::copy(result.begin(), result.end(), dest);
  set.sync();  // another set may now use pWrk and pSync
}

}  // namespace

void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long* pSync) {
  shmem_quiet();
  active_set("shmem_barrier", PE_start, logPE_stride, PE_size, pSync).sync();
}

void shmem_sync(int PE_start, int logPE_stride, int PE_size, long* pSync) {
  active_set("shmem_sync", PE_start, logPE_stride, PE_size, pSync).sync();
}

// clang-format off
#define LULL_SET(NAME) active_set("shmem_" #NAME, PE_start, logPE_stride, PE_size, pSync)
#define LULL_OLD_COLLECTIVES(SIZE)                                                                                    \
  void shmem_broadcast##SIZE(void* dest, const void* source, size_t n, int PE_root, int PE_start, int logPE_stride,   \
                             int PE_size, long* pSync) {                                                              \
    broadcast(LULL_SET(broadcast##SIZE), dest, source, n * ((SIZE) / 8), PE_root);                                    \
  }                                                                                                                   \
  void shmem_collect##SIZE(void* dest, const void* source, size_t n, int PE_start, int logPE_stride, int PE_size,     \
                           long* pSync) {                                                                             \
    gather_varying(LULL_SET(collect##SIZE), dest, source, n * ((SIZE) / 8));                                          \
  }                                                                                                                   \
  void shmem_fcollect##SIZE(void* dest, const void* source, size_t n, int PE_start, int logPE_stride, int PE_size,    \
                            long* pSync) {                                                                            \
    gather(LULL_SET(fcollect##SIZE), dest, source, n * ((SIZE) / 8));                                                 \
  }                                                                                                                   \
  void shmem_alltoall##SIZE(void* dest, const void* source, size_t n, int PE_start, int logPE_stride, int PE_size,    \
                            long* pSync) {                                                                            \
    all_to_all(LULL_SET(alltoall##SIZE), dest, source, 1, 1, (SIZE) / 8, n);                                          \
  }                                                                                                                   \
  void shmem_alltoalls##SIZE(void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t n, int PE_start,    \
                             int logPE_stride, int PE_size, long* pSync) {                                            \
    all_to_all(LULL_SET(alltoalls##SIZE), dest, source, dst, sst, (SIZE) / 8, n);                                     \
  }
LULL_OLD_COLLECTIVES(32)
LULL_OLD_COLLECTIVES(64)

#define LULL_TO_ALL(NAME, TYPE, OP)                                                                                   \
  void shmem_##NAME##_##OP##_to_all(TYPE* dest, const TYPE* source, int nreduce, int PE_start, int logPE_stride,      \
                                    int PE_size, TYPE*, long* pSync) {                                                \
    reduce<TYPE, lull::shmem::op_##OP>(LULL_SET(NAME##_##OP##_to_all), dest, source, nreduce);                        \
  }
LULL_BITWISE_TO_ALL_TYPES(LULL_TO_ALL, and)
LULL_BITWISE_TO_ALL_TYPES(LULL_TO_ALL, or)
LULL_BITWISE_TO_ALL_TYPES(LULL_TO_ALL, xor)
LULL_COMPARE_TO_ALL_TYPES(LULL_TO_ALL, max)
LULL_COMPARE_TO_ALL_TYPES(LULL_TO_ALL, min)
LULL_ARITHMETIC_TO_ALL_TYPES(LULL_TO_ALL, sum)
LULL_ARITHMETIC_TO_ALL_TYPES(LULL_TO_ALL, prod)
// clang-format on
