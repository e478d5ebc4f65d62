// The operations of many processes in a few bytes each, in a temporary file: each process's are written once, in order,
// and can be read as streams any number of times.
//
//   encoded_operations all(processes, "replay the trace x");
//   all.add(rank, does::send(...));
//   all.end(rank);                       for every process, at the end
//   stream s = all.of(rank);
//
// Two kinds of information may be known only after later operations have been added: what a process has received, and
// what the others of a collective do. The first leaves a gap that is filled later; the second refers to a shared
// operation.
//
// An operation takes 1 to 32 bytes, mostly 3; a gap takes 26. The memory in use at a time is one block of the file per
// process, 512 bytes to 64 KiB; `spill_file` holds the rest.
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
  // `asked` starts the error messages about the temporary file.
  encoded_operations(std::uint32_t processes, const std::string& asked);

  [[nodiscard]] std::uint32_t processes() const { return static_cast<std::uint32_t>(first_.size()); }

  // Durations are stored as whole nanoseconds.
  void add(std::uint32_t process, const operation& o);

  // An operation of several processes; `set` defines it, at any time before it is read.
  using shared = std::uint64_t;
  [[nodiscard]] shared make_shared();
  void set(shared number, const operation& o);
  void add(std::uint32_t process, shared number, std::uint32_t request);

  // A gap is empty until it is filled.
  using gap = std::uint64_t;
  [[nodiscard]] gap add_gap(std::uint32_t process, std::uint32_t request);
  void fill(gap where, const operation& o);  // its request is that of the gap
  void fill(gap where, shared number);

  void end(std::uint32_t process);

  // This object must outlive the stream.
  [[nodiscard]] stream of(std::uint32_t process) const;

  [[nodiscard]] std::uint64_t bytes() const { return file_.bytes(); }

 private:
  friend class operation_decoder;
  // What a send, receive, put or similar operation shares with an earlier one.
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
  // Returns where `encoding` was stored.
  std::uint64_t put(std::uint32_t process, const encoding& bytes);
  [[nodiscard]] operation& shared_at(shared number) const;

  spill_file file_;
  std::uint32_t largest_block_;
  std::vector<std::uint64_t> first_;  // block of each process
  std::vector<writer> writers_;
  std::vector<std::uint64_t> shared_;  // their blocks
  std::uint64_t shared_count_ = 0;
};

}  // namespace lull::netsim
