// The four primitives of shift, each with its own symmetric memory, and the check of the moved data.
#pragma once
#include <cstddef>
#include <memory>
#include <stdexcept>

#include "options.hpp"

namespace shift {

class no_room : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Symmetric memory, zero at first; constructed and destroyed by all PEs together. Throws no_room.
class symmetric {
 public:
  explicit symmetric(std::size_t bytes);
  ~symmetric();
  symmetric(const symmetric&) = delete;
  symmetric& operator=(const symmetric&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::byte* data_;
};

// Data between this PE and another arrives in an area of that other PE: at the target of a put in the area of its
// sender, at the caller of a get in that of the source. The data of different PEs can thus be distinguished.
class transfer {
 public:
  // Collective. `largest`: the most bytes that move() will get.
  [[nodiscard]] static std::unique_ptr<transfer> make(const options& wanted, std::size_t largest);
  virtual ~transfer() = default;
  transfer(const transfer&) = delete;
  transfer& operator=(const transfer&) = delete;

  // Moves `bytes` to or from `pe`, and returns when they have arrived.
  virtual void move(std::size_t bytes, int pe) = 0;

  // Whether data comes to the caller of move(), rather than to the PE that it names.
  [[nodiscard]] virtual bool fetches() const { return false; }

  // Fills the data to send and clears all areas. This PE must have no move in flight.
  virtual void prepare(std::size_t bytes) = 0;
  // Whether the area of `other` contains the result of `moves` moves of `bytes` bytes since prepare().
  [[nodiscard]] virtual bool holds(int other, std::size_t bytes, std::size_t moves) const = 0;

 protected:
  transfer() = default;
};

}  // namespace shift
