// The command line of shift, read and checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace shift {

struct options {
  std::string op = "put";               // put, get, accumulate or strided
  std::uint64_t min_bytes = 8;          // sizes double from here
  std::uint64_t max_bytes = 4U << 20U;  // to here
  std::uint64_t block = 512;            // bytes of one block of a strided put
  std::uint64_t iterations = 0;         // of each size; 0: as many as fill `seconds`
  double seconds = 0.5;                 // of each size
  std::string to = "next";              // next: the PE after this one; all: every other PE in turn
  std::string from = "all";             // all PEs transfer at once, or only the first
  double gap_us = 0;                    // between two transfers
  std::string gap = "compute";          // how the gap is spent: compute or sleep
  bool verify = false;
  bool json = false;

  [[nodiscard]] std::vector<std::size_t> sizes() const;
};

// The command line requests help, which is `what()`.
class help_wanted : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A mistake in the command line, in one line.
class usage_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[nodiscard]] options parse(int argc, char** argv);

}  // namespace shift
