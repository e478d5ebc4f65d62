// The command line of access_patterns, read and checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace access_patterns {

enum class layout { contiguous, scattered };

struct options {
  std::vector<std::string> patterns{"MPQMPQ", "MPMPQ", "PQPQ", "PPQ", "MMPQAMM"};
  std::uint64_t payload = 512U << 10U;   // bytes, of all fragments of a sender together
  std::vector<std::uint64_t> fragments;  // numbers of fragments of the payload; default: powers of 2 up to 65536
  layout place = layout::contiguous;     // of the fragments, at the sender and at the receiver
  std::uint64_t working_set = 0;         // bytes of buffers that are used in turn; 0: see cold_bytes()
  std::uint64_t iterations = 0;          // payloads per sender; 0: as many as fill `seconds`
  double seconds = 0.2;                  // for each pattern and number of fragments, about
  bool non_blocking = false;             // P is shmem_putmem_nbi, not shmem_putmem
  bool json = false;
};

// Twice the last-level cache, at most 256 MiB: a buffer is in no cache after this many bytes of other buffers.
[[nodiscard]] std::uint64_t cold_bytes();

// The command line requests help, which is `what()`.
class help_wanted : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A mistake in the command line, in one line.
class usage_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws usage_error if a payload cannot be split into that many fragments of equal size.
void check_fragments(const std::vector<std::uint64_t>& fragments, std::uint64_t payload);

[[nodiscard]] options parse(int argc, char** argv);

}  // namespace access_patterns
