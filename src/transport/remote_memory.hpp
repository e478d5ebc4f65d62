// Memory of other processes that this one reads and writes without a message to them: RDMA.
//
// Each process exposes one range of its memory before it gives its address away; others name bytes of it by their
// offset. What can be done to a peer's memory is asked once for each peer:
//
//   nothing    there is no such memory, or no network that reaches it
//   emulated   by messages of the network's own, which the peer's progress() answers; or nobody knows
//   by_itself  the peer may sleep
//
// Accesses to a peer may begin when a message to it has been answered: before, even a network that needs no peer may need
// it to be connected.
//
// Order: none, neither among accesses nor between them and messages, but what flush() gives. When it is done, all that
// was put or changed at that peer before is there, for every processor and every later access; and what a get begun
// then brings was there afterwards.
//
// An access is done perhaps still inside the call that began it, else inside progress(). done() may begin other
// accesses, but send nothing. Sources, destinations and operands stay until then.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lull::transport {

enum class reach : std::uint8_t { nothing, emulated, by_itself };

// Whoever has begun an access.
class accessing {
 public:
  virtual void done() = 0;
  virtual void lost(const char* why) = 0;  // its peer is gone, or the network

 protected:
  ~accessing() = default;
};

enum class change : std::uint8_t { add, set, compare_swap };

class remote_memory {
 public:
  remote_memory() = default;
  virtual ~remote_memory() = default;
  remote_memory(const remote_memory&) = delete;
  remote_memory& operator=(const remote_memory&) = delete;

  // This process's pages as the network has them: those it was asked to expose, or, where it reaches none but memory of
  // its own, others, all zeros, which whoever asked must show in their place.
  [[nodiscard]] virtual std::byte* exposed() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;

  [[nodiscard]] virtual reach reaches(int peer) = 0;
  // Whether this process's own processor carries the accesses out: they are done inside the call, and atomic with what
  // other processors of the host do.
  [[nodiscard]] virtual bool by_processor(int peer) = 0;
  // Where this process can load and store in the memory that the peer exposes; null: nowhere.
  [[nodiscard]] virtual std::byte* look_into(int peer) = 0;

  virtual void put(int peer, std::size_t offset, const void* source, std::size_t bytes, accessing& then) = 0;
  virtual void get(int peer, std::size_t offset, void* destination, std::size_t bytes, accessing& then) = 0;
  // Changes a word of 4 or 8 bytes; the old value comes to `old`, where the new one of a compare_swap must be now.
  virtual void fetch(int peer, std::size_t offset, change how, const void* operand, void* old, std::size_t width,
                     accessing& then) = 0;
  virtual void flush(int peer, accessing& then) = 0;
};

}  // namespace lull::transport
