#include "stage/files/progress.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/futex.hpp"
#include "base/pages.hpp"
#include "stage/link/node_memory.hpp"

namespace lull::stage {
namespace {

std::size_t bytes_for(std::size_t processes) {
  return sizeof(client_progress) * (processes + 1);  // the first place is the sum
}

void wake(client_progress& of) noexcept { futex_wake(of.ended, INT_MAX, futex_users::several_processes); }

descriptor new_pages(std::size_t bytes) {
  descriptor made(memfd_create("lull-stage-progress", MFD_CLOEXEC));
  // Allocated now, so that a lack of memory is an error here and no SIGBUS later.
  const int failed = made ? allocate_pages(made.get(), bytes) : errno;
  if (failed != 0) throw error("share the progress of output", describe_errno(failed));
  return made;
}

bool lives(pid_t process) noexcept { return process == 0 || kill(process, 0) == 0 || errno != ESRCH; }

// So long it may take until a process writes by itself what its server has not.
constexpr std::int64_t lost_server_timeout_ns = 10'000'000'000;

}  // namespace

std::shared_ptr<progress> progress::of_node(exchange& others) {
  node_memory shared = share_with_node(others, [](std::size_t processes) { return new_pages(bytes_for(processes)); });
  if (!shared.pages) throw error(shared.problem);
  auto made = std::make_shared<progress>(std::move(shared.pages), std::move(shared.ranks));
  made->pages_ = {};  // mapped everywhere, or soon
  if (shared.one_pid_namespace) made->of(others.rank()).process = getpid();
  return made;
}

progress::progress(const std::vector<int>& ranks) : progress(new_pages(bytes_for(ranks.size())), ranks) {}

progress::progress(descriptor pages, std::vector<int> ranks)
    : ranks_(std::move(ranks)), pages_(std::move(pages)), mapped_(pages_.get(), bytes_for(ranks_.size())) {}

client_progress& progress::at(std::size_t place) const {
  return reinterpret_cast<client_progress*>(mapped_.data())[place];
}

std::atomic<std::uint32_t>& progress::busy() const { return at(0).busy; }

client_progress& progress::of(int rank) const {
  return at(static_cast<std::size_t>(std::ranges::lower_bound(ranks_, rank) - ranks_.begin()) + 1);
}

void progress::begin(int rank) const noexcept {
  ++of(rank).busy;
  ++at(0).busy;
}

void progress::end(int rank) const noexcept {
  --of(rank).busy;
  --at(0).busy;
}

std::uint32_t progress::hand_over(int rank, const file_identity& place) const noexcept {
  client_progress& mine = of(rank);
  const std::uint32_t number = mine.handed_over + 1;
  mine.devices[number % client_progress::most] = place.device;
  mine.inodes[number % client_progress::most] = place.inode;
  mine.handed_over = number;
  return number;
}

void progress::end_whole(int rank, std::uint32_t number, bool failed) const noexcept {
  client_progress& mine = of(rank);
  if (failed) ++mine.failed;
  end(rank);
  mine.ended_early[number % client_progress::most] = 1;
  for (std::uint32_t before = mine.ended; mine.ended_early[(before + 1) % client_progress::most] != 0;) {
    // The thread that raises `ended` clears the flag. No other file uses it before this one is forgotten.
    if (mine.ended.compare_exchange_strong(before, before + 1)) mine.ended_early[++before % client_progress::most] = 0;
  }
  wake(mine);
}

bool progress::has_ended(int rank, std::uint32_t number) const noexcept {
  const client_progress& mine = of(rank);
  return static_cast<std::int32_t>(mine.ended - number) >= 0 || mine.ended_early[number % client_progress::most] != 0;
}

void progress::give_back(int rank) const noexcept {
  ++of(rank).returned;
  wake(of(rank));
}

void progress::forget(int rank, std::uint32_t handed_over) const noexcept {
  const std::uint32_t lost = of(rank).busy - handed_over;
  of(rank).busy -= lost;
  at(0).busy -= lost;
}

void progress::serve(int rank, int server) const noexcept {
  if (std::ranges::binary_search(ranks_, server)) of(rank).server = of(server).process.load();
}

void progress::lose_server(int rank) const noexcept { of(rank).server = client_progress::lost_server; }

bool progress::wait_for(const client_progress& other, int rank, std::uint32_t number) const noexcept {
  for (const std::int64_t begin = now_ns(); !has_ended(rank, number); sleep_until_ended(other, other.ended)) {
    const pid_t server = other.server;
    const bool is_served =
        server != client_progress::lost_server && lives(server) && other.returned == other.taken_back;
    if (server <= 0 && !lives(other.process)) return false;  // a server of this node would write it all the same
    if (!is_served && now_ns() - begin > lost_server_timeout_ns) return false;
  }
  return true;
}

bool progress::wait_for_others(int rank, const file_identity* place) const noexcept {
  bool all = true;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const client_progress& other = at(i + 1);
    if (ranks_[i] == rank || other.busy == 0) continue;
    const std::uint32_t last = other.handed_over;
    for (std::uint32_t number = other.ended + 1; static_cast<std::int32_t>(last - number) >= 0; ++number) {
      const std::uint32_t at_number = number % client_progress::most;
      if (place == nullptr || (other.inodes[at_number] == place->inode && other.devices[at_number] == place->device))
        all = wait_for(other, ranks_[i], number) && all;
    }
  }
  return all;
}

bool progress::has_failures() const noexcept {
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    if (at(i + 1).failed != at(i + 1).met) return true;
  return false;
}

void sleep_until_ended(const client_progress& of, std::uint32_t seen) noexcept {
  constexpr std::int64_t look_again_after_ns = 100'000'000;
  futex_wait(of.ended, seen, look_again_after_ns, futex_users::several_processes);
}

}  // namespace lull::stage
