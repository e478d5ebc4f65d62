// What a server keeps until it can be written together: the orders of one name, one of each client.
//
// They are complete when each client has handed its own over, or something for a later name, or has no more to hand over. When a
// client waits for what it has handed over, that is not kept any longer: it would wait for clients that perhaps wait
// for it. Orders that come late are written by themselves. So nothing is lost or delayed for ever, whatever clients do; only the
// cut into files differs.
#pragma once
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "stage/write_order.hpp"

namespace lull::stage {

class gathering {
 public:
  using batch = std::vector<write_order>;

  explicit gathering(const std::vector<int>& clients) : active_(clients.begin(), clients.end()) {}

  // Each gives what is to be written now, in this order.
  [[nodiscard]] std::vector<batch> add(write_order one);
  [[nodiscard]] std::vector<batch> release_for(int client);  // it waits
  [[nodiscard]] std::vector<batch> end_of(int client);       // it hands nothing over any more, or has died
  [[nodiscard]] std::vector<batch> end_of_all();

 private:
  struct pending {
    std::string name;
    batch orders;
    std::set<int> heard_of;  // clients that have handed over theirs, or something later
  };
  [[nodiscard]] std::vector<batch> complete();

  std::set<int> active_;
  std::deque<pending> pending_;  // in the order in which they began
};

}  // namespace lull::stage
