#include "fabric/world.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/page.hpp"
#include "base/settings.hpp"
#include "base/topology.hpp"
#include "fabric/crashes.hpp"
#include "fabric/team.hpp"
#include "fabric/team_slots.hpp"

namespace lull::fabric {
namespace {

constexpr const char* key = "lull.pe";

// What a PE tells all others. The set of its cores follows, and its contact (remote.hpp), if it has one.
struct introduction {
  segment_name heap;
  std::uint64_t heap_bytes;
  std::uint64_t static_bytes, static_identity;
  place where;
  std::uint32_t core_words;
};

// The numbers of cores, one bit each.
using core_set = std::vector<std::uint64_t>;
core_set set_of(std::span<const int> cores) {
  core_set found;
  for (const int core : cores) {
    const auto word = static_cast<std::size_t>(core) / 64;
    if (word >= found.size()) found.resize(word + 1);
    found[word] |= std::uint64_t{1} << (static_cast<unsigned>(core) % 64);
  }
  return found;
}

constexpr std::size_t greatest_alignment = std::size_t{1} << 30U;  // of an allocation; address space, not memory

place place_of(const bootstrap& boot) {
  const auto& here = boot.host_ranks();
  const auto count = static_cast<int>(here.size());
  const auto blocks = static_cast<int>(setting_integer("LULL_NODES"));
  if (blocks > count)
    throw usage_error("split the PEs of this host into " + counted(blocks, "emulated node") + " (LULL_NODES)",
                      "there " + std::string(count == 1 ? "is" : "are") + " only " + counted(count, "PE"),
                      "ask for no more nodes than PEs");
  const auto position = std::ranges::lower_bound(here, boot.rank().index()) - here.begin();
  return {boot.host(), block_of(static_cast<int>(position), count, blocks)};
}

}  // namespace

world::world()
    : checks_(setting_integer("LULL_CHECK") != 0),
      header_bytes_(round_up(sizeof(pe_header), page_size())),
      static_(setting_text("LULL_STATIC_DATA") == "symmetric" ? find_static_data() : static_range{}),
      peers_(static_cast<std::size_t>(boot_.size())),
      memory_of_(static_cast<std::size_t>(boot_.size())),
      headers_(static_cast<std::size_t>(boot_.size())),
      allocator_(0),
      unacknowledged_limit_(static_cast<std::uint64_t>(setting_integer("LULL_UNACKNOWLEDGED"))),
      most_teams_(static_cast<int>(setting_integer("LULL_TEAMS"))) {
  leave_crashes_to_the_program();
  const std::size_t team_bytes = team::bytes_for(*this, most_teams_);
  heap_bytes_ = round_up(setting_size("SHMEM_SYMMETRIC_SIZE") + team_bytes + 64, page_size());
  symmetric_bytes_ = heap_bytes_ + static_.bytes;
  own_ = segment_.map_own(header_bytes_ + symmetric_bytes_, header_bytes_, greatest_alignment);
  heap_base_ = own_.data() + header_bytes_;
  allocator_ = heap(heap_bytes_);
  reinterpret_cast<pe_header*>(own_.data())->accumulating.open();
  team_blocks_ = static_cast<std::byte*>(allocate(team_bytes));
  if (static_.bytes != 0) move_static_data(static_, segment_.name().fd, header_bytes_ + heap_bytes_);
  if (boot_.spans_hosts() || setting_integer("LULL_NODES") > 1) start_remote();
  exchange_and_map();
  const auto mine = static_cast<std::size_t>(me().index());
  if (remote_) agent_ = std::make_unique<agent>(*remote_, oversubscribed_);
  serving_.store(agent_.get(), std::memory_order_release);
  const bool alone = layout_->members(layout_->my_node()).size() == 1;
  waiting_ = std::make_unique<waiting>(
      headers_[mine]->bell, agent_.get(),
      wait_surroundings{.oversubscribed = oversubscribed_, .alone = alone, .speaks = me().index() == 0});
  count_calls(true);
  std::vector<pe_id> all;
  all.reserve(static_cast<std::size_t>(pes()));
  for (int pe = 0; pe < pes(); ++pe) all.emplace_back(pe);
  const auto near = layout_->members(layout_->my_node());
  everybody_ = std::make_unique<team>(*this, 0, std::move(all), me());
  neighbours_ = std::make_unique<team>(*this, 1, std::vector(near.begin(), near.end()), me());
  slots_ = std::make_unique<team_slots>(most_teams_);
  boot_.fence();  // everybody has mapped everybody: the descriptors have done their duty
  segment_.close();
}

world::~world() = default;

void world::start_remote() {
  // UCX would use shared memory between emulated nodes too, where it loses wake-ups and where no wire is emulated.
  if (setting_integer("LULL_NODES") > 1) setenv("UCX_TLS", "tcp,self", 0);  // NOLINT(concurrency-mt-unsafe)
  // Larger pieces than UCX's 8 KiB save most of the system calls of a large message.
  setenv("UCX_TCP_TX_SEG_SIZE", "64k", 0);  // NOLINT(concurrency-mt-unsafe)
  setenv("UCX_TCP_RX_SEG_SIZE", "64k", 0);  // NOLINT(concurrency-mt-unsafe)
  auto* const header = reinterpret_cast<pe_header*>(own_.data());
  remote_ = std::make_unique<remote>(me(), pes(), std::span(heap_base_, symmetric_bytes_), header->accumulating,
                                     remote_settings{.combine_bytes = setting_size("LULL_COMBINE"),
                                                     .combine_ns = setting_integer("LULL_COMBINE_US") * 1000,
                                                     .one_host = !boot_.spans_hosts()},
                                     remote_hooks{.memory_changed =
                                                      [this, bell = &header->bell] {
                                                        bell->ring_for_store();
                                                        wake_sleeper();
                                                      },
                                                  .node_memory_changed =
                                                      [this] {
                                                        ring_node();
                                                        wake_sleeper();
                                                      }});
}

void world::exchange_and_map() {
  const core_set my_cores = set_of(allowed_cores());
  const introduction mine{segment_.name(),  heap_bytes_,     static_.bytes,
                          static_.identity, place_of(boot_), static_cast<std::uint32_t>(my_cores.size())};
  std::vector<std::byte> blob(sizeof mine + my_cores.size() * sizeof my_cores[0]);
  std::memcpy(blob.data(), &mine, sizeof mine);
  std::memcpy(blob.data() + sizeof mine, my_cores.data(), blob.size() - sizeof mine);
  if (remote_) {
    const auto contact = remote_->contact();
    blob.insert(blob.end(), contact.begin(), contact.end());
  }
  boot_.publish(key, blob);
  boot_.fence();

  std::vector<introduction> all(static_cast<std::size_t>(pes()));
  std::vector<place> places;
  bool one_program = true;
  core_set cores_here;
  int pes_here = 0;
  for (int pe = 0; pe < pes(); ++pe) {
    const auto theirs = pes() == 1 ? blob : boot_.lookup(key, pe_id{pe});
    auto& other = all[static_cast<std::size_t>(pe)];
    std::memcpy(&other, theirs.data(), sizeof other);
    if (other.heap_bytes != heap_bytes_)
      throw error("make the symmetric heap",
                  "PE " + std::to_string(pe) + " has " + std::to_string(other.heap_bytes) + " bytes, this PE " +
                      std::to_string(heap_bytes_),
                  "give SHMEM_SYMMETRIC_SIZE the same value everywhere");
    if (other.static_bytes != static_.bytes || other.static_identity != static_.identity) one_program = false;
    places.push_back(other.where);
    core_set cores(other.core_words);
    const std::size_t cores_end = sizeof other + cores.size() * sizeof cores[0];
    std::memcpy(cores.data(), theirs.data() + sizeof other, cores_end - sizeof other);
    if (other.where.host == mine.where.host) {
      ++pes_here;
      cores_here.resize(std::max(cores_here.size(), cores.size()));
      for (std::size_t word = 0; word < cores.size(); ++word) cores_here[word] |= cores[word];
    }
    if (remote_) remote_->meet(pe_id{pe}, std::span(theirs).subspan(cores_end));
  }
  layout_.emplace(places, me());
  if (!one_program) {  // the PEs run different programs: their variables have nothing to do with each other
    static_ = {};
    symmetric_bytes_ = heap_bytes_;
    own_.shrink(header_bytes_ + symmetric_bytes_);
  }

  for (std::size_t i = 0; i < all.size(); ++i) {
    const pe_id pe{static_cast<int>(i)};
    if (pe != me() && layout_->shares_memory(pe)) peers_[i] = map_peer(all[i].heap, header_bytes_ + symmetric_bytes_);
    std::byte* const start = pe == me() ? own_.data() : peers_[i].data();
    headers_[i] = reinterpret_cast<pe_header*>(start);
    memory_of_[i] = start ? start + header_bytes_ : nullptr;
  }
  cores_of_host_ = 0;
  for (const std::uint64_t word : cores_here) cores_of_host_ += std::popcount(word);
  oversubscribed_ = pes_here > cores_of_host_;
}

void world::finalize() {
  if (remote_) {
    remote_->flush();
    wait().until({operation::quiet}, [&] { return remote_->quiet(); });
  }
  everybody_->sync();
  boot_.fence();
  if (remote_) {
    serving_.store(nullptr, std::memory_order_release);
    agent_.reset();
    boot_.fence();  // nobody serves any more, so nobody is disturbed by a connection that ends
    remote_->disconnect();
    boot_.fence();
  }
}

std::vector<std::vector<std::byte>> world::tell_first_pe(const std::string& key, std::span<const std::byte> mine) {
  if (pes() == 1) return {{mine.begin(), mine.end()}};
  boot_.publish(key, mine);
  boot_.fence();
  std::vector<std::vector<std::byte>> all;
  if (me().index() == 0)
    for (int pe = 0; pe < pes(); ++pe) all.push_back(boot_.lookup(key, pe_id{pe}));
  return all;
}

void* world::allocate(std::size_t bytes, std::size_t alignment) {
  // Offsets are aligned alike on all PEs, addresses as far as the heap is.
  if (alignment > greatest_alignment) return nullptr;
  const auto offset = allocator_.allocate(bytes, alignment);
  return offset ? heap_base_ + *offset : nullptr;
}

bool world::release(void* symmetric) { return allocator_.release(offset_of(symmetric)); }

std::optional<std::size_t> world::size_of(const void* symmetric) const {
  return allocator_.size_of(offset_of(symmetric));
}

// A program that fetches a word of its own again and again waits for a message. The agent would have to get the core
// from it first, so it drives the transfers itself now and then, as one that tests does.
void world::polled_own_memory() {
  constexpr unsigned fetches_per_round = 8;
  thread_local unsigned fetches = 0;
  if (++fetches % fetches_per_round == 0) drive();
}

void world::wait_for_room(const context& c, pe_id pe) {
  wait().until({operation::put, 0, pe.index(), c.policy, true},
               [&] { return remote_->unacknowledged(pe) < unacknowledged_limit_; });
}

void world::put_remote(context& c, void* target, const void* source, std::size_t bytes, pe_id pe,
                       const signal_update* signal, bool blocking) {
  wait_for_room(c, pe);
  unconfirmed_.add(bytes, pe);
  if (!blocking) return remote_->put(c.book_, pe, offset_of(target), source, bytes, signal, nullptr);
  std::atomic<bool> sent{false};
  remote_->put(c.book_, pe, offset_of(target), source, bytes, signal, &sent);
  wait().until({operation::put, bytes, pe.index(), c.policy, true},
               [&] { return sent.load(std::memory_order_acquire); });
}

void world::put_signal(context& c, void* target, const void* source, std::size_t bytes, const signal& then, pe_id pe,
                       bool blocking) {
  if (void* const there = direct(target, pe)) {
    copy_bytes(there, source, bytes);
    apply_update({then.how, 8, 0, then.value, 0}, direct(then.word, pe));
    if (then.whole_node)
      ring_node();
    else
      bell_of(pe).ring_for_store_after_atomic();
    return;
  }
  const signal_update wanted{offset_of(then.word), then.value, then.how, then.whole_node};
  put_remote(c, target, source, bytes, pe, &wanted, blocking);
}

void world::get_remote(context& c, void* destination, const void* source, std::size_t bytes, pe_id pe) {
  reply answer{.destination = destination, .bytes = bytes};
  remote_->get(pe, offset_of(source), answer);
  wait().until({operation::get, bytes, pe.index(), c.policy, true},
               [&] { return answer.done.load(std::memory_order_acquire); });
}

void world::change_remote(context& c, void* target, update u, pe_id pe) {
  wait_for_room(c, pe);
  u.offset = offset_of(target);
  remote_->change(c.book_, pe, u);
}

std::uint64_t world::fetch_remote(context& c, void* target, update u, pe_id pe) {
  std::uint64_t old = 0;
  reply answer{.destination = &old, .bytes = u.width};
  u.offset = offset_of(target);
  remote_->fetch(pe, u, answer);
  wait().until({operation::atomic, u.width, pe.index(), c.policy, true},
               [&] { return answer.done.load(std::memory_order_acquire); });
  return old;
}

void world::fetch_nbi(context& c, void* old_value, void* target, update u, pe_id pe) {
  if (direct(target, pe)) {
    const std::uint64_t old = fetch(c, target, u, pe);
    std::memcpy(old_value, &old, u.width);  // the low bytes come first on the machines Lull runs on
    return;
  }
  u.offset = offset_of(target);
  remote_->fetch_nbi(c.book_, pe, u, old_value);
}

void world::fence(context& c) {
  std::atomic_thread_fence(std::memory_order_release);
  // Messages to one PE are applied in order, but a large one may be overtaken.
  if (remote_ && remote_->must_settle_to_order(c.book_)) quiet(c);
}

void world::quiet(context& c) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (c.book_.settled()) return;
  std::vector<remote::receipt> waiting;
  remote_->due(c.book_, waiting);
  const auto [bytes, peer] = unconfirmed_.take();
  wait().until({operation::quiet, bytes, peer, c.policy, true}, [&] { return remote_->arrived(c.book_, waiting); });
  remote_->settle(c.book_);
}

void world::ring_node() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const pe_id pe : layout_->members(layout_->my_node())) bell_of(pe).ring_after_atomic();
}

}  // namespace lull::fabric
