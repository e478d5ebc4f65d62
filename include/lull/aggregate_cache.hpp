// Words of a table that is spread over all PEs, read from anywhere, in the order asked.
//
//     lull::table_reader words{table, words_per_pe};       // table: a symmetric const T*
//     words.into(values);                                  // a std::span: the k-th get fills values[k]
//     for (std::uint64_t i : indices) words.get(i % words_per_pe, static_cast<int>(i / words_per_pe));
//     words.done();
//
// Contract. Made and destroyed, and done() called, by all PEs together, as lull::gatherer. The values are there when
// done() has returned. A get gives what the word was at some moment between the call and the end of done(), and after
// shmem_barrier_all() nothing from before it. What others get in the next phase may be read as soon as done() has
// returned there: whoever changes the table does so between done() and a barrier, or between two barriers.
//
// A word of a PE of this node is loaded. For those of other nodes lines of the table are asked for, aggregated, and
// kept in a cache of LULL_AGGREGATE_CACHE bytes, so that the same word, or one beside it, is answered at once; a line
// is asked for once, and gets that come before it has arrived wait for it together. What is kept is forgotten at
// done() and when this PE enters a collective call of all PEs (SHMEM_TEAM_WORLD), such as shmem_barrier_all() and
// shmem_sync_all().
//
// Threads. Made with aggregate_options::getters, in a program begun with SHMEM_THREAD_MULTIPLE: each thread gets through
// a getter(first) of its own, whose k-th get fills values[first + k]. All threads of the PE share the cache, which they
// enter one at a time for words of other nodes. While getters exist, nothing but getter(), advance() and statistics()
// of the reader may be called; all are destroyed before done(), which one thread calls.
//
// A line costs more bytes than a word. So the cache counts, over 2048 gets at a time, how many it had to ask for, or
// would have had to. With misses of the share m, lines cost m · (line + c) bytes for each get and words cost word + c,
// c being what travels beside either. When lines cost more than 5/4 of what words do, words are asked for; when they
// would cost less than 4/5, lines again.
#pragma once
#include <shmemx.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "lull/aggregate.hpp"

namespace lull {
namespace detail {

constexpr int smallest_line = 8, largest_line = 1024;  // bytes

struct cache_sizes {
  std::size_t bytes, line;
};
LULL_API cache_sizes cache_sizes_of(const aggregate_options& options);  // std::invalid_argument
LULL_API const std::uint64_t* meetings_of_all();  // how many collective calls of all PEs this one has entered

// A direct-mapped cache: which lines are here, and who waits for one that is under way.
//
// States of an entry: empty → asked → here, which lasts as long as its epoch; or noted: while words are asked for, the
// line that would be here. An entry that is asked for stays so until its line has come; until then the room of the line
// holds the first waiters that wait for it, and further ones are taken from a common store.
class line_cache {
 public:
  enum class outcome : std::uint8_t {
    here,      // at `line`
    waits,     // fill() delivers it
    ask_line,  // likewise, when the caller has asked for the line
    ask_word   // not the cache's affair
  };
  struct found {
    outcome what;
    std::uint32_t entry;
    const std::byte* line;
  };

  // `break_even`: the share of misses at which lines and words cost the same.
  line_cache(std::size_t bytes, std::size_t line_bytes, double break_even)
      : line_bytes_(line_bytes), break_even_(break_even) {
    const std::size_t entries = std::min<std::size_t>(bytes / bytes_of_line(line_bytes), most_entries);
    entries_.resize(entries);
    lines_.resize(entries * line_bytes);
    waiters_.resize(entries * waiters_of_line);
    for (std::uint32_t i = 0; i < waiters_.size(); ++i) waiters_[i].next = i + 1 < waiters_.size() ? i + 1 : none;
    if (waiters_.empty()) free_ = none;
  }

  // What a line takes with its book-keeping.
  static constexpr std::size_t bytes_of_line(std::size_t line_bytes) {
    return line_bytes + sizeof(entry) + waiters_of_line * sizeof(waiter);
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t bytes() const { return entries_.size() * bytes_of_line(line_bytes_); }
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  [[nodiscard]] std::uint64_t misses() const { return misses_; }
  [[nodiscard]] bool asks_for_lines() const { return asks_for_lines_; }

  // For `where`, which wants word `word` of `line`. What was asked for in an earlier epoch is no longer true.
  found look_up(std::uint64_t line, std::uint64_t epoch, std::uint32_t where, std::uint32_t word) {
    const auto number = static_cast<std::uint32_t>(((line * spread) >> 32U) * entries_.size() >> 32U);
    entry& at = entries_[number];
    const bool same = at.line == line && at.epoch == epoch && at.now != state::empty;
    judge(same);
    if (same && at.now == state::here) {
      ++hits_;
      return {outcome::here, number, lines_.data() + number * line_bytes_};
    }
    if (same && at.now == state::asked && wait_at(number, where, word)) {
      ++hits_;
      return {outcome::waits, number, nullptr};
    }
    ++misses_;
    if (at.now == state::asked) return {outcome::ask_word, number, nullptr};
    at.line = line;
    at.epoch = epoch;
    if (!asks_for_lines_ || !wait_at(number, where, word)) {
      at.now = state::noted;
      return {outcome::ask_word, number, nullptr};
    }
    at.now = state::asked;
    return {outcome::ask_line, number, nullptr};
  }

  // The line of an entry has come: deliver(where, word) for all that wait.
  template <class Deliver>
  void fill(std::uint32_t number, std::span<const std::byte> given, Deliver&& deliver) {
    entry& at = entries_[number];
    std::byte* const line = lines_.data() + number * line_bytes_;
    for (std::size_t i = 0; i < at.seats; ++i) {
      const auto one = read<seat>(line + i * sizeof(seat));
      deliver(one.where, one.word);
    }
    at.seats = 0;
    std::memcpy(line, given.data(), given.size());
    at.now = state::here;
    while (at.waiting != none) {
      waiter& one = waiters_[at.waiting];
      deliver(one.where, one.word);
      at.waiting = std::exchange(one.next, std::exchange(free_, at.waiting));
    }
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::size_t waiters_of_line = 2;  // in the common store; who finds none asks for a word
  static constexpr std::size_t most_entries = std::size_t{1} << 30U;
  static constexpr std::uint64_t spread = 0x9E3779B97F4A7C15ULL;
  static constexpr unsigned window = 2048;  // gets
  static constexpr double hysteresis = 1.25;

  enum class state : std::uint8_t { empty, noted, asked, here };
  struct entry {
    std::uint64_t line = 0, epoch = 0;
    std::uint32_t waiting = none;  // in the common store: the last that came
    std::uint16_t seats = 0;       // taken
    state now = state::empty;
  };
  struct seat {
    std::uint32_t where, word;
  };
  struct waiter {
    std::uint32_t where, word, next;
  };

  bool wait_at(std::uint32_t number, std::uint32_t where, std::uint32_t word) {
    entry& at = entries_[number];
    if ((at.seats + 1) * sizeof(seat) <= line_bytes_) {
      write(lines_.data() + number * line_bytes_ + at.seats++ * sizeof(seat), seat{where, word});
      return true;
    }
    if (free_ == none) return false;
    const std::uint32_t taken = free_;
    free_ = waiters_[taken].next;
    waiters_[taken] = {where, word, std::exchange(at.waiting, taken)};
    return true;
  }

  void judge(bool would_hit) {
    if (!would_hit) ++missed_;
    if (++seen_ != window) return;
    const double share = static_cast<double>(missed_) / window;
    asks_for_lines_ = asks_for_lines_ ? share <= break_even_ * hysteresis : share < break_even_ / hysteresis;
    seen_ = missed_ = 0;
  }

  std::size_t line_bytes_;
  double break_even_;
  std::vector<entry> entries_;
  std::vector<std::byte> lines_;  // by entry
  std::vector<waiter> waiters_;
  std::uint32_t free_ = 0;
  bool asks_for_lines_ = true;
  unsigned seen_ = 0, missed_ = 0;  // of the window
  std::uint64_t hits_ = 0, misses_ = 0;
};

// What a request asks for: words of the table, at most largest_line, from one on.
struct words_asked {
  static constexpr unsigned shift = 48;
  std::uint64_t bits;
  static words_asked from(std::uint64_t first, std::uint64_t count) { return {count << shift | first}; }
  [[nodiscard]] std::uint64_t first() const { return bits & ((std::uint64_t{1} << shift) - 1); }
  [[nodiscard]] std::uint64_t count() const { return bits >> shift; }
};

struct words_of_table {
  const std::byte* table;
  std::size_t word_bytes;
  std::vector<std::byte> copy;  // of a line

  std::span<const std::byte> operator()(const words_asked& asked) const {
    return {table + asked.first() * word_bytes, asked.count() * word_bytes};
  }
  std::span<const std::byte> direct(const words_asked& asked, int pe) {
    shmem_getmem(copy.data(), table + asked.first() * word_bytes, asked.count() * word_bytes, pe);
    return {copy.data(), asked.count() * word_bytes};
  }
};

}  // namespace detail

template <class T>
class table_getter;

template <class T>
class table_reader {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 64, "words travel as bytes, and are small");

 public:
  // `table` has `words` words on every PE.
  table_reader(const T* table, std::uint64_t words, const aggregate_options& options = {})
      : words_(words), shared_(options.getters) {
    if (words != 0 && !shmem_ptr(table, shmem_my_pe()))
      throw std::invalid_argument("a table outside symmetric memory; shmem_malloc() gives such");
    mapped_.resize(static_cast<std::size_t>(shmem_n_pes()));
    for (std::size_t pe = 0; pe < mapped_.size() && words != 0; ++pe)
      mapped_[pe] = static_cast<const T*>(shmem_ptr(table, static_cast<int>(pe)));
    const detail::cache_sizes wanted = detail::cache_sizes_of(options);
    if (shmemx_n_nodes() == 1) return;  // all is loaded
    const auto* const bytes = reinterpret_cast<const std::byte*>(table);
    const std::size_t line = std::max(wanted.line, sizeof(T));
    link_.emplace(detail::words_of_table{bytes, sizeof(T), std::vector<std::byte>(line)}, arrival{this}, options, line);
    // A power of two, so that a shift finds the line of a word.
    const std::size_t most = std::min(line, link_->largest_answer()) / sizeof(T);
    line_shift_ = static_cast<unsigned>(std::bit_width(most)) - 1;
    lines_ = ((words_ - 1) >> line_shift_) + 1;
    const auto beside = link_->bytes_beside_answer();
    const std::size_t line_bytes = sizeof(T) << line_shift_;
    cache_ = detail::line_cache(wanted.bytes, line_bytes,
                                static_cast<double>(sizeof(T) + beside) / static_cast<double>(line_bytes + beside));
  }
  table_reader(const table_reader&) = delete;
  table_reader& operator=(const table_reader&) = delete;

  // Where the values of this phase go, at most 2^31; they are there when done() has returned.
  void into(std::span<T> values) {
    asked_before_ += asked_;
    into_ = values.data();
    asked_ = 0;
  }
  // Asks for word `index` of `pe`, 0 ≤ index < words; the k-th call since into() fills the k-th value.
  void get(std::uint64_t index, int pe) {
    if (const T* const table = mapped_[static_cast<std::size_t>(pe)])
      into_[asked_++] = table[index];
    else
      get_from_other_node(index, pe, asked_++);
  }
  // For a thread of this PE; needs options.getters.
  [[nodiscard]] table_getter<T> getter(std::size_t first) { return table_getter<T>(*this, first); }
  void advance() {
    if (link_) link_->advance();
  }
  // Returns when every value of this PE is there, and all PEs have come here.
  void done() {
    if (link_)
      link_->done();
    else
      shmem_sync_all();
    ++phases_;
  }

  // Items are gets, of which those that were loaded count as direct ones.
  [[nodiscard]] aggregate_statistics statistics() const {
    aggregate_statistics now;
    if (link_) now = link_->statistics();
    const std::lock_guard hold(sharing_);
    const std::uint64_t asked = now.items;
    now.items = asked_before_ + asked_;
    now.direct_items += now.items - inter_node_gets_;
    now.phases = phases_;
    now.cache_hits = cache_.hits();
    now.cache_misses = cache_.misses();
    now.memory_bytes += cache_.bytes();
    now.cpu_ns_per_item *= now.items == 0 ? 0 : static_cast<double>(asked) / static_cast<double>(now.items);
    return now;
  }

 private:
  friend class table_getter<T>;
  static constexpr std::uint32_t is_line = std::uint32_t{1} << 31U;  // in a request's `where`: the rest is an entry

  struct arrival {
    table_reader* reader;
    void operator()(std::uint32_t where, std::span<const std::byte> given) const {
      table_reader& r = *reader;
      if ((where & is_line) == 0) {
        r.store(where, given.data());
        return;
      }
      std::unique_lock hold(r.sharing_, std::defer_lock);
      if (r.shared_) hold.lock();
      r.cache_.fill(where & ~is_line, given,
                    [&](std::uint32_t where, std::uint32_t word) { r.store(where, given.data() + word * sizeof(T)); });
    }
  };

  void store(std::uint32_t where, const std::byte* word) {
    std::memcpy(static_cast<void*>(into_ + where), word, sizeof(T));
  }

  void get_from_other_node(std::uint64_t index, int pe, std::uint32_t where) {
    ++inter_node_gets_;
    look_up(index, pe, where,
            [&](const detail::words_asked& asked, std::uint32_t place) { link_->get(asked, pe, place); });
  }
  // ask(words, where) for what the cache has not.
  template <class Ask>
  void look_up(std::uint64_t index, int pe, std::uint32_t where, Ask&& ask) {
    if (!cache_.empty()) {
      const std::uint64_t line = index >> line_shift_, first = line << line_shift_;
      const auto word = static_cast<std::uint32_t>(index - first);
      // Both only grow, so the sum changes whenever one of them does.
      const std::uint64_t epoch = *meetings_ + phases_;
      const std::uint64_t number = static_cast<std::uint64_t>(pe) * lines_ + line;
      std::unique_lock hold(sharing_, std::defer_lock);
      if (shared_) hold.lock();
      const auto found = cache_.look_up(number, epoch, where, word);
      switch (found.what) {
        case detail::line_cache::outcome::here:
          store(where, found.line + word * sizeof(T));
          return;
        case detail::line_cache::outcome::waits:
          return;
        case detail::line_cache::outcome::ask_line: {
          if (shared_) hold.unlock();  // asking may wait, and what comes meanwhile goes into the cache
          const std::uint64_t count = std::min(std::uint64_t{1} << line_shift_, words_ - first);
          return ask(detail::words_asked::from(first, count), found.entry | is_line);
        }
        case detail::line_cache::outcome::ask_word:
          break;
      }
    }
    ask(detail::words_asked::from(index, 1), where);
  }

  std::uint64_t words_, lines_ = 0;  // of a PE
  unsigned line_shift_ = 0;          // log2 of the words of a line
  std::vector<const T*> mapped_;     // by PE; null: on another node
  T* into_ = nullptr;
  std::uint32_t asked_ = 0;
  std::uint64_t asked_before_ = 0, inter_node_gets_ = 0, phases_ = 0;
  const std::uint64_t* meetings_ = detail::meetings_of_all();
  bool shared_ = false;         // by threads with getters
  mutable std::mutex sharing_;  // of the cache and what is counted
  detail::line_cache cache_{0, 0, 1};
  std::optional<detail::exchange<detail::words_asked, detail::words_of_table, arrival>> link_;
};

// What one thread of a PE gets through: used and destroyed by the thread that made it.
template <class T>
class table_getter {
 public:
  table_getter(const table_getter&) = delete;
  table_getter& operator=(const table_getter&) = delete;
  ~table_getter() {
    const std::lock_guard hold(reader_.sharing_);
    reader_.asked_before_ += asked_;
    reader_.inter_node_gets_ += inter_node_gets_;
  }

  void get(std::uint64_t index, int pe) {
    const std::uint32_t where = where_++;
    ++asked_;
    if (const T* const table = reader_.mapped_[static_cast<std::size_t>(pe)]) {
      reader_.into_[where] = table[index];
      return;
    }
    ++inter_node_gets_;
    reader_.look_up(index, pe, where,
                    [&](const detail::words_asked& asked, std::uint32_t place) { requests_->push(asked, place, pe); });
  }
  void into(std::size_t first) { where_ = static_cast<std::uint32_t>(first); }  // the next fills values[first]
  void advance() {
    if (requests_) requests_->advance();
  }

 private:
  friend class table_reader<T>;
  table_getter(table_reader<T>& reader, std::size_t first)
      : reader_(reader), where_(static_cast<std::uint32_t>(first)) {
    if (!reader.shared_)
      throw std::logic_error("lull::table_reader::getter(): make the reader with aggregate_options::getters");
    if (reader.link_) requests_.emplace(reader.link_->for_threads());
  }

  table_reader<T>& reader_;
  std::uint32_t where_;
  std::uint64_t asked_ = 0, inter_node_gets_ = 0;
  std::optional<detail::thread_requests<detail::words_asked>> requests_;
};

}  // namespace lull
