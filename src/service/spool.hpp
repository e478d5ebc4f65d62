// The rows of closed accounts on disk, until they are passed on.
//
// A row is accepted (add) and waits in memory; the owner saves it with its state, and then calls write(), which appends
// it to FOLDER/writing. hand_on() renames that file to rows-NUMBER.jsonl, which the spool never touches again; whoever
// passes its rows on removes it. As the state is saved before each of these steps, a crash at any time loses no row:
// a row that the state still lists is in `writing`, and the next spool finds it there (contains), or it is in no file.
//
// A disk that is full stops nothing: rows wait, at most 10,000, and what comes beyond that is lost and counted. The first
// failure and the first lost row are reported in a line each. Files contain whole lines only: what half a row a crash or a
// full disk has left is cut off.
#pragma once
#include <cstdint>
#include <deque>
#include <set>
#include <string>

#include "base/descriptor.hpp"

namespace lull::service {

struct spool_limits {
  std::size_t waiting_rows = 10'000;
  std::size_t rows_of_file = 200, bytes_of_file = 256 << 10;  // one batch for the collector
  std::int64_t age_ns = 60'000'000'000;
};

class spool {
 public:
  // Without a folder (""), it accepts rows and drops them. Creates the folder; a failure is reported, and tried again.
  explicit spool(std::string folder, spool_limits limits = {});

  // Whether the file `writing` that an earlier spool left has this row.
  [[nodiscard]] bool contains(const std::string& row) const { return found_.contains(row); }
  void add(std::string row);
  // Appends what waits until the file is full; `now_ns` is CLOCK_MONOTONIC.
  void write(std::int64_t now_ns);
  // Whether the file should be handed on: it is full, a minute old, or an earlier spool's.
  [[nodiscard]] bool is_due(std::int64_t now_ns) const;
  void hand_on();

  [[nodiscard]] const std::deque<std::string>& waiting() const { return waiting_; }
  [[nodiscard]] std::int64_t lost() const { return lost_; }
  [[nodiscard]] bool is_used() const { return !folder_.empty(); }

 private:
  bool open_file();
  [[nodiscard]] int append(const std::string& line);
  void read_earlier();
  void report(const char* action, int error);

  const std::string folder_;
  const spool_limits limits_;
  descriptor file_;
  std::deque<std::string> waiting_;
  std::set<std::string> found_;
  std::size_t rows_ = 0, bytes_ = 0;  // of the file
  std::int64_t since_ns_ = 0;         // when its first row was written
  bool is_earlier_ = false;           // it was left by an earlier spool
  bool is_failing_ = false;
  std::int64_t lost_ = 0, number_ = 0;
};

}  // namespace lull::service
