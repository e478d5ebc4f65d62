// Files that clients have begun: what becomes of them if a client dies. What a file holds is written if it has been flushed, as its
// storage would have it; of any other nothing remains.
//
// A server keeps those of its clients. Where that is on another node, a process of its own does, the keeper.
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "stage/files/write_order.hpp"

namespace lull::stage {

class kept_files {
 public:
  static constexpr std::uint64_t number = ~std::uint64_t{0};  // of the orders that are made of them

  void keep(write_order file);
  void flushed(int client, std::uint64_t number);
  void release(int client, std::uint64_t number);
  // The client has died: what is to be written, in the order of the files.
  [[nodiscard]] std::vector<write_order> end_of(int client);

 private:
  struct kept {
    write_order order;
    bool flushed = false;
  };
  std::map<std::pair<int, std::uint64_t>, kept> files_;  // by client and number
};

// A keeper's whole life: until its client has ended, whose messages come by the socket. The number of files that it could not
// write, after a line for each.
[[nodiscard]] int keep_files(const descriptor& socket, bool sync);

}  // namespace lull::stage
