// Bodies of lull::table_reader and lull::table_getter.
#pragma once
#include <lull/aggregate_cache.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace lull {
inline namespace cpp_abi_1 {

template <class T>
inline table_reader<T>::table_reader(const T* table, std::uint64_t words, const aggregate_options& options)
    : words_(words), shared_(options.getters) {
  if (words != 0 && !shmem_ptr(table, shmem_my_pe()))
    throw std::invalid_argument("the table is outside symmetric memory; allocate it with shmem_malloc()");
  mapped_.resize(static_cast<std::size_t>(shmem_n_pes()));
  for (std::size_t pe = 0; pe < mapped_.size() && words != 0; ++pe)
    mapped_[pe] = static_cast<const T*>(shmem_ptr(table, static_cast<int>(pe)));
  const detail::cache_sizes wanted = detail::cache_sizes_of(options);
  if (shmemx_n_nodes() == 1) return;  // every word is loaded
  const auto* const bytes = reinterpret_cast<const std::byte*>(table);
  const std::size_t line = std::max(wanted.line, sizeof(T));
  exchange_.emplace(detail::words_of_table{bytes, sizeof(T), std::vector<std::byte>(line)}, receive{this}, options,
                    line);
  // A power of two, so that a shift finds the line of a word.
  const std::size_t most = std::min(line, exchange_->largest_reply()) / sizeof(T);
  line_shift_ = static_cast<unsigned>(std::bit_width(most)) - 1;
  lines_ = ((words_ - 1) >> line_shift_) + 1;
  const auto beside = exchange_->bytes_beside_reply();
  const std::size_t line_bytes = sizeof(T) << line_shift_;
  cache_ = detail::line_cache(wanted.bytes, line_bytes,
                              static_cast<double>(sizeof(T) + beside) / static_cast<double>(line_bytes + beside));
}

template <class T>
inline void table_reader<T>::into(std::span<T> values) {
  earlier_gets_ += gets_;
  values_ = values.data();
  gets_ = 0;
}

template <class T>
inline void table_reader<T>::get(std::uint64_t index, int pe) {
  if (const T* const table = mapped_[static_cast<std::size_t>(pe)])
    values_[gets_++] = table[index];
  else
    get_from_other_node(index, pe, gets_++);
}

template <class T>
inline table_getter<T> table_reader<T>::getter(std::size_t first) {
  return table_getter<T>(*this, first);
}

template <class T>
inline void table_reader<T>::advance() {
  if (exchange_) exchange_->advance();
}

template <class T>
inline void table_reader<T>::done() {
  if (exchange_)
    exchange_->done();
  else
    shmem_sync_all();
  ++phases_;
}

template <class T>
inline aggregate_statistics table_reader<T>::statistics() const {
  aggregate_statistics now;
  if (exchange_) now = exchange_->statistics();
  const std::lock_guard hold(mutex_);
  const std::uint64_t requests = now.items;
  now.items = earlier_gets_ + gets_;
  now.direct_items += now.items - inter_node_gets_;
  now.phases = phases_;
  now.cache_hits = cache_.hits();
  now.cache_misses = cache_.misses();
  now.memory_bytes += cache_.bytes();
  now.cpu_ns_per_item *= now.items == 0 ? 0 : static_cast<double>(requests) / static_cast<double>(now.items);
  return now;
}

template <class T>
inline void table_reader<T>::receive::operator()(std::uint32_t index, byte_span received) const {
  table_reader& r = *reader;
  if ((index & is_line) == 0) {
    r.store(index, received.data());
    return;
  }
  std::unique_lock hold(r.mutex_, std::defer_lock);
  if (r.shared_) hold.lock();
  r.cache_.fill(index & ~is_line, received,
                [&](std::uint32_t value, std::uint32_t word) { r.store(value, received.data() + word * sizeof(T)); });
}

template <class T>
inline void table_reader<T>::store(std::uint32_t value, const std::byte* word) {
  std::memcpy(static_cast<void*>(values_ + value), word, sizeof(T));
}

template <class T>
inline void table_reader<T>::get_from_other_node(std::uint64_t index, int pe, std::uint32_t value) {
  ++inter_node_gets_;
  look_up(index, pe, value, [&](const detail::word_range& words, std::uint32_t to) { exchange_->get(words, pe, to); });
}

// Calls fetch(words, index) for what is not in the cache.
template <class T>
template <class Fetch>
inline void table_reader<T>::look_up(std::uint64_t index, int pe, std::uint32_t value, Fetch&& fetch) {
  if (!cache_.empty()) {
    const std::uint64_t line = index >> line_shift_, first = line << line_shift_;
    const auto word = static_cast<std::uint32_t>(index - first);
    // Both only grow, so the sum changes whenever one of them does.
    const std::uint64_t epoch = *collectives_ + phases_;
    const std::uint64_t number = static_cast<std::uint64_t>(pe) * lines_ + line;
    std::unique_lock hold(mutex_, std::defer_lock);
    if (shared_) hold.lock();
    const auto found = cache_.look_up(number, epoch, value, word);
    switch (found.what) {
      case detail::line_cache::outcome::hit:
        store(value, found.line + word * sizeof(T));
        return;
      case detail::line_cache::outcome::waits:
        return;
      case detail::line_cache::outcome::fetch_line: {
        if (shared_) hold.unlock();  // fetching may wait, and handles replies, which go into the cache
        const std::uint64_t count = std::min(std::uint64_t{1} << line_shift_, words_ - first);
        return fetch(detail::word_range::from(first, count), found.entry | is_line);
      }
      case detail::line_cache::outcome::fetch_word:
        break;
    }
  }
  fetch(detail::word_range::from(index, 1), value);
}

template <class T>
inline table_getter<T>::table_getter(table_reader<T>& reader, std::size_t first)
    : reader_(reader), next_(static_cast<std::uint32_t>(first)) {
  if (!reader.shared_)
    throw std::logic_error("lull::table_reader::getter(): create the reader with aggregate_options::getters");
  if (reader.exchange_) requests_.emplace(reader.exchange_->thread_target());
}

template <class T>
inline table_getter<T>::~table_getter() {
  const std::lock_guard hold(reader_.mutex_);
  reader_.earlier_gets_ += gets_;
  reader_.inter_node_gets_ += inter_node_gets_;
}

template <class T>
inline void table_getter<T>::get(std::uint64_t index, int pe) {
  const std::uint32_t value = next_++;
  ++gets_;
  if (const T* const table = reader_.mapped_[static_cast<std::size_t>(pe)]) {
    reader_.values_[value] = table[index];
    return;
  }
  ++inter_node_gets_;
  reader_.look_up(index, pe, value,
                  [&](const detail::word_range& words, std::uint32_t to) { requests_->push(words, to, pe); });
}

template <class T>
inline void table_getter<T>::into(std::size_t first) {
  next_ = static_cast<std::uint32_t>(first);
}

template <class T>
inline void table_getter<T>::advance() {
  if (requests_) requests_->advance();
}

}  // namespace cpp_abi_1
}  // namespace lull
