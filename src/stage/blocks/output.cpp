#include "stage/blocks/output.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "stage/blocks/outlet.hpp"
#include "stage/files/form.hpp"

namespace lull::stage::blocks {
namespace {

namespace fs = std::filesystem;

// Null if this process has no client, or no longer has one.
outlet* outlet_of_process() {
  static decltype(&lull_stage_outlet) ask = nullptr;
  if (ask == nullptr) {
    void* const library = dlopen("liblull-stage-programs.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) ask = reinterpret_cast<decltype(ask)>(dlsym(library, "lull_stage_outlet"));
  }
  return ask == nullptr ? nullptr : ask();
}

std::string new_mark() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint64_t>(now_ns());
  return fmt::format("{:016x}", number);
}

std::string made_folder(const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  const fs::path made = failed ? fs::path() : fs::canonical(folder, failed);
  if (failed) throw error("make the folder " + folder, failed.message());
  return made;
}

description checked(const std::string& text, int process, int processes) {
  if (process < 0 || process >= processes)
    throw usage_error("begin the output of a process", fmt::format("its number is {} of {}", process, processes),
                      "number them from 0");
  return read_description(text, process, processes);
}

}  // namespace

output::output(const std::string& description, int process, int processes)
    : description_(checked(description, process, processes)), mark_(new_mark()) {
  description_.folder = made_folder(description_.folder);
  head_.process = process;
  head_.processes = processes;
  head_.one_file = description_.file_of_server;
  head_.plugins = description_.plugins;
}

void output::set(const std::string& parameter, std::int64_t value) {
  const std::string action = "set the parameter " + parameter;
  if (parameter == "process" || parameter == "processes") throw usage_error(action, "Lull sets it", "use another name");
  if (memory_) throw usage_error(action, "an iteration has begun", "set it before the first variable is written");
  description_.parameters[parameter] = value;
  laid_out_ = false;
}

void output::lay_out() {
  if (laid_out_) return;
  std::vector<block> made = blocks_of(description_);
  for (block& one : made) {
    const auto placed = placed_.find(one.variable);
    if (placed == placed_.end()) continue;
    const auto& [offset, count] = placed->second;
    bool lies_within = true;
    for (std::size_t i = 0; i < one.all.size(); ++i) lies_within = lies_within && offset[i] + count[i] <= one.all[i];
    if (lies_within) {
      one.offset = offset;
      one.count = count;
    } else {
      placed_.erase(placed);  // the extents have changed
    }
  }
  head_.blocks = std::move(made);
  laid_out_ = true;
}

block& output::find(const std::string& variable) {
  lay_out();
  const auto found = std::ranges::find(head_.blocks, variable, &block::variable);
  if (found == head_.blocks.end())
    throw usage_error("write the variable " + variable, "the description does not contain it",
                      "describe it in [variables]");
  return *found;
}

const block& output::block_of(const std::string& variable) { return find(variable); }

void output::place(const std::string& variable, const std::int64_t* offset, const std::int64_t* count) {
  block& one = find(variable);
  const std::string action = "place the block of " + variable;
  if (one.position > 0)
    throw usage_error(action, "it has been written in this iteration", "place it before you write it");
  const std::size_t dimensions = one.all.size();
  const part wanted{{offset, offset + dimensions}, {count, count + dimensions}};
  for (std::size_t i = 0; i < dimensions; ++i)
    if (wanted.offset[i] < 0 || wanted.count[i] < 0 || wanted.offset[i] > one.all[i] ||
        wanted.count[i] > one.all[i] - wanted.offset[i])
      throw usage_error(action,
                        fmt::format("in dimension {} it would begin at {} with {} of {} elements", i, wanted.offset[i],
                                    wanted.count[i], one.all[i]),
                        "a block must be within its variable");
  one.offset = wanted.offset;
  one.count = wanted.count;
  placed_[variable] = wanted;
}

void output::begin() {
  std::size_t bytes = begin_of_blocks(head_);
  used_ = bytes;
  for (const block& one : head_.blocks) bytes += at_page(one.bytes());
  memory_ = buffers_.take(bytes, [this] { look(); });
}

void output::look() {
  if (outlet* const to = outlet_of_process()) std::ranges::move(to->look(), std::back_inserter(failures_));
}

void output::write(const std::string& variable, const void* data) {
  block& one = find(variable);
  const std::size_t bytes = one.bytes();
  const bool has_place =
      placed_.contains(variable) ||
      !description_.layouts.at(std::ranges::find(description_.variables, variable, &described_variable::name)->layout)
           .cut.empty();
  if (!has_place)
    throw usage_error("write the variable " + variable, "the position of this process's block is unknown",
                      "set cut in its layout, or call lull_stage_place()");
  if (bytes == 0) return;
  if (data == nullptr)
    throw usage_error("write the variable " + variable, "the data pointer is NULL", "give the address of the data");
  if (!memory_) begin();
  if (one.position == 0) {
    const std::size_t position = at_page(used_);
    memory_->grow(position + bytes);
    one.position = position;
    used_ = position + bytes;
  }
  std::memcpy(memory_->data() + one.position, data, bytes);
}

bool output::end_iteration(std::int64_t number) {
  if (number < 0)
    throw usage_error("end iteration " + std::to_string(number), "it is less than 0", "number them from 0");
  bool taken = true;
  if (memory_) {
    head_.iteration = number;
    write_head(memory_->data(), head_, used_);
    for (block& one : head_.blocks) one.position = 0;
    taken = hand_over(number);
  }
  look();
  if (failures_.empty()) return taken;
  const std::string first = std::exchange(failures_, {}).front();
  const std::size_t colon = first.find(": ");
  throw error(first.substr(0, colon), first.substr(colon + 2));
}

bool output::hand_over(std::int64_t number) {
  const std::string folder = fmt::format("{}/{}.{:06}", description_.folder, description_.name, number);
  const std::string path = fmt::format("{}/p{:04}.h5", folder, head_.process);
  const bool together = head_.one_file || !head_.plugins.empty();
  const std::shared_ptr<buffer> memory = std::exchange(memory_, nullptr);
  if (outlet* const to = outlet_of_process())
    return to->hand_over({path, form::blocks, {memory->descriptor(), used_, memory}, together ? folder : ""});
  const handed_over here{memory->descriptor(), {path, false, fmt::format("{}-{}", mark_, written_here_++)}};
  (void)write_together(form::blocks, {&here, 1}, setting_text("LULL_STAGE_FSYNC") == "1");
  return true;
}

}  // namespace lull::stage::blocks
