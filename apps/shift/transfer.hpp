// The four primitives of shift, over symmetric memory of their own, and the check of what they have moved.
#pragma once
#include <cstddef>
#include <memory>
#include <stdexcept>

#include "options.hpp"

namespace shift {

class no_room : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Symmetric memory, zero at first; made and destroyed by all PEs together. Throws no_room.
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

// What travels between this PE and another lands in an area that belongs to that other PE: at the target of a put the
// area of its sender, at the caller of a get that of the PE it came from. So what arrived can be told apart.
class transfer {
 public:
  // Collective. `largest` is the most bytes that move() will be asked for.
  [[nodiscard]] static std::unique_ptr<transfer> make(const options& wanted, std::size_t largest);
  virtual ~transfer() = default;
  transfer(const transfer&) = delete;
  transfer& operator=(const transfer&) = delete;

  // Moves `bytes` to or from `pe`, and returns when they have arrived.
  virtual void move(std::size_t bytes, int pe) = 0;

  // Whether data come to the caller of move(), and not to the PE it names.
  [[nodiscard]] virtual bool fetches() const { return false; }

  // Fills what will be sent, and empties all areas. No move may be under way at this PE.
  virtual void prepare(std::size_t bytes) = 0;
  // Whether the area of `other` holds what `moves` moves of `bytes` leave there since prepare().
  [[nodiscard]] virtual bool holds(int other, std::size_t bytes, std::size_t moves) const = 0;

 protected:
  transfer() = default;
};

}  // namespace shift
