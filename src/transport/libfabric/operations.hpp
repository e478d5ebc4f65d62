// Operations of libfabric: what is posted to a provider, retried while the provider has no room, and completed once.
#pragma once
#include <rdma/fabric.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace lull::transport {

// The end of an operation.
struct ending {
  int failure = 0;        // an error number of libfabric; 0: success
  std::size_t bytes = 0;  // of a received message
};

// The result of posting: a negative error number of libfabric, or one of these.
inline constexpr ssize_t under_way = 0;
inline constexpr ssize_t complete = 1;  // no completion follows

struct operation {
  // A provider keeps the address of the operation and uses its first bytes.
  fi_context2 of_provider{};
  operation* next = nullptr;  // in the queue of those for which there was no room
  ssize_t (*post)(operation&) = nullptr;
  void (*ended)(operation&, const ending&) = nullptr;
};
static_assert(std::is_standard_layout_v<operation>);  // so the address of its first member is its own

// Operations in the order in which they came.
class operation_queue {
 public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] operation& front() const { return *first_; }
  void push(operation& one) {
    one.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &one;
    last_ = &one;
  }
  void pop() { first_ = first_->next; }

 private:
  operation* first_ = nullptr;
  operation* last_ = nullptr;
};

}  // namespace lull::transport
