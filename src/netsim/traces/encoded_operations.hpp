// The operations of many processes in a few bytes each, in a temporary file: written once, each process's in its order,
// and read as streams as often as one likes.
//
//   encoded_operations all(processes, "replay the trace x");
//   all.add(rank, does::send(...));
//   all.end(rank);                       of every process, at last
//   stream s = all.of(rank);
//
// Two things of an operation may become known only after those behind it: what a process has received, and what the
// others of a collective do. The first leaves a gap that is filled later; the second refers to a shared operation.
//
// An operation takes 1 to 32 bytes, mostly 3; a gap 26. Memory in use at a time is a block of the file for each process,
// 512 bytes to 64 KiB; `spill_file` has the rest.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "netsim/program/stream.hpp"
#include "netsim/traces/spill_file.hpp"

namespace lull::netsim {

class encoded_operations {
 public:
  // `asked` begins the errors about the temporary file.
  encoded_operations(std::uint32_t processes, const std::string& asked);

  [[nodiscard]] std::uint32_t processes() const { return static_cast<std::uint32_t>(first_.size()); }

  // Durations are kept as whole nanoseconds.
  void add(std::uint32_t process, const operation& o);

  // What several processes take part in; `set` says what it is, any time before it is read.
  using shared = std::uint64_t;
  [[nodiscard]] shared make_shared();
  void set(shared number, const operation& o);
  void add(std::uint32_t process, shared number, std::uint32_t request);

  // A gap in which there is nothing until it is filled.
  using gap = std::uint64_t;
  [[nodiscard]] gap add_gap(std::uint32_t process, std::uint32_t request);
  void fill(gap where, const operation& o);  // its request is that of the gap
  void fill(gap where, shared number);

  void end(std::uint32_t process);

  // It must outlive the stream.
  [[nodiscard]] stream of(std::uint32_t process) const;

  [[nodiscard]] std::uint64_t bytes() const { return file_.bytes(); }

 private:
  friend class operation_decoder;
  // What send, receive, put and the like have in common with an earlier one.
  struct partner {
    operation::kind what = operation::kind::compute;
    std::uint32_t peer = 0, tag = 0, group = 0;
    std::uint64_t bytes = 0;
    [[nodiscard]] bool same_but_bytes(const operation& o) const {
      return what == o.what && peer == o.peer && tag == o.tag && group == o.group;
    }
  };
  using partners = std::array<partner, 16>;
  [[nodiscard]] static std::size_t place_of(const operation& o);

  struct writer {
    std::uint64_t at = 0;
    std::uint64_t block = 0;
    std::uint32_t size = 0;  // of the block
    std::uint64_t last_shared = 0;
    partners known{};
  };
  class encoding;
  // Where `encoding` was put.
  std::uint64_t put(std::uint32_t process, const encoding& bytes);
  [[nodiscard]] operation& shared_at(shared number) const;

  spill_file file_;
  std::uint32_t largest_block_;
  std::vector<std::uint64_t> first_;  // block of each process
  std::vector<writer> writers_;
  std::vector<std::uint64_t> shared_;  // blocks of them
  std::uint64_t shared_count_ = 0;
};

}  // namespace lull::netsim
