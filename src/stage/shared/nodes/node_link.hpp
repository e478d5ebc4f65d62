// The thread of a node's first server by which the nodes of a job agree on the order of their entries (directory.hpp).
//
//   auto [of, link] = share_output(plan, roles, others, storage);   on all processes of the job, servers and clients
//   …                                                               until the clients of this server have ended
//   if (link) link->finish();                                       before the server's own thread ends
//
// If a node's link dies, its peers fail with EIO what they share with it.
#pragma once
#include <atomic>
#include <deque>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "stage/accounts/plan.hpp"
#include "stage/approaches/roles.hpp"
#include "stage/link/exchange.hpp"
#include "stage/link/post.hpp"
#include "stage/shared/directory.hpp"
#include "stage/shared/nodes/follower.hpp"
#include "stage/shared/nodes/home.hpp"
#include "stage/shared/piece_writer.hpp"

namespace lull::stage {

class node_link final : post_handler {
 public:
  // Collective over all of them.
  node_link(std::shared_ptr<directory> of, exchange& links, const storage_limit& storage);
  ~node_link();  // without finish(): for the others, it is lost
  node_link(const node_link&) = delete;
  node_link& operator=(const node_link&) = delete;

  void start();
  // Returns when what this node shares with others is written: at the home, everywhere.
  void finish();

 private:
  void packet_from(int peer, packet_reader text) override;
  void content_from(int, std::uint64_t, const transport::incoming&) override {}
  void lost(int peer) override { lost_.push_back(peer); }

  void work();
  void deliver();
  void look();
  [[nodiscard]] bool is_done();
  [[nodiscard]] bool other_servers_have_ended() const;
  void sleep();
  void ring(const std::stop_token& end);

  std::shared_ptr<directory> of_;
  post post_;  // used only by the thread while it runs
  std::unique_ptr<home_of_files> home_;
  std::unique_ptr<follower_of_home> follower_;
  stand_in lost_servers_;  // processes of other nodes wait for what they have left
  std::deque<std::pair<int, std::vector<std::byte>>> arrived_;
  std::deque<int> lost_;
  descriptor bell_;
  std::atomic<bool> ends_ = false, at_once_ = false;
  std::promise<void> begun_;
  std::jthread thread_, ringer_;
};

struct shared_output {
  std::shared_ptr<directory> of;    // null: the program writes by itself what several processes write
  std::unique_ptr<node_link> link;  // in one server of each node, if there are several
};

// Collective over all processes of the job.
[[nodiscard]] shared_output share_output(const plan& wanted, const roles& all, exchange& others,
                                         const storage_limit& storage);

}  // namespace lull::stage
