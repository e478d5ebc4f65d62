// Locks: a queue of PEs, each of which sleeps on its own word until its predecessor wakes it.
//
// A lock is a symmetric long, initially 0. Its first half, at the lock's home PE, is the end of the queue. Its second
// half, at each PE, is that PE's entry in the queue: its successor, and whether the lock was granted to it. PEs are
// numbered from 1 here; 0 means none.
#include <atomic>

#include "shmem/current.hpp"

using lull::pe_id;
using lull::fabric::amo_op;
using lull::fabric::world;
using lull::shmem::here;
using lull::wait::operation;

namespace {

constexpr std::uint32_t granted = std::uint32_t{1} << 31U;

class queue_lock {
 public:
  queue_lock(const char* call, long* lock)
      : world_(here(call, operation::lock)), words_(reinterpret_cast<std::uint32_t*>(lock)) {
    if (world_.checks()) lull::shmem::examine_range(world_.memory(), call, "the lock", lock, sizeof *lock);
    // Adjacent locks have different home PEs.
    home_ = pe_id{
        static_cast<int>(world_.memory().offset_of(lock) / sizeof *lock % static_cast<std::size_t>(world_.pes()))};
    me_ = static_cast<std::uint32_t>(world_.me().index()) + 1;
  }

  void set() {
    const std::uint32_t before = end_of_queue(amo_op::set, me_, 0);
    if (before == 0) return;
    place(me_, before);
    await([](std::uint32_t mine) { return (mine & granted) != 0; });
    mine().fetch_and(~granted);
  }
  bool test() { return end_of_queue(amo_op::compare_swap, me_, 0) == 0; }
  void clear() {
    world_.transfers().quiet(world_.transfers().default_context());
    std::uint32_t next = mine().load(std::memory_order_acquire);
    if (next == 0) {
      if (end_of_queue(amo_op::compare_swap, 0, me_) == me_) return;  // no PE waits
      await([](std::uint32_t now) { return now != 0; });              // a successor is about to enter
      next = mine().load(std::memory_order_acquire);
    }
    // relaxed: no PE adds to this entry until this PE queues again, with an atomic operation that releases the store
    mine().store(0, std::memory_order_relaxed);
    place(granted, next);
  }

 private:
  std::uint32_t end_of_queue(amo_op op, std::uint32_t value, std::uint32_t compare) {
    return static_cast<std::uint32_t>(world_.transfers().fetching(world_.transfers().default_context(), &words_[0],
                                                                  {op, 4, 0, value, compare}, home_));
  }
  void place(std::uint32_t value, std::uint32_t pe) {
    lull::fabric::context at_once;  // another PE waits for it, so it must not wait for more to join it
    at_once.transform = lull::fabric::transforming::off;
    world_.transfers().non_fetching(at_once, &words_[1], {amo_op::add, 4, 0, value, 0},
                                    pe_id{static_cast<int>(pe) - 1});
  }
  template <class Is>
  void await(Is is) {
    world_.wait().until({operation::lock}, [&] { return is(mine().load(std::memory_order_acquire)); });
  }
  [[nodiscard]] std::atomic_ref<std::uint32_t> mine() const { return std::atomic_ref<std::uint32_t>(words_[1]); }

  world& world_;
  std::uint32_t* words_;
  pe_id home_;
  std::uint32_t me_;
};

}  // namespace

void shmem_set_lock(long* lock) { queue_lock("shmem_set_lock", lock).set(); }
void shmem_clear_lock(long* lock) { queue_lock("shmem_clear_lock", lock).clear(); }
int shmem_test_lock(long* lock) { return queue_lock("shmem_test_lock", lock).test() ? 0 : 1; }
