// Objects that are reused, so that a transfer allocates nothing.
#pragma once
#include <memory>
#include <vector>

namespace lull {

template <class T>
class pool {
 public:
  [[nodiscard]] T& take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<T>());
      free_.push_back(all_.back().get());
    }
    T& one = *free_.back();
    free_.pop_back();
    return one;
  }
  void give_back(T& one) { free_.push_back(&one); }

 private:
  std::vector<std::unique_ptr<T>> all_;
  std::vector<T*> free_;
};

}  // namespace lull
