#include "stage/shared/directory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/futex.hpp"
#include "base/pages.hpp"
#include "stage/link/node_memory.hpp"

namespace lull::stage {
namespace {

constexpr std::size_t smallest_arena = std::size_t{64} << 10U;

using kind = file_entry::kind;

int position_in(const std::vector<int>& ranks, int rank) {
  return static_cast<int>(std::ranges::lower_bound(ranks, rank) - ranks.begin());
}

std::string name_of_machine() {
  std::string name;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> name;
  return name;
}

// Collective. Nodes are numbered by their first servers; those without a server follow.
place_of_node place_among(const std::vector<std::string>& nodes, const roles& all, exchange& others) {
  std::vector<std::string> known;
  for (const bool with_server : {true, false})
    for (int rank = 0; rank < all.processes(); ++rank) {
      const std::string& node = nodes[static_cast<std::size_t>(rank)];
      if (all.is_server(rank) == with_server && std::ranges::find(known, node) == known.end()) known.push_back(node);
    }
  std::set<std::string> served;
  for (int rank = 0; rank < all.processes(); ++rank)
    if (all.is_server(rank)) served.insert(nodes[static_cast<std::size_t>(rank)]);
  const std::string machine = name_of_machine();
  const auto machines = others.all(std::as_bytes(std::span(machine)));
  return {.node = static_cast<int>(std::ranges::find(known, others.node()) - known.begin()),
          .nodes = static_cast<int>(served.size()),
          .all_are_served = served.size() == known.size(),
          .one_machine = !machine.empty() && std::ranges::all_of(machines, [&](const auto& one) {
            return std::ranges::equal(one, std::as_bytes(std::span(machine)));
          })};
}

}  // namespace

std::size_t directory::offset_of_arenas() { return round_up(sizeof(shared), page_size()); }

descriptor directory::new_pages(std::size_t processes, std::size_t arena_bytes) {
  descriptor made(memfd_create("lull-stage-shared", MFD_CLOEXEC));
  int failed = made ? allocate_pages(made.get(), offset_of_arenas()) : errno;
  const std::size_t bytes = offset_of_arenas() + processes * arena_bytes;
  if (failed == 0 && ftruncate(made.get(), static_cast<off_t>(bytes)) != 0) failed = errno;
  if (failed != 0) throw error("share files that several processes write", describe_errno(failed));
  const job::mapping mapped(made.get(), offset_of_arenas());
  auto* const table = std::construct_at(reinterpret_cast<shared*>(mapped.data()));
  table->lock.open();
  table->linking.open();
  for (job::shared_lock& one : table->writing) one.open();
  return made;
}

std::shared_ptr<directory> directory::of_node(std::size_t buffer_bytes, const roles& all, exchange& others) {
  const std::vector<std::string> nodes = nodes_by_rank(others);
  const place_of_node among = place_among(nodes, all, others);
  std::size_t clients = 1;  // most of one server
  for (int rank = 0; rank < all.processes(); ++rank)
    if (all.is_server(rank)) clients = std::max(clients, all.clients_of(rank).size());
  const std::size_t arena = std::max(round_down(buffer_bytes / clients, page_size()), smallest_arena);
  node_memory shared = share_with_node(others, [&](std::size_t processes) {
    if (processes > most_processes) throw error("share files that several processes write", "they are too many");
    return new_pages(processes, arena);
  });
  const int server = all.server_of(others.rank());
  std::shared_ptr<directory> made;
  std::string problem = shared.problem;
  if (shared.pages) try {
      made = std::make_shared<directory>(std::move(shared.pages), shared.ranks.size(), arena,
                                         position_in(shared.ranks, others.rank()),
                                         server == no_server ? no_server : position_in(shared.ranks, server), among);
    } catch (const error&) {
      problem = error("share files that several processes write",
                      "this process cannot map " + std::to_string(shared.ranks.size() * arena) +
                          " bytes, the buffers of all processes of the node",
                      "lower LULL_STAGE_BUFFER or raise the limit of its memory (ulimit -v)")
                    .what();
    }
  return all_could(others, problem, "the program writes by itself the files that several processes write") ? made
                                                                                                           : nullptr;
}

directory::directory(descriptor pages, std::size_t processes, std::size_t arena_bytes, int position, int server,
                     const place_of_node& among)
    : pages_(std::move(pages)),
      mapped_(pages_.get(), offset_of_arenas() + processes * arena_bytes),
      processes_(processes),
      arena_bytes_(arena_bytes),
      position_(position),
      server_(server),
      among_(among) {}

std::span<std::byte> directory::arena(int position) const {
  return {mapped_.data() + offset_of_arenas() + static_cast<std::size_t>(position) * arena_bytes_, arena_bytes_};
}

int directory::allocate(std::size_t bytes) const {
  const auto begin = static_cast<std::size_t>(arena(position_).data() - mapped_.data());
  return fallocate(pages_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin), static_cast<off_t>(bytes)) == 0
             ? 0
             : errno;
}

std::unique_lock<job::shared_lock> directory::lock() const {
  std::unique_lock held(table().lock);
  if (table().lock.was_abandoned()) count_again();
  return held;
}

bool directory::is_away(int server) const {
  if (!writing(server).try_lock()) return false;
  writing(server).unlock();
  return true;
}

// A process has died while it changed the table. Its entry exists if `next` has passed it.
void directory::count_again() const {
  std::uint32_t pending = 0;
  for (file_row& one : table().files) {
    one.pending = 0;
    one.first = one.last = 0;
  }
  for (std::uint64_t number = table().oldest; number < table().next; ++number) {
    if (!is_pending(number)) continue;
    file_entry& one = entry(number);
    file_row& of = row(one.file);
    one.next = 0;
    if (of.first == 0)
      of.first = number;
    else
      entry(of.last).next = number;
    of.last = number;
    ++of.pending;
    ++pending;
  }
  table().pending = pending;
}

std::optional<int> directory::find(const file_identity& which) const noexcept {
  for (std::size_t i = 0; i < most_files; ++i) {
    const file_row& one = table().files[i];
    if (one.inode == which.inode && one.device == which.device && one.pending != 0) return static_cast<int>(i);
  }
  return std::nullopt;
}

std::optional<int> directory::open(const file_identity& which, const std::string& path, std::int64_t size) {
  std::optional<int> free;
  for (int file = 0; file < static_cast<int>(most_files); ++file) {
    file_row& one = row(file);
    const bool in_use = one.opened > 0 || one.pending > 0;
    if (in_use && one.inode == which.inode && one.device == which.device) {
      ++one.opened;
      return file;
    }
    if (!in_use && !free && (one.error == 0 || one.error_is_reported)) free = file;
  }
  if (!free || path.size() >= sizeof file_row::path) return std::nullopt;
  file_row& made = row(*free);
  ++made.generation;
  made.opened = 1;
  made.is_written = made.several_nodes = false;
  made.at_home = -1;
  made.size = size;
  made.error = 0;
  made.error_is_reported = false;
  made.first = made.last = 0;
  std::memcpy(made.path, path.c_str(), path.size() + 1);
  made.device = which.device;
  made.inode = which.inode;
  return free;
}

std::uint64_t directory::add(file_entry one) {
  file_row& of = row(one.file);
  one.number = table().next;
  one.pending = true;
  one.next = 0;
  if (table().order_is_lost && !one.ordered) {
    one.ordered = one.may_begin = true;
    of.error = EIO;
  }
  if (is_home()) one.order = one.number;
  entry(one.number) = one;
  if (one.server >= 0 && one.server < static_cast<int>(most_processes)) begin_serving(one.server);
  if (one.what == kind::set_size)
    of.size = one.size;
  else if (one.what == kind::write)
    of.size = std::max(of.size, one.bytes.end);
  if (of.pending == 0)
    of.first = one.number;
  else
    entry(of.last).next = one.number;
  of.last = one.number;
  if (of.pending++ == 0 && busy_ != nullptr) ++*busy_;
  ++table().pending;
  ++table().next;  // from here on it exists
  ++table().work;
  ++table().news;
  return one.number;
}

void directory::end(const file_entry& one, int error) {
  entry(one.number).pending = false;
  file_row& of = row(one.file);
  int none = 0;
  if (error != 0) of.error.compare_exchange_strong(none, error);
  while (of.first != 0 && !is_pending(of.first)) of.first = entry(of.first).next;
  while (table().oldest < table().next && !is_pending(table().oldest)) ++table().oldest;
  --table().pending;
  if (--of.pending == 0 && busy_ != nullptr) --*busy_;
  ++table().changed;
  ++table().news;
}

const file_entry* directory::delays(const file_entry& one) const {
  for (std::uint64_t number = row(one.file).first; number != 0 && number < one.number; number = entry(number).next)
    if (delays(entry(number), one)) return &entry(number);
  return nullptr;
}

bool directory::delays(const file_entry& earlier, const file_entry& one) const {
  if (!earlier.pending || earlier.server == one.server || earlier.is_request()) return false;
  if (one.what == kind::open || one.what == kind::close) return one.what == kind::close;
  if (earlier.what == kind::open || !earlier.bytes.overlaps(one.bytes)) return false;
  const bool both_are_known = one.pieces > 0 && earlier.pieces > 0;
  return !both_are_known || overlap(pieces_of(one), pieces_of(earlier));
}

void directory::give_up_order() {
  if (std::exchange(table().order_is_lost, true)) return;
  for (std::uint64_t number = table().oldest; number < table().next; ++number) {
    if (!is_pending(number)) continue;
    file_entry& one = entry(number);
    const bool is_elsewhere = one.server >= static_cast<int>(most_processes);
    if (!one.is_request() && !is_elsewhere && one.ordered && one.may_begin) continue;
    one.ordered = one.may_begin = true;
    if (one.is_request()) answer_for(one.owner) = {-1, EIO};
    if (one.is_request() || is_elsewhere)
      end(one, EIO);
    else if (int none = 0; row(one.file).error.compare_exchange_strong(none, EIO))
      ++table().changed;
  }
  for (file_row& one : table().files)
    if (int none = 0; one.opened > 0 && (one.several_nodes || one.at_home >= 0))
      one.error.compare_exchange_strong(none, EIO);
  ++table().changed;
}

void directory::see_to_link() {
  if (among_.nodes <= 1 || !linking().try_lock()) return;
  {
    const auto hold = lock();
    give_up_order();
  }
  linking().unlock();
  wake_all_for(changed());
}

void directory::wake_all_for(const std::atomic<std::uint32_t>& what) const {
  futex_wake(what, INT_MAX, futex_users::several_processes);
  if (among_.nodes > 1) futex_wake(table().news, INT_MAX, futex_users::several_processes);
}

std::span<const piece> directory::pieces_of(const file_entry& one) const {
  return {reinterpret_cast<const piece*>(arena(one.owner).data() + one.place), one.pieces};
}

const file_entry* directory::pending_in(int file, const range& bytes, std::uint64_t before) const {
  if (row(file).pending == 0) return nullptr;
  for (std::uint64_t number = row(file).first; number != 0 && number < before; number = entry(number).next)
    if (entry(number).pending && entry(number).bytes.overlaps(bytes)) return &entry(number);
  return nullptr;
}

const file_entry* directory::pending_for(int file, std::uint64_t before) const {
  const std::uint64_t first = row(file).pending != 0 ? row(file).first : 0;  // it is pending
  return first != 0 && first < before ? &entry(first) : nullptr;
}

const file_entry* directory::last_change_of(int file, std::uint64_t before) const {
  const file_entry* last = nullptr;
  if (row(file).pending == 0) return last;
  for (std::uint64_t number = row(file).first; number != 0 && number < before; number = entry(number).next)
    if (entry(number).pending && !entry(number).is_request()) last = &entry(number);
  return last;
}

const file_entry* directory::pending_of(int owner, std::uint64_t before) const {
  for (std::uint64_t number = table().oldest; number < before; ++number)
    if (is_pending(number) && entry(number).owner == owner) return &entry(number);
  return nullptr;
}

const file_entry* directory::pending_at(int server) const {
  for (std::uint64_t number = table().oldest; number < table().next; ++number)
    if (is_pending(number) && entry(number).server == server) return &entry(number);
  return nullptr;
}

}  // namespace lull::stage
