#include "job/published.hpp"

#include <signal.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/error.hpp"
#include "base/futex.hpp"

namespace lull::job {
namespace {

enum : std::uint32_t { is_written, is_complete, is_given_up };

// At the beginning of the shared memory; the table follows: for each process the number of the byte at which its data
// ends, and then the data.
struct table_head {
  std::uint64_t nonce;  // of the segment
  std::atomic<std::uint32_t> state;
  std::uint32_t unused;
  std::uint64_t bytes;  // of the table
};
static_assert(sizeof(table_head) == 24 && std::atomic<std::uint32_t>::is_always_lock_free);

table_head& head_of(const mapping& memory) { return *reinterpret_cast<table_head*>(memory.data()); }

// The name of the table comes last: what is published begins with the versions of Lull (modex.hpp).
std::vector<std::byte> with_name(std::span<const std::byte> mine, const segment_name& table) {
  std::vector<std::byte> all(mine.begin(), mine.end());
  const auto name = std::as_bytes(std::span(&table, 1));
  all.insert(all.end(), name.begin(), name.end());
  return all;
}

std::size_t bytes_without_name(const std::vector<std::byte>& published) {
  return published.size() < sizeof(segment_name) ? published.size() : published.size() - sizeof(segment_name);
}

segment_name name_in(const std::vector<std::byte>& published) {
  segment_name table{};
  if (published.size() >= sizeof table)
    std::memcpy(&table, published.data() + bytes_without_name(published), sizeof table);
  return table;
}

}  // namespace

std::vector<std::byte> published::without_table(std::span<const std::byte> mine) { return with_name(mine, {}); }

published::published(bootstrap& boot, const std::string& key, std::span<const std::byte> mine) {
  if (boot.size() == 1) {
    own_.assign(mine.begin(), mine.end());
    data_.emplace_back(own_);
    return;
  }
  const bool shares = boot.host_ranks().size() > 1, is_first = boot.rank().index() == boot.host();
  if (shares && is_first) {
    try {
      memory_ = std::make_unique<segment>();
      head_ = memory_->map_own(sizeof(table_head));
    } catch (const error&) {  // the others look up the data themselves
      memory_.reset();
    }
  }
  boot.publish(key, with_name(mine, memory_ ? memory_->name() : segment_name{}));
  boot.fence();
  if (shares && !is_first &&
      read_table(name_in(boot.lookup(key, pe_id{boot.host()})), static_cast<std::size_t>(boot.size())))
    return;
  try {
    look_up(boot, key);
  } catch (const error&) {
    write_table();
    throw;
  }
  write_table();
}

void published::look_up(const bootstrap& boot, const std::string& key) {
  const auto count = static_cast<std::size_t>(boot.size());
  std::vector<std::byte> table(count * sizeof(std::uint64_t));
  for (std::size_t process = 0; process < count; ++process) {
    const auto found = boot.lookup(key, pe_id{static_cast<int>(process)});
    table.insert(table.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(bytes_without_name(found)));
    const std::uint64_t end = table.size();
    std::memcpy(table.data() + process * sizeof end, &end, sizeof end);
  }
  own_ = std::move(table);
  find_data(own_, count);
}

// Wakes the other processes of the host in any case: they look up the data themselves if the table is not complete.
void published::write_table() noexcept {
  if (!memory_) return;
  auto& state = head_of(head_).state;
  std::uint32_t result = is_given_up;
  if (!own_.empty()) {
    try {
      table_ = memory_->map_own(sizeof(table_head) + own_.size());
      std::memcpy(table_.data() + sizeof(table_head), own_.data(), own_.size());
      head_of(table_).bytes = own_.size();
      find_data(std::span(table_.data(), table_.size()).subspan(sizeof(table_head)), data_.size());
      own_ = {};
      result = is_complete;
    } catch (const error&) {
    }
  }
  state.store(result, std::memory_order_release);
  futex_wake(state, INT_MAX, futex_users::several_processes);
}

bool published::read_table(const segment_name& where, std::size_t processes) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  if (where.pid == 0) return false;
  try {
    const descriptor memory = open_peer(where, sizeof(table_head));
    head_ = mapping(memory.get(), sizeof(table_head));
    const table_head& head = head_of(head_);
    if (head.nonce != where.nonce) return false;
    while (head.state.load(std::memory_order_acquire) == is_written) {
      futex_wait(head.state, is_written, second_ns, futex_users::several_processes);
      if (kill(where.pid, 0) != 0 && errno == ESRCH) return false;
    }
    if (head.state.load(std::memory_order_acquire) != is_complete) return false;
    table_ = mapping(memory.get(), sizeof(table_head) + head.bytes);
    find_data(std::span<const std::byte>(table_.data(), table_.size()).subspan(sizeof(table_head)), processes);
    return true;
  } catch (const error&) {  // another PID namespace, or the other process has ended its use
    return false;
  }
}

void published::find_data(std::span<const std::byte> table, std::size_t processes) {
  std::size_t begin = processes * sizeof(std::uint64_t);
  data_.clear();
  data_.reserve(processes);
  for (std::size_t process = 0; process < processes; ++process) {
    std::uint64_t end = 0;
    std::memcpy(&end, table.data() + process * sizeof end, sizeof end);
    data_.push_back(table.subspan(begin, static_cast<std::size_t>(end) - begin));
    begin = static_cast<std::size_t>(end);
  }
}

}  // namespace lull::job
