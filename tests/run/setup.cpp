// A PE knows its number, what it can access, and its thread level.
#include <algorithm>
#include <cstring>

#include "check.hpp"

namespace {

int in_static_memory;

void pes_are_numbered_once_each(const ring& r) {
  CHECK(r.pes >= 1 && r.me >= 0 && r.me < r.pes);
  auto* const seen = symmetric<int>(static_cast<std::size_t>(r.pes));
  for (int pe = 0; pe < r.pes; ++pe) shmem_int_atomic_inc(seen + r.me, pe);
  shmem_barrier_all();
  CHECK(std::all_of(seen, seen + r.pes, [](int times) { return times == 1; }));
  shmem_free(seen);
}

void what_can_be_reached_is_told(const ring& r) {
  int on_the_stack = 0;
  auto* const in_the_heap = symmetric<int>(1);
  *in_the_heap = r.me;
  shmem_barrier_all();
  for (int pe = 0; pe < r.pes; ++pe) {
    CHECK(shmem_pe_accessible(pe) == 1);
    CHECK(shmem_addr_accessible(in_the_heap, pe) == 1);
    CHECK(shmem_addr_accessible(&in_static_memory, pe) == 1);
    CHECK(shmem_addr_accessible(&on_the_stack, pe) == 0);
    CHECK(shmem_ptr(&on_the_stack, pe) == nullptr);
    const auto* const there = static_cast<int*>(shmem_ptr(in_the_heap, pe));
    CHECK((there != nullptr) == (shmemx_node_of(pe) == shmemx_node_of(r.me)));
    if (there) CHECK(*there == pe);
  }
  CHECK(shmem_ptr(in_the_heap, r.me) == in_the_heap && shmem_ptr(&in_static_memory, r.me) == &in_static_memory);
  for (const int pe : {-1, r.pes, r.pes + 1'000'000}) {
    CHECK(shmem_pe_accessible(pe) == 0);
    CHECK(shmem_addr_accessible(in_the_heap, pe) == 0);
    CHECK(shmem_ptr(in_the_heap, pe) == nullptr);
  }
  shmem_barrier_all();
  shmem_free(in_the_heap);
}

void the_library_says_what_it_is() {
  int major = 0, minor = 0;
  shmem_info_get_version(&major, &minor);
  CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION && major == 1 && minor == 6);
  char name[SHMEM_MAX_NAME_LEN];
  shmem_info_get_name(name);
  CHECK(std::strcmp(name, SHMEM_VENDOR_STRING) == 0);
}

void profiling_can_be_controlled() {
  for (const int level : {0, 1, 2, 3}) shmem_pcontrol(level);
}

void it_is_initialised() {
  int initialised = 0;
  shmem_query_initialized(&initialised);
  CHECK(initialised != 0);
}

}  // namespace

int main() {
  int provided = -1, asked = -1;
  CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
  shmem_query_thread(&asked);
  CHECK(provided == SHMEM_THREAD_MULTIPLE && asked == provided);
  const ring r;
  pes_are_numbered_once_each(r);
  what_can_be_reached_is_told(r);
  the_library_says_what_it_is();
  it_is_initialised();
  profiling_can_be_controlled();
  finish();
}
