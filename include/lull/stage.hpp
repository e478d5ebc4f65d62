// lull/stage.h for C++20: writes the output of a simulation as blocks of variables. Link with lull-stage.
//
//     lull::stage_output output("output.toml", rank, size);
//     output.set("nx", 512);
//     ...
//     output.write("temperature", temperature);  // a std::vector<double>, say
//     output.end_iteration(step);
//
// The member functions do what the functions of that name in lull/stage.h do. They throw lull::stage_error where those
// return LULL_STAGE_ERROR, and where the type or number of the elements differs from the description.
#ifndef LULL_STAGE_HPP
#define LULL_STAGE_HPP

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lull/stage.h"

namespace lull {

class stage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class stage_output {
 public:
  // `description`: the path of a TOML file, or TOML itself.
  stage_output(const std::string& description, int process, int processes) {
    check(lull_stage_open(description.c_str(), process, processes));
  }
  ~stage_output() { lull_stage_close(); }
  stage_output(const stage_output&) = delete;
  stage_output& operator=(const stage_output&) = delete;

  void set(const std::string& parameter, std::int64_t value) { check(lull_stage_set(parameter.c_str(), value)); }

  void place(const std::string& variable, std::initializer_list<std::int64_t> offset,
             std::initializer_list<std::int64_t> count) {
    const int dimensions = check(lull_stage_dimensions(variable.c_str()));
    if (std::cmp_not_equal(offset.size(), dimensions) || std::cmp_not_equal(count.size(), dimensions))
      throw stage_error("place the block of " + variable + ": it has " + std::to_string(dimensions) + " dimensions");
    check(lull_stage_place(variable.c_str(), offset.begin(), count.begin()));
  }

  template <std::ranges::contiguous_range Range>
  void write(const std::string& variable, const Range& data) {
    using value = std::ranges::range_value_t<Range>;
    static_assert(std::is_arithmetic_v<value>, "the elements of a variable must be of an arithmetic type");
    const char* const type = lull_stage_type(variable.c_str());
    if (type == nullptr) check(LULL_STAGE_ERROR);
    if (name_of<value>() != type)
      throw stage_error("write the variable " + variable + ": its type is " + type + ", not " + name_of<value>());
    const auto bytes = static_cast<std::int64_t>(std::ranges::size(data) * sizeof(value));
    const std::int64_t wanted = lull_stage_bytes(variable.c_str());
    if (wanted < 0) check(LULL_STAGE_ERROR);
    if (bytes != wanted)
      throw stage_error("write the variable " + variable + ": this process's block has " + std::to_string(wanted) +
                        " bytes, not " + std::to_string(bytes));
    check(lull_stage_write(variable.c_str(), std::ranges::data(data)));
  }

  // Returns false if the iteration was dropped because the buffer was full.
  bool end_iteration(std::int64_t iteration) { return check(lull_stage_end_iteration(iteration)) == LULL_STAGE_OK; }

 private:
  static int check(int code) {
    if (code == LULL_STAGE_ERROR) throw stage_error(lull_stage_error());
    return code;
  }

  // The name of an element type in descriptions.
  template <class Value>
  static std::string name_of() {
    const std::string bits = std::to_string(8 * sizeof(Value));
    if constexpr (std::is_floating_point_v<Value>) return "float" + bits;
    return (std::is_signed_v<Value> ? "int" : "uint") + bits;
  }
};

}  // namespace lull
#endif
