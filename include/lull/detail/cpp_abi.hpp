// The interface between the templates of <lull/aggregate.hpp> and liblull-shmem has a number, which is raised whenever
// anything in it changes; the inline namespace lull::cpp_abi_N of all its names has the same number. A program that was
// compiled with another number therefore finds none of these functions and never passes a structure of another layout:
// the one C function below, which every version has, ends it with a line first.
//
// tests/python/base/test_cpp_abi.py checks that the interface of a number does not change.
#pragma once
#include <shmem.h>

#include <lull/version.h>

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

inline constexpr int cpp_abi = 1;

// Returns if liblull-shmem has this number; otherwise PE 0 prints a line with both versions and all PEs exit with code
// 1.
extern "C" LULL_API void lull_check_cpp_abi(int number, const char* compiled_with);

// First base of the public classes: its constructor runs before any other function of the library is called.
class same_cpp_abi {
 protected:
  same_cpp_abi() { lull_check_cpp_abi(cpp_abi, LULL_VERSION); }
};

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
