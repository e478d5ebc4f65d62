// A vendor's library that only some machines have: loaded when needed, never linked.
#pragma once
#include <dlfcn.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace lull::meter {

class shared_library {
 public:
  shared_library() = default;
  // Loads the first of the names that can be loaded; missing() says why none could.
  explicit shared_library(std::initializer_list<std::string> names) {
    for (const std::string& name : names) {
      handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
      if (const char* why = dlerror(); why != nullptr && missing_.empty()) missing_ = why;
    }
  }
  shared_library(shared_library&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), missing_(std::move(other.missing_)) {}
  shared_library& operator=(shared_library&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(missing_, other.missing_);
    return *this;
  }
  shared_library(const shared_library&) = delete;
  shared_library& operator=(const shared_library&) = delete;
  ~shared_library() {
    if (handle_ != nullptr) dlclose(handle_);
  }

  explicit operator bool() const { return handle_ != nullptr; }
  [[nodiscard]] const std::string& missing() const { return missing_; }

  // Sets `function` to the symbol; returns false if the library does not have it.
  template <class Function>
  [[nodiscard]] bool find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_ = nullptr;
  std::string missing_;
};

}  // namespace lull::meter
