// Reads words of a table that is distributed over all PEs, through a cache for the words of other nodes.
//
//     lull::table_reader words{table, words_per_pe};       // table: a symmetric const T*
//     words.into(values);                                  // a std::span: the k-th get fills values[k]
//     for (std::uint64_t i : indices) words.get(i % words_per_pe, static_cast<int>(i / words_per_pe));
//     words.done();
//
// Contract. All PEs call the constructor, done() and the destructor together, as with lull::gatherer, whose options and
// errors apply. The caller owns table and values. The values are there when done() has returned. A get returns the word
// as it was at some moment between the call and the end of done(), and after shmem_barrier_all() nothing from before
// it. Another PE may read words for its next phase as soon as done() has returned there: change the table between
// done() and a barrier, or between two barriers.
//
// Cache. A word of a PE of this node is loaded from shared memory. For words of other nodes lines of the table are
// fetched, aggregated, and kept in a cache of LULL_AGGREGATE_CACHE bytes; gets of a line in flight wait for it
// together. The PE drops all lines at done() and when it enters a collective call of SHMEM_TEAM_WORLD, such as
// shmem_barrier_all() and shmem_sync_all().
//
// Threads. Made with aggregate_options::getters, in a program begun with SHMEM_THREAD_MULTIPLE, each thread gets
// through a getter of its own; the rules are those of <lull/pusher.hpp>. All threads of the PE share the cache, which
// one thread at a time enters for a word of another node.
//
// Cost. A line costs more bytes than a word. With a share m of misses, lines cost m · (line + c) bytes per get and
// words cost word + c, where c travels beside either. The cache counts misses over 2048 gets at a time: when lines cost
// more than 5/4 of what words would, it fetches words; when they would cost less than 4/5, lines again.
#pragma once
#include <shmemx.h>

#include <lull/aggregate_options.hpp>
#include <lull/detail/exchange.hpp>
#include <lull/detail/line_cache.hpp>
#include <lull/detail/table_words.hpp>

#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace lull {
inline namespace cpp_abi_1 {

template <class T>
class table_getter;

// T is trivially copyable and has at most 64 bytes.
template <class T>
class table_reader : detail::same_cpp_abi {
 public:
  // Collective. `table` has `words` words on every PE; std::invalid_argument if it is not in symmetric memory.
  table_reader(const T* table, std::uint64_t words, const aggregate_options& options = {});
  table_reader(const table_reader&) = delete;
  table_reader& operator=(const table_reader&) = delete;

  // Where the values of this phase go, at most 2^31. They are there when done() has returned.
  void into(std::span<T> values);

  // Reads word `index` of `pe`, 0 ≤ index < words; the k-th call since into() fills values[k].
  void get(std::uint64_t index, int pe);

  // For one of several threads of this PE; its k-th get fills values[first + k]. std::logic_error unless made with
  // aggregate_options::getters.
  [[nodiscard]] table_getter<T> getter(std::size_t first);

  // Handles what has arrived; if nothing has, sends requests that wait in buffers.
  void advance();

  // Collective: returns when every value of this PE is there.
  void done();

  // Items are gets; words of this node, which were loaded, count as direct items.
  [[nodiscard]] aggregate_statistics statistics() const;

 private:
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 64,
                "words must be trivially copyable, since they travel as bytes, and at most 64 bytes long");
  friend class table_getter<T>;
  static constexpr std::uint32_t is_line = std::uint32_t{1} << 31U;  // in a request's index: the rest is a cache entry

  struct receive {
    table_reader* reader;
    void operator()(std::uint32_t index, byte_span received) const;
  };
  void store(std::uint32_t value, const std::byte* word);
  void get_from_other_node(std::uint64_t index, int pe, std::uint32_t value);
  template <class Fetch>
  void look_up(std::uint64_t index, int pe, std::uint32_t value, Fetch&& fetch);

  std::uint64_t words_, lines_ = 0;  // of a PE
  unsigned line_shift_ = 0;          // log2 of the words of a line
  std::vector<const T*> mapped_;     // by PE; null: on another node
  T* values_ = nullptr;
  std::uint32_t gets_ = 0;  // since into()
  std::uint64_t earlier_gets_ = 0, inter_node_gets_ = 0, phases_ = 0;
  const std::uint64_t* collectives_ = detail::world_collectives();
  bool shared_ = false;       // by threads with getters
  mutable std::mutex mutex_;  // of the cache and the counts
  detail::line_cache cache_{0, 0, 1};
  std::optional<detail::exchange<detail::word_range, detail::words_of_table, receive>> exchange_;
};

// One thread's access to a table_reader.
template <class T>
class table_getter {
 public:
  table_getter(const table_getter&) = delete;
  table_getter& operator=(const table_getter&) = delete;
  ~table_getter();

  void get(std::uint64_t index, int pe);
  void into(std::size_t first);  // the next get fills values[first]
  void advance();

 private:
  friend class table_reader<T>;
  table_getter(table_reader<T>& reader, std::size_t first);

  table_reader<T>& reader_;
  std::uint32_t next_;  // index of the value that the next get fills
  std::uint64_t gets_ = 0, inter_node_gets_ = 0;
  std::optional<detail::thread_requests<detail::word_range>> requests_;
};

}  // namespace cpp_abi_1
}  // namespace lull

#include <lull/detail/table_reader.hpp>
