// What each step of a program waited for, recorded while the program is simulated: a graph whose longest path is its
// run time. The same graph with other delays of messages gives the run time with those (longest_path.hpp).
//
// A step is a moment of a process or a message, and follows up to two others:
//
//   moment     `offset` after an earlier moment of its process, but not before `after`: the step that ended its wait
//   message    begins like a moment. It has left `sending` after that, and not before its host has sent the message
//              before it; it arrives `travelling` later
//
// What a process does between two moments is in the offset: computing and the overhead of messages. Sending includes
// waiting for credits, travelling includes waiting in switches: as long as in the recorded run.
//
// A step only refers to earlier ones. The recorder gets the simulator's times, and checks nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "netsim/routing.hpp"

namespace lull::netsim {

class dependencies {
 public:
  // A step, and for a message which end of it: 2 x number, + 1 if it is when the message has left.
  using end_of_step = std::uint32_t;
  static constexpr end_of_step nothing = std::numeric_limits<std::uint32_t>::max();

  struct step {
    std::uint32_t from = nowhere;  // a moment of the same process; nowhere: the begin of time
    end_of_step after = nothing;
    picoseconds offset = 0;
  };
  struct message {
    std::uint32_t number;     // of its step
    std::uint32_t previous;   // the message that its host has sent before: a step, or nowhere
    bool by_network = false;  // otherwise through the memory of its node
    std::uint16_t links = 0;  // that it has crossed
    std::uint32_t route = 0;  // the first of them in the list of all
    double bytes = 0;         // on the network
    picoseconds sending = 0;
    picoseconds travelling = 0;
    [[nodiscard]] std::uint64_t switch_cables() const { return links > 2 ? links - 2U : 0; }
  };

  // `nic_delay`: from the creation of a message to its first bit, at least.
  dependencies(std::size_t hosts, picoseconds nic_delay) : nic_delay_(nic_delay), hosts_(hosts) {}

  // Where a stream of operations is: its latest step, and when that was.
  struct moment {
    std::uint32_t step = nowhere;
    picoseconds at = 0;
  };
  [[nodiscard]] moment begin(picoseconds at) { return {add({.offset = at}), at}; }
  // The stream, which came to its wait at `came`, goes on at `now`, because of `cause`.
  [[nodiscard]] moment wait_ended(const moment& last, picoseconds came, end_of_step cause, picoseconds now) {
    return {add({.from = last.step, .after = cause, .offset = came - last.at}), now};
  }
  // A step of the stream at this time.
  [[nodiscard]] end_of_step here(const moment& last, picoseconds now) {
    return 2 * add({.from = last.step, .offset = now - last.at});
  }
  void ended(const moment& last, picoseconds now) { ends_.push_back(here(last, now) / 2); }

  // What the next message follows: a stream at `now`, the arrival of the message with this label, or both.
  void begins_at(const moment& last, picoseconds now) { next_ = {.from = last.step, .offset = now - last.at}; }
  void begins_after(std::uint32_t label) { next_ = {.after = arrival_of(label)}; }
  void also_after(std::uint32_t label) { next_.after = arrival_of(label); }
  // A receive is posted at the moment of begins_at(). The answer to a message that asks for it later follows both.
  void posted(std::uint64_t receive) { posted_[receive] = std::exchange(next_, {}); }
  void also_when_posted(std::uint64_t receive);
  // A message that `host` sends; without one, it goes through memory.
  void carried(std::uint32_t label, std::uint32_t host, std::uint64_t bytes, picoseconds now);
  // It has left, and arrived; several calls are allowed, the last one counts.
  void sent(std::uint32_t label, picoseconds at);
  void arrived(std::uint32_t label, picoseconds at) { message_of(label).travelling = at - of_label_[label].sent; }
  void crossed(std::uint32_t label, std::span<const std::uint32_t> links);

  // What completes the next request of which the protocol reports.
  void completes(end_of_step cause) { cause_ = cause; }
  [[nodiscard]] end_of_step take_cause() { return std::exchange(cause_, nothing); }
  [[nodiscard]] end_of_step arrival_of(std::uint32_t label) const {
    return 2 * messages_[of_label_[label].message].number;
  }
  [[nodiscard]] end_of_step departure_of(std::uint32_t label) const { return arrival_of(label) + 1; }

  // The recorded graph. Steps of messages are in the same order as the messages.
  [[nodiscard]] const std::vector<step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<message>& messages() const { return messages_; }
  [[nodiscard]] const std::vector<std::uint32_t>& ends() const { return ends_; }
  [[nodiscard]] std::span<const std::uint32_t> route_of(const message& m) const {
    return std::span(routes_).subspan(m.route, m.links);
  }
  // One more than the largest number of a link in a route.
  [[nodiscard]] std::uint32_t links() const { return links_; }
  [[nodiscard]] picoseconds nic_delay() const { return nic_delay_; }

 private:
  struct labelled {
    std::uint32_t message = 0;  // in messages_
    std::uint32_t host = nowhere;
    picoseconds begun = 0;
    picoseconds sent = 0;
  };
  struct sender {
    std::uint32_t last = nowhere;  // step of its last message
    picoseconds sent = 0;          // when a message left it last
  };
  [[nodiscard]] std::uint32_t add(const step& s);
  void check_memory() const;
  [[nodiscard]] message& message_of(std::uint32_t label) { return messages_[of_label_[label].message]; }

  picoseconds nic_delay_;
  std::vector<step> steps_;
  std::vector<message> messages_;
  std::vector<std::uint32_t> routes_;
  std::uint32_t links_ = 0;
  std::vector<std::uint32_t> ends_;  // the last moment of each process
  std::vector<sender> hosts_;
  std::vector<labelled> of_label_;
  step next_;
  end_of_step cause_ = nothing;
  std::unordered_map<std::uint64_t, step> posted_;
};

}  // namespace lull::netsim
