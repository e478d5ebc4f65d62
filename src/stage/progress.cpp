#include "stage/progress.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace lull::stage {
namespace {

std::size_t bytes_for(std::size_t clients) {
  return sizeof(client_progress) * (clients + 1);  // the first place is the server's
}

void wake(client_progress& of) noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&of.ended), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

descriptor new_pages(std::size_t bytes) {
  descriptor made(memfd_create("lull-stage-progress", MFD_CLOEXEC));
  // Allocated now: where memory is short, that is an error here, and no SIGBUS later.
  const int failed = made ? posix_fallocate(made.get(), 0, static_cast<off_t>(bytes)) : errno;
  if (failed != 0) throw error("share how far output is", describe_errno(failed));
  return made;
}

}  // namespace

progress::progress(std::size_t clients) : progress(new_pages(bytes_for(clients)), clients) {}

progress::progress(descriptor pages, std::size_t clients)
    : pages_(std::move(pages)), clients_(clients), mapped_(pages_.get(), bytes_for(clients)) {}

std::atomic<std::uint32_t>& progress::busy() const { return reinterpret_cast<server_progress*>(mapped_.data())->busy; }

client_progress& progress::of(std::size_t client) const {
  return reinterpret_cast<client_progress*>(mapped_.data())[client + 1];
}

void progress::begin(std::size_t client) const noexcept {
  ++of(client).busy;
  ++busy();
}

void progress::end(std::size_t client) const noexcept {
  --of(client).busy;
  --busy();
}

void progress::end_whole(std::size_t client, std::uint32_t number, bool failed) const noexcept {
  client_progress& mine = of(client);
  if (failed) ++mine.failed;
  end(client);
  mine.ended_early[number % client_progress::most] = 1;
  for (std::uint32_t before = mine.ended; mine.ended_early[(before + 1) % client_progress::most] != 0;) {
    // Who raises it clears the place, which no other file has before this one is forgotten.
    if (mine.ended.compare_exchange_strong(before, before + 1)) mine.ended_early[++before % client_progress::most] = 0;
  }
  wake(mine);
}

bool progress::has_ended(std::size_t client, std::uint32_t number) const noexcept {
  const client_progress& mine = of(client);
  return static_cast<std::int32_t>(mine.ended - number) >= 0 || mine.ended_early[number % client_progress::most] != 0;
}

void progress::give_back(std::size_t client) const noexcept {
  ++of(client).returned;
  wake(of(client));
}

void progress::forget(std::size_t client, std::uint32_t handed_over) const noexcept {
  const std::uint32_t lost = of(client).busy - handed_over;
  of(client).busy -= lost;
  busy() -= lost;
}

void sleep_until_ended(client_progress& of, std::uint32_t seen) noexcept {
  const timespec while_before_a_look{0, 100'000'000};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&of.ended), FUTEX_WAIT, seen, &while_before_a_look, nullptr, 0);
}

}  // namespace lull::stage
