// Enumerators of the meter by the names that Python uses.
#pragma once
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "meter/source.hpp"

namespace lull::python {

// The enumerator named `name`, of an enumeration from 0 to `last`.
template <class E>
E named(std::string_view name, E last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name_of(static_cast<E>(i)) == name) return static_cast<E>(i);
  throw error("choose the channels that count", "there is no '" + std::string(name) + "'", "give a domain and a kind");
}

}  // namespace lull::python
