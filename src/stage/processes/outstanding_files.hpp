// The files that a client has handed over and that are not yet written, by their number on the server. The server takes
// consecutive numbers; files of one name end in the order of their numbers.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "stage/files/staged_file.hpp"

namespace lull::stage {

class outstanding_files {
 public:
  using entry = std::map<std::uint64_t, staged_file>::iterator;

  // `share`: bytes of the server's buffer that this client may fill; `most_files`: limit of files at a time.
  outstanding_files(std::size_t share, std::size_t most_files) : share_(share), most_files_(most_files) {}

  [[nodiscard]] bool empty() const { return files_.empty(); }
  [[nodiscard]] std::size_t share() const { return share_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool contains(std::uint64_t number) const { return files_.contains(number); }
  [[nodiscard]] entry find(std::uint64_t number) { return files_.find(number); }
  [[nodiscard]] entry first() { return files_.begin(); }
  [[nodiscard]] entry end() { return files_.end(); }

  entry add(std::uint64_t number, staged_file&& file, std::size_t bytes) {
    bytes_ += bytes;
    return files_.emplace(number, std::move(file)).first;
  }
  void remove(entry file) {
    bytes_ -= file->second.bytes();
    files_.erase(file);
  }

  [[nodiscard]] bool full_for(std::size_t bytes) const {
    return files_.size() >= most_files_ || (!files_.empty() && bytes_ + bytes > share_);
  }
  // The number before which all files must be written to make room for `bytes` bytes; `next`: the number of the next
  // file.
  [[nodiscard]] std::uint64_t room_after(std::size_t bytes, std::uint64_t next) const {
    std::size_t files = files_.size(), left = bytes_;
    for (const auto& [number, file] : files_) {
      left -= file.bytes();
      if (--files == 0 || (files < most_files_ && left + bytes <= share_)) return number + 1;
    }
    return next;
  }
  // Whether a file of this name has a number in [from, before).
  [[nodiscard]] bool any_of(const std::string& final_path, std::uint64_t from, std::uint64_t before) const {
    return std::any_of(files_.lower_bound(from), files_.lower_bound(before),
                       [&](const auto& one) { return one.second.final_path() == final_path; });
  }
  [[nodiscard]] bool any_at(const file_identity& place) const {
    return std::ranges::any_of(files_, [&](const auto& one) {
      const auto* const its = one.second.place();
      return its != nullptr && its->which == place;
    });
  }

 private:
  std::map<std::uint64_t, staged_file> files_;
  std::size_t bytes_ = 0;
  std::size_t share_, most_files_;
};

}  // namespace lull::stage
