// The cost of waiting by operation and call site: a row for each place in the program from which an MPI function is
// called.
//
// A process counts by return addresses; a node adds up by their names, because ranks load a program at different
// addresses.
#pragma once
#include <array>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wait/statistics.hpp"

namespace lull::mpi {

// "MODULE+0xOFFSET", or "FUNCTION+0xOFFSET" if the program's symbols contain the function.
[[nodiscard]] std::string name_of_site(const void* address);

struct site_row {
  std::string function;  // "MPI_Recv"
  std::string site;
  wait::wait_counts counts;
};

// The call sites of one process; any thread may count.
class call_sites {
 public:
  void called(const char* function, const void* site);
  void waited(const char* function, const void* site, const wait::wait_counts& counts);
  // Sorted by waiting time, longest first.
  [[nodiscard]] std::vector<site_row> rows() const;

 private:
  struct key {
    const char* function;
    const void* site;
    bool operator==(const key&) const = default;
  };
  struct hash_of_key {
    std::size_t operator()(const key& k) const noexcept {
      return std::hash<const void*>{}(k.site) * 31 + std::hash<const void*>{}(k.function);
    }
  };
  mutable std::mutex lock_;
  std::unordered_map<key, wait::wait_counts, hash_of_key> counts_;
};

// Writes rows to memory that other ranks read: as many as fit; the others are added up in a last row.
void write_rows(std::span<const site_row> rows, std::span<std::byte> to);
[[nodiscard]] std::vector<site_row> read_rows(std::span<const std::byte> from);

// Merges rows of the same function and site; sorted by waiting time, longest first.
[[nodiscard]] std::vector<site_row> merged(std::vector<site_row> rows);

}  // namespace lull::mpi
