// The C interface: checks the arguments; no exception leaves it.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>

#include "aggregate/api/c_aggregator.hpp"
#include "lull/aggregate.h"
#include "shmem/current.hpp"

lull_aggregator_t* lull_aggregator_new(size_t item_bytes, const lull_aggregator_options_t* options) {
  try {
    return std::make_unique<lull_aggregator>(lull::shmem::here("lull_aggregator_new"), item_bytes,
                                             options ? *options : lull_aggregator_options_t{})
        .release();
  } catch (const std::bad_alloc&) {
    std::fputs("lull: lull_aggregator_new: no room in the symmetric heap; raise SHMEM_SYMMETRIC_SIZE\n", stderr);
    errno = ENOMEM;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "lull: lull_aggregator_new: %s\n", wrong.what());
    errno = EINVAL;
  }
  return nullptr;
}

int lull_aggregator_push(lull_aggregator_t* a, const void* item, int pe) {
  if (!a || !item || !a->knows(pe) || a->of_any_size()) return LULL_AGGREGATOR_BAD_ARGUMENT;
  return a->push(item, a->item_bytes(), pe);
}

int lull_aggregator_epush(lull_aggregator_t* a, const void* item, size_t bytes, int pe) {
  if (!a || (!item && bytes != 0) || !a->knows(pe) || !a->of_any_size()) return LULL_AGGREGATOR_BAD_ARGUMENT;
  return a->push(item, bytes, pe);
}

int64_t lull_aggregator_push_each(lull_aggregator_t* a, const void* items, const int* pes, size_t count) {
  if (!a || a->of_any_size() || (count != 0 && (!items || !pes))) return LULL_AGGREGATOR_BAD_ARGUMENT;
  if (!std::ranges::all_of(std::span(pes, count), [&](int pe) { return a->knows(pe); }))
    return LULL_AGGREGATOR_BAD_ARGUMENT;
  return a->push_each(static_cast<const std::byte*>(items), pes, count);
}

int lull_aggregator_pull(lull_aggregator_t* a, void* item, int* from_pe) {
  if (!a || !item || a->of_any_size()) return LULL_AGGREGATOR_BAD_ARGUMENT;
  const auto one = a->pull();
  if (!one) return 0;
  std::memcpy(item, one->item.data(), one->item.size());
  if (from_pe) *from_pe = one->from;
  return 1;
}

int64_t lull_aggregator_pull_each(lull_aggregator_t* a, void* items, int* from_pes, size_t most) {
  if (!a || a->of_any_size() || (most != 0 && !items)) return LULL_AGGREGATOR_BAD_ARGUMENT;
  return a->pull_each(static_cast<std::byte*>(items), from_pes, most);
}

void* lull_aggregator_apull(lull_aggregator_t* a, int* from_pe) {
  if (!a || a->of_any_size()) return nullptr;
  return lull_aggregator_epull(a, nullptr, from_pe);
}

void* lull_aggregator_epull(lull_aggregator_t* a, size_t* bytes, int* from_pe) {
  if (!a) return nullptr;
  const auto one = a->pull();
  if (!one) return nullptr;
  if (bytes) *bytes = one->item.size();
  if (from_pe) *from_pe = one->from;
  return one->item.data();
}

int lull_aggregator_unpull(lull_aggregator_t* a) { return a ? a->unpull() : LULL_AGGREGATOR_BAD_ARGUMENT; }

int lull_aggregator_advance(lull_aggregator_t* a, int done) {
  return a ? a->advance(done != 0) : LULL_AGGREGATOR_BAD_ARGUMENT;
}

int lull_aggregator_reset(lull_aggregator_t* a) { return a ? a->reset() : LULL_AGGREGATOR_BAD_ARGUMENT; }

int lull_aggregator_statistics(const lull_aggregator_t* a, lull_aggregator_statistics_t* now) {
  if (!a || !now) return LULL_AGGREGATOR_BAD_ARGUMENT;
  *now = a->statistics();
  return 0;
}

void lull_aggregator_free(lull_aggregator_t* a) { delete a; }  // NOLINT(cppcoreguidelines-owning-memory)

const char* lull_aggregator_strerror(int code) {
  switch (code) {
    case LULL_AGGREGATOR_BAD_ARGUMENT:
      return "a null pointer, a PE that does not exist, or a call for the other kind of items";
    case LULL_AGGREGATOR_TOO_LARGE:
      return "the item does not fit into a buffer; raise LULL_AGGREGATE_BUFFER_BYTES";
    case LULL_AGGREGATOR_IS_DONE:
      return "this PE has declared that it is done; push after lull_aggregator_reset()";
    case LULL_AGGREGATOR_NOT_OVER:
      return "the phase is not over; pull and advance until lull_aggregator_advance() returns 0";
    default:
      return code >= 0 ? "no error" : "unknown code";
  }
}
