// Files that clients have begun, and what happens to them if a client dies. A file that was flushed is written with its
// content, as on a real storage; of any other nothing remains.
//
// A server keeps the files of its clients. If the server is on another node, a separate process, the keeper, keeps
// them.
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "stage/files/write_order.hpp"

namespace lull::stage {

class kept_files {
 public:
  static constexpr std::uint64_t number = ~std::uint64_t{0};  // of the orders made from them

  void keep(write_order file);
  void flushed(int client, std::uint64_t number);
  void release(int client, std::uint64_t number);
  // The client has died: returns what must be written, in the order of the files.
  [[nodiscard]] std::vector<write_order> end_of(int client);

 private:
  struct kept {
    write_order order;
    bool flushed = false;
  };
  std::map<std::pair<int, std::uint64_t>, kept> files_;  // by client and number
};

// The main function of a keeper: returns when its client, whose messages come through the socket, has ended. The result
// is the number of files that it could not write; each failure prints a line.
[[nodiscard]] int keep_files(const descriptor& socket, bool sync);

}  // namespace lull::stage
