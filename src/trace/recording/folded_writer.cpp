#include "trace/recording/folded_writer.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace lull::trace {

using folding::chunk;

folded_writer::folded_writer(folding::running_state& state, std::uint64_t thread, append to)
    : state_(state), append_(std::move(to)) {
  const folding::file_header header{.thread = thread};
  is_open_ = append_(&header, sizeof header);
  file_bytes_ = sizeof header;
  next_part() = {};
  publish();
}

std::ptrdiff_t folded_writer::take(std::span<const record> window, bool has_several_logs, bool is_last) {
  if (has_several_logs) folder_.name_by_handles();
  const std::size_t taken = folder_.fold(window, is_last);
  const auto lives = folder_.take_given_up();
  std::vector<folding::request_life> given_up;
  given_up.reserve(lives.size());
  for (const auto& [life, handle] : lives) given_up.push_back({life, handle});
  if (!given_up.empty() && !write_chunk(chunk::given_up, {reinterpret_cast<const std::uint8_t*>(given_up.data()),
                                                          given_up.size() * sizeof(folding::request_life)}))
    return -1;
  const std::span<const std::uint8_t> structure = folder_.structure(), times = folder_.times();
  const part* now = &state_.parts[state_.valid];
  if (now->structure_bytes + structure.size() > state_.structure.size() ||
      now->times_bytes + times.size() > state_.times.size()) {
    if (!write_behind()) return -1;
    now = &state_.parts[state_.valid];
  }
  part& next = next_part();
  next = {.records = folder_.records(),
          .window = state_.window,
          .taken = static_cast<std::uint32_t>(taken),
          .structure_bytes = now->structure_bytes,
          .times_bytes = now->times_bytes};
  if (structure.size() > state_.structure.size()) {  // a window as it is
    if (!write_chunk(chunk::structure, structure)) return -1;
  } else {
    std::ranges::copy(structure, state_.structure.data() + now->structure_bytes);
    next.structure_bytes += static_cast<std::uint32_t>(structure.size());
  }
  std::ranges::copy(times, state_.times.data() + now->times_bytes);
  next.times_bytes += static_cast<std::uint32_t>(times.size());
  for (const auto& [life, handle] : folder_.open_requests()) {
    if (next.open == next.requests.size()) break;
    next.requests[next.open++] = {life, handle};
  }
  folder_.clear_output();
  publish();
  return static_cast<std::ptrdiff_t>(taken);
}

void folded_writer::next_window() { std::atomic_ref(state_.window).fetch_add(1, std::memory_order_release); }

bool folded_writer::finish() {
  if (!write_behind()) return false;
  const folding::file_end end{.records = folder_.records()};
  return write_chunk(chunk::end, {reinterpret_cast<const std::uint8_t*>(&end), sizeof end});
}

// The compiler must not move this store before the others; the kernel sees them in this order.
void folded_writer::publish() {
  next_part().file_bytes = file_bytes_;
  std::atomic_ref(state_.valid).store(1 - state_.valid, std::memory_order_release);
}

bool folded_writer::write_chunk(chunk what, std::span<const std::uint8_t> content) {
  const folding::chunk_header header{what, static_cast<std::uint32_t>(content.size())};
  if (!append_(&header, sizeof header) || !append_(content.data(), content.size())) return false;
  file_bytes_ += sizeof header + content.size();
  return true;
}

// What is mapped goes into the file.
bool folded_writer::write_behind() {
  const part& now = state_.parts[state_.valid];
  const std::span structure(state_.structure.data(), now.structure_bytes);
  const std::span times(state_.times.data(), now.times_bytes);
  if (!structure.empty() && !write_chunk(chunk::structure, structure)) return false;
  if (!times.empty() && !write_chunk(chunk::times, times)) return false;
  next_part() = now;
  next_part().structure_bytes = 0;
  next_part().times_bytes = 0;
  publish();
  return true;
}

}  // namespace lull::trace
