// The output of one process behind lull/stage.h. Variables are written into the memory of an iteration, which is handed
// over at its end or, without a server, written by the process itself.
//
//   output(description) → set* → place*, write*, … , end_iteration → place*, write*, …
//
// All calls throw lull::error, or usage_error for mistakes of the program; then nothing has changed.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stage/blocks/block_file.hpp"
#include "stage/blocks/buffers.hpp"
#include "stage/blocks/description.hpp"

namespace lull::stage::blocks {

class output {
 public:
  // Makes the folder. `process` of `processes`, in the program's numbering.
  output(const std::string& description, int process, int processes);

  void set(const std::string& parameter, std::int64_t value);  // not within an iteration
  // Applies from now on. Each array has one number per dimension of the variable.
  void place(const std::string& variable, const std::int64_t* offset, const std::int64_t* count);
  [[nodiscard]] const block& block_of(const std::string& variable);
  // Copies the bytes of block_of(). A second call in the same iteration replaces the first.
  void write(const std::string& variable, const void* data);
  // False: the iteration was dropped because the buffer was full. Also throws if an earlier iteration could not be
  // written.
  [[nodiscard]] bool end_iteration(std::int64_t number);

 private:
  struct part {
    std::vector<std::int64_t> offset, count;
  };
  void lay_out();
  block& find(const std::string& variable);
  void begin();
  void look();  // checks the state of earlier iterations
  bool hand_over(std::int64_t number);

  description description_;
  std::map<std::string, part> placed_;
  bool laid_out_ = false;
  head head_;
  buffers buffers_;
  std::shared_ptr<buffer> memory_;  // of the current iteration
  std::size_t used_ = 0;
  std::vector<std::string> failures_;  // not yet reported
  std::string mark_;
  std::uint64_t written_here_ = 0;
};

}  // namespace lull::stage::blocks
