// What the tests of files that several processes write have in common.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "stage/shared/node_files.hpp"
#include "surroundings.hpp"

namespace lull::stage {

inline constexpr std::size_t KiB = 1024;

// Processes of one node, all in this one: clients at the first positions, servers behind them.
class node {
 public:
  node(int clients, int servers, std::size_t arena_bytes = 64 * KiB, bool close_waits = false,
       const place_of_node& among = {})
      : clients_(clients) {
    const auto all = static_cast<std::size_t>(clients + servers);
    const descriptor pages = directory::new_pages(all, arena_bytes);
    for (int position = 0; position < clients + servers; ++position) {
      const int server = position < clients ? clients + position % servers : position;
      views_.push_back(
          std::make_shared<directory>(descriptor(dup(pages.get())), all, arena_bytes, position, server, among));
    }
    for (int position = 0; position < clients; ++position)
      files_.push_back(std::make_unique<node_files>(
          views_[static_cast<std::size_t>(position)],
          node_files::settings{.close_waits = close_waits, .sync_waits = true}, storage_limit()));
  }

  void serve() {
    for (int i = clients_; i < static_cast<int>(views_.size()); ++i) serve(i);
  }
  void serve(int position) {
    threads_.push_back(
        std::make_unique<server_thread>(views_[static_cast<std::size_t>(position)], position, storage_limit()));
  }
  server_figures finish() {
    server_figures all;
    for (auto& one : threads_) all += one->finish();
    threads_.clear();
    return all;
  }
  [[nodiscard]] node_files& client(int position) { return *files_[static_cast<std::size_t>(position)]; }
  [[nodiscard]] int clients() const { return clients_; }
  [[nodiscard]] directory& view(int position) { return *views_[static_cast<std::size_t>(position)]; }

 private:
  int clients_;
  std::vector<std::shared_ptr<directory>> views_;
  std::vector<std::unique_ptr<node_files>> files_;
  std::vector<std::unique_ptr<server_thread>> threads_;
};

class shared_files_of_a_node : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name = "file") const {
    const std::string path = (folder_.path() / name).string();
    descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    return path;
  }

  temporary_folder folder_;
};

inline void write(node_files& by, int number, std::int64_t offset, const std::string& text,
                  const collective_call& of = {}) {
  const piece one{offset, static_cast<std::int64_t>(text.size())};
  std::byte* const to = by.room(1, text.size());
  ASSERT_NE(to, nullptr);
  std::memcpy(to, text.data(), text.size());
  by.write(number, {&one, 1}, to, of);
}

}  // namespace lull::stage
