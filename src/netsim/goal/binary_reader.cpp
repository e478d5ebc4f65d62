#include "netsim/goal/binary_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>

#include "base/error.hpp"
#include "netsim/goal/limits.hpp"

namespace lull::netsim {
namespace {

constexpr std::uint64_t is_goal_mark = 4223, used_up_mark = 2342;
constexpr std::size_t mark_bytes = 8, head_bytes = 6, part_entry_bytes = 16, operation_bytes = 39;

// Numbers from a goal_piece of the file, one after the other.
class goal_piece {
 public:
  explicit goal_piece(std::span<const char> bytes) : left_(bytes) {}
  [[nodiscard]] std::size_t left() const { return left_.size(); }
  template <class T>
  T take() {
    T value{};
    std::memcpy(&value, left_.data(), sizeof value);
    left_ = left_.subspan(sizeof value);
    return value;
  }
  [[nodiscard]] goal_piece from(std::size_t offset) const { return goal_piece(left_.subspan(offset)); }

 private:
  std::span<const char> left_;
};

struct goal_part {
  std::uint64_t begin, end;
};

class binary_file {
 public:
  explicit binary_file(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    const int code = errno;
    if (!file_) throw error("read " + path, describe_errno(code), "name a GOAL file");
    std::error_code failed;
    size_ = std::filesystem::file_size(path, failed);
    if (failed) throw error("read " + path, failed.message(), "name a GOAL file");
    if (size_ < mark_bytes + head_bytes) damaged("it ends in its head");
    const std::vector<char> head = bytes(0, mark_bytes + head_bytes);
    goal_piece from(head);
    if (from.take<std::uint64_t>() == used_up_mark)
      throw error("read " + path, "a run of LogGOPSim with --save-mem has used it up", "make it again with txt2bin");
    ranks_ = from.take<std::uint32_t>();
    (void)from.take<std::uint8_t>();  // the largest cpu: each rank has as many as it names
    several_nics_ = from.take<std::uint8_t>() > 0;
    if (ranks_ == 0 || ranks_ > goal_limits::ranks || ranks_ > size_ / part_entry_bytes)
      damaged(fmt::format("it has {} ranks in {} bytes", ranks_, size_));
  }

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] bool several_nics() const { return several_nics_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[noreturn]] void damaged(const std::string& found) const {
    throw error("read " + path_, found, "it is damaged; make it again with txt2bin");
  }

  [[nodiscard]] goal_part part_of(std::uint32_t rank) {
    const std::vector<char> entry =
        bytes(mark_bytes + head_bytes + part_entry_bytes * std::uint64_t{rank}, part_entry_bytes);
    goal_piece from(entry);
    const auto begin = from.take<std::uint64_t>();
    const auto end = from.take<std::uint64_t>();
    if (begin > end || end > size_ - mark_bytes)
      damaged(fmt::format("the part of rank {}, bytes {} to {}, is not in the file", rank, begin, end));
    return {.begin = begin + mark_bytes, .end = end + mark_bytes};
  }

  [[nodiscard]] std::vector<char> bytes(std::uint64_t begin, std::uint64_t count) {
    std::vector<char> found(count);
    file_.seekg(static_cast<std::streamoff>(begin));
    file_.read(found.data(), static_cast<std::streamsize>(count));
    if (!file_) damaged(fmt::format("it ends before byte {}", begin + count));
    return found;
  }

 private:
  const std::string path_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
  std::uint32_t ranks_ = 0;
  bool several_nics_ = false;
};

// One rank's part.
class rank_part {
 public:
  rank_part(const binary_file& of, std::uint32_t rank, std::span<const char> bytes)
      : of_(of), rank_(rank), from_(bytes) {
    require(8);
    count_ = from_.take<std::uint32_t>();
    const std::uint64_t free = std::uint64_t{4} * from_.take<std::uint32_t>();  // the graph shows which they are
    require(free);
    from_ = from_.from(free);
    require(std::uint64_t{operation_bytes} * count_);
    if (count_ > goal_edge::most_operations) of_.damaged(fmt::format("rank {} has {} operations", rank_, count_));
    edges_ = from_.from(std::size_t{operation_bytes} * count_);
  }

  [[nodiscard]] goal_rank read() {
    std::vector<std::uint32_t> needs(count_);
    for (goal_piece from = from_; built_.count() < count_;) {
      needs[built_.count()] = from.take<std::uint32_t>();
      operation(from);
      from = from.from(16);
    }
    goal_piece from = from_;
    for (std::uint32_t number = 0; number < count_; ++number) {
      from = from.from(operation_bytes - 16);
      edges(from, number, goal_edge::when::ended);
      edges(from, number, goal_edge::when::begun);
    }
    goal_rank made = built_.finish();
    for (std::uint32_t number = 0; number < count_; ++number)
      if (made.operations[number].needs != needs[number])
        wrong(number,
              fmt::format("has {} dependencies, but {} lead to it", needs[number], made.operations[number].needs));
    return made;
  }

 private:
  void require(std::uint64_t bytes) const {
    if (from_.left() < bytes) of_.damaged(fmt::format("the part of rank {} ends too early", rank_));
  }
  [[noreturn]] void wrong(std::uint32_t number, const std::string& found) const {
    of_.damaged(fmt::format("operation {} of rank {} {}", number, rank_, found));
  }

  void operation(goal_piece& from) {
    const std::uint32_t number = built_.count();
    const auto kind = from.take<std::uint8_t>();
    goal_operation o{.peer = from.take<std::uint32_t>(),
                     .what = kind == 1   ? goal_kind::send
                             : kind == 2 ? goal_kind::receive
                                         : goal_kind::calc};
    o.size = from.take<std::uint64_t>();
    o.tag = from.take<std::uint32_t>();
    o.cpu = from.take<std::uint8_t>();
    (void)from.take<std::uint8_t>();  // nic: the head has the largest
    if (kind < 1 || kind > 3) wrong(number, fmt::format("is of kind {}", kind));
    if (o.size > (o.what == goal_kind::calc ? goal_limits::nanoseconds : goal_limits::bytes))
      wrong(number, fmt::format("has the size {}", o.size));
    const bool receives = o.what == goal_kind::receive;
    if (o.what != goal_kind::calc && o.peer >= of_.ranks() && !(receives && o.peer == any))
      wrong(number, fmt::format("names rank {} of {}", o.peer, of_.ranks()));
    if (o.what == goal_kind::send && o.tag == any) wrong(number, "sends with any tag");
    built_.add(o);
  }

  void edges(goal_piece& from, std::uint32_t number, goal_edge::when after) {
    const auto count = from.take<std::uint32_t>(), first = from.take<std::uint32_t>();
    if (count == 0) return;
    if ((std::uint64_t{first} + count) * 4 > edges_.left()) wrong(number, "has edges outside the file");
    goal_piece list = edges_.from(std::size_t{first} * 4);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto later = list.take<std::uint32_t>();
      if (later >= count_) wrong(number, fmt::format("has an edge to operation {} of {}", later, count_));
      built_.depend(later, number, after);
    }
  }

  const binary_file& of_;
  std::uint32_t rank_;
  goal_piece from_;  // the operations
  goal_piece edges_{{}};
  std::uint32_t count_ = 0;
  goal_rank_builder built_;
};

}  // namespace

goal_graph read_goal_binary(const std::string& path, const goal_progress& progress) {
  binary_file file(path);
  goal_graph all{.path = path, .ranks = {}, .several_nics = file.several_nics()};
  all.ranks.resize(file.ranks());
  for (std::uint32_t rank = 0; rank < file.ranks(); ++rank) {
    const goal_part at = file.part_of(rank);
    const std::vector<char> bytes = file.bytes(at.begin, at.end - at.begin);
    all.ranks[rank] = rank_part(file, rank, bytes).read();
    check_cycles(all, rank);
    if (progress && !progress(at.end, file.size())) throw error("read " + path, "stopped");
  }
  return all;
}

std::uint32_t ranks_of_goal_binary(const std::string& path) { return binary_file(path).ranks(); }

bool is_goal_binary(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t mark = 0;
  std::array<char, sizeof mark> head{};
  if (!file.read(head.data(), head.size())) return false;
  std::memcpy(&mark, head.data(), sizeof mark);
  return mark == is_goal_mark || mark == used_up_mark;
}

}  // namespace lull::netsim
