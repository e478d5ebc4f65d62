// The loop of the service: one thread, which sleeps until a message arrives or a reading is due.
//
// Readings happen at their times, never because of a message of a user: `hz` times a second, and every 0.1 s while
// somebody who may waits for counters. An answer with counters waits for a publication that the connection has not had,
// so asking faster changes nothing. The scheduler's messages come first; each that changes an account is on disk before
// it is answered.
//
// A message of the scheduler counts even if its sender has gone. A row that waits for the next reading is sent after it.
//
// A user has at most 32 connections; each is served 12 messages a second after a burst of 8, and is not read from beyond
// that. A message that is too long, or an answer that is not fetched, ends the connection.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "service/listening.hpp"
#include "service/messages.hpp"
#include "service/node.hpp"
#include "service/publication.hpp"
#include "service/rights.hpp"

namespace lull::service {

struct server_options {
  double hz = 1;
  policy rights;
  std::optional<std::int64_t> administrators;  // a group
};

class server {
 public:
  server(node& n, const sockets& s, server_options options);
  // Until a signal arrives on `signal_fd`; then the last readings have been attributed and saved.
  void run(int signal_fd);

 private:
  struct connection {
    descriptor fd;
    peer who;
    bool is_scheduler = false;
    bool waits_for_counters = false;
    std::int64_t had_number = 0;     // the last publication that it got
    std::string waits_for_row;       // of the account with this key
    std::int64_t busy_until_ns = 0;  // when its messages so far would have been served at the sustained rate
  };

  void accept_from(int listening, bool is_scheduler);
  enum class outcome { served, nothing, ended };
  // False if the connection has ended.
  bool serve(connection& c);
  [[nodiscard]] outcome serve_one(connection& c);
  [[nodiscard]] std::string answer(connection& c, const request& r);
  [[nodiscard]] std::string answer_scheduler(connection& c, const request& r);
  void answer_rows();
  [[nodiscard]] std::string channels() const;
  [[nodiscard]] std::string mine(const peer& who) const;
  [[nodiscard]] std::string whole_node() const;
  bool answer_if_published(connection& c);
  void publish(bool is_wanted);
  void do_what_is_due();
  [[nodiscard]] int next_due_ms() const;
  [[nodiscard]] bool is_read(const connection& c) const;

  node& node_;
  const sockets& sockets_;
  const server_options options_;
  publication publication_;
  std::vector<connection> connections_;
  std::map<std::int64_t, int> connections_of_;
  std::int64_t next_reading_ns_ = 0, next_publication_ns_ = 0, next_save_ns_ = 0;
  std::int64_t wanted_until_ns_ = 0;  // somebody waits for counters
};

}  // namespace lull::service
