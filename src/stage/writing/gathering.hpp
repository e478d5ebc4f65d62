// Orders that a server keeps until they can be written together: those of one name, at most one of each client.
//
// They are complete when each client has handed its own over, or has handed over something for a later name, or has no
// more to hand over. An order for which its client waits is not kept any longer: the client would wait for others that
// perhaps wait for it. Late orders are written without the others. Thus nothing is lost or delayed without end,
// whatever clients do; only the division into files differs.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stage/files/write_order.hpp"

namespace lull::stage {

class gathering {
 public:
  using batch = std::vector<write_order>;

  explicit gathering(const std::vector<int>& clients) : active_(clients.begin(), clients.end()) {}

  // Each call returns what must be written now, in this order.
  [[nodiscard]] std::vector<batch> add(write_order one);
  // The client waits for its orders before this number.
  [[nodiscard]] std::vector<batch> release_for(int client, std::uint64_t before);
  [[nodiscard]] std::vector<batch> end_of(int client);  // it hands nothing over any more, or has died
  [[nodiscard]] std::vector<batch> end_of_all();

 private:
  // A turn of a name: from its first order until a client hands over a second one of that name.
  struct turn {
    std::uint64_t number;
    std::set<int> clients;
  };
  [[nodiscard]] std::uint64_t turn_of(const write_order& one);
  [[nodiscard]] std::vector<batch> complete();

  std::set<int> active_;
  std::map<std::string, turn> turns_;  // the latest of each name
  std::uint64_t next_turn_ = 0;
  std::map<int, std::uint64_t> reached_;    // the latest turn in which each client has handed over
  std::map<std::uint64_t, batch> pending_;  // by turn
};

}  // namespace lull::stage
