// The sequence of signatures of a thread, and which one is foreseen next. Folder and expander each have one, and make
// the same steps: what is foreseen correctly needs no byte, however often it comes.
//
// The history follows an earlier place of itself: after a loop's first iteration, the place one iteration ago; after an
// inner loop, the same place of the outer one. Where another signature comes than is foreseen, it looks for the place
// behind the same two signatures, else behind the same one. It also remembers what came instead where it was wrong
// (`turn`), as at the end of a loop whose number of iterations varies.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace lull::trace::folding {

class history {
 public:
  static constexpr std::uint32_t nothing = 0xffffffff;

  [[nodiscard]] std::uint32_t foreseen() const { return follows_ ? ids_[at_ & mask()] : nothing; }
  void follow() {
    run r = begin_run();
    r.follow();
    end_run(r);
  }
  // Many steps, without looking at the history after each. There must be something foreseen.
  struct run {
    std::uint32_t* ids;
    std::uint64_t mask, at, count;
    [[nodiscard]] std::uint32_t foreseen() const { return ids[at & mask]; }
    void follow() { ids[count++ & mask] = ids[at++ & mask]; }
  };
  [[nodiscard]] run begin_run() { return {ids_.data(), mask(), at_, count_}; }
  void end_run(const run& r) {
    at_ = r.at;
    count_ = r.count;
  }
  // What came instead when the same signature was foreseen after the same one.
  [[nodiscard]] std::uint32_t turn() const {
    const std::uint64_t place = turn_place();
    return place == none ? nothing : ids_[place & mask()];
  }
  void take_turn() {
    const std::uint64_t place = turn_place();
    note_turn();
    append(ids_[place & mask()]);
    at_ = place + 1;
    follows_ = true;
    adapt_size();
  }
  // Another signature than foreseen. A new one probably replaces the foreseen one.
  void add(std::uint32_t id, bool is_new) {
    note_turn();
    append(id);
    ++at_;
    if (!is_new) {
      at_ = place_behind();
      follows_ = at_ != none;
    }
    adapt_size();
  }
  void cut() { follows_ = false; }

  [[nodiscard]] std::size_t memory() const {
    return ids_.capacity() * 4 + behind_two_.capacity() * 8 + behind_one_.capacity() * 8 + sizeof *this;
  }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  static constexpr std::size_t smallest = 1 << 12, largest = 1 << 16;
  static constexpr std::size_t contexts = 1 << 11;

  [[nodiscard]] std::uint64_t mask() const { return ids_.size() - 1; }
  [[nodiscard]] std::uint32_t id(std::uint64_t place) const { return ids_[place & mask()]; }
  [[nodiscard]] bool is_kept(std::uint64_t place) const {
    return place < count_ && count_ - place < ids_.size() - 1 && place > 1;
  }
  static std::size_t hash(std::uint32_t a, std::uint32_t b) {
    return (std::uint64_t{a} << 32 | b) * 0x9e3779b97f4a7c15U >> 53;
  }

  [[nodiscard]] std::uint64_t turn_place() const {
    if (!follows_ || count_ == 0) return none;
    const std::uint64_t place = turns_[hash(id(count_ - 1), foreseen()) % turns_.size()];
    return place != 0 && is_kept(place) && id(place - 1) == id(count_ - 1) ? place : none;
  }
  void note_turn() {
    if (follows_ && count_ > 0) turns_[hash(id(count_ - 1), foreseen()) % turns_.size()] = count_;
  }
  void append(std::uint32_t next) {
    ids_[count_ & mask()] = next;
    ++count_;
  }
  // Where what came after the last occurrence of the end of the history is. Until then, what was followed is not in
  // the tables: entering it only here keeps following cheap.
  std::uint64_t place_behind() {
    const std::uint64_t from =
        std::max({noted_, count_ - std::min<std::uint64_t>(count_, ids_.size() / 2), std::uint64_t{2}});
    for (std::uint64_t place = from; place < count_; ++place) note(place);
    noted_ = std::max(from, count_);
    if (count_ < 2) return none;
    const std::uint32_t last = id(count_ - 1), before = id(count_ - 2);
    std::uint64_t& two = behind_two_[hash(before, last)];
    if (last >= behind_one_.size()) behind_one_.resize(std::max<std::size_t>(last + 1, behind_one_.size() * 2));
    std::uint64_t& one = behind_one_[last];
    std::uint64_t place = none;
    if (is_kept(two) && id(two - 1) == last && id(two - 2) == before)
      place = two;
    else if (is_kept(one) && id(one - 1) == last)
      place = one;
    two = one = count_;
    return place;
  }
  void note(std::uint64_t place) {
    const std::uint32_t last = id(place - 1);
    behind_two_[hash(id(place - 2), last)] = place;
    if (last >= behind_one_.size()) behind_one_.resize(std::max<std::size_t>(last + 1, behind_one_.size() * 2));
    behind_one_[last] = place;
  }
  // More of the past is kept where much is not foreseen.
  void adapt_size() {
    ++wrong_;
    if (count_ - judged_ < ids_.size()) return;
    if (wrong_ > ids_.size() / 64 && ids_.size() < largest) {
      std::vector<std::uint32_t> larger(ids_.size() * 2);
      for (std::uint64_t place = count_ - ids_.size(); place < count_; ++place)
        larger[place & (larger.size() - 1)] = id(place);
      ids_.swap(larger);
    }
    wrong_ = 0;
    judged_ = count_;
  }

  std::vector<std::uint32_t> ids_ = std::vector<std::uint32_t>(smallest);
  std::uint64_t count_ = 0;
  std::uint64_t at_ = 0;  // the place that is followed
  bool follows_ = false;
  std::uint64_t noted_ = 0, judged_ = 0, wrong_ = 0;
  std::vector<std::uint64_t> behind_two_ = std::vector<std::uint64_t>(contexts);
  std::vector<std::uint64_t> behind_one_;
  std::array<std::uint64_t, 256> turns_ = {};
};

}  // namespace lull::trace::folding
