// RDMA: access to memory of other processes without a message to them.
//
// Each process exposes one range of its memory before it passes on its address. Others address bytes in it by their
// offset. reaches() says, for each peer, how its memory can be reached:
//
//   nothing    the peer exposes no memory, or no network reaches it
//   emulated   the network emulates accesses by messages, which the peer's progress() handles; or this is unknown
//   by_itself  the network needs no help from the peer, which may sleep
//
// Accesses to a peer may begin after it has replied to a message. Earlier, the connection to it may not be complete.
//
// Order. Accesses are ordered neither among themselves nor with messages; only flush() gives order. When a flush of a
// peer is done, all earlier puts and changes there are visible to every processor and every later access, and a get
// that begins after it returns data from after it.
//
// Completion. done() is called inside the call that began the access, or inside progress(). It may begin other
// accesses, but send no message. Sources, destinations and operands must remain valid until then.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lull::transport {

enum class reach : std::uint8_t { nothing, emulated, by_itself };

// The completion of an access.
class accessing {
 public:
  virtual void done() = 0;
  virtual void lost(const char* why) = 0;  // instead of done(): the peer or the network has failed

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

  // The exposed pages of this process. They are the memory that was to be exposed, or, if the network reaches only
  // memory that it has allocated itself, other pages, all zeros, which the caller must map in its place.
  [[nodiscard]] virtual std::byte* exposed() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;

  [[nodiscard]] virtual reach reaches(int peer) = 0;
  // Whether this process's own processor carries out the accesses. They are then done inside the call, and atomic with
  // respect to accesses of other processors of the host.
  [[nodiscard]] virtual bool by_processor(int peer) = 0;
  // The address at which this process can load and store in the peer's exposed memory; null if it cannot.
  [[nodiscard]] virtual std::byte* look_into(int peer) = 0;

  virtual void put(int peer, std::size_t offset, const void* source, std::size_t bytes, accessing& then) = 0;
  virtual void get(int peer, std::size_t offset, void* destination, std::size_t bytes, accessing& then) = 0;
  // Changes a word of 4 or 8 bytes, and stores the old value in `old`. For a compare_swap, `old` contains the new value
  // at first. Only where by_processor(): no adapter's change is atomic with those of the target's processors.
  virtual void fetch(int peer, std::size_t offset, change how, const void* operand, void* old, std::size_t width,
                     accessing& then) {
    (void)peer, (void)offset, (void)how, (void)operand, (void)old, (void)width;
    then.lost("this network changes no words of other processes");
  }
  virtual void flush(int peer, accessing& then) = 0;
};

}  // namespace lull::transport
