#include "stage/writing/kept_files.hpp"

#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <exception>

#include "stage/files/messages.hpp"
#include "stage/link/node_socket.hpp"

namespace lull::stage {

void kept_files::keep(write_order file) {
  const std::pair key{file.client, file.number};
  file.number = number;
  files_.insert_or_assign(key, kept{std::move(file)});
}

void kept_files::flushed(int client, std::uint64_t of) {
  if (const auto found = files_.find({client, of}); found != files_.end()) found->second.flushed = true;
}

void kept_files::release(int client, std::uint64_t released) { files_.erase({client, released}); }

std::vector<write_order> kept_files::end_of(int client) {
  std::vector<write_order> orders;
  const auto first = files_.lower_bound({client, 0}), last = files_.upper_bound({client, number});
  for (auto one = first; one != last; ++one)
    if (write_order& order = one->second.order; one->second.flushed)
      orders.push_back(std::move(order));
    else
      withdraw(order.place, order.where.path);
  files_.erase(first, last);
  return orders;
}

int keep_files(const descriptor& socket, bool sync) {
  constexpr int the_client = 0;
  kept_files all;
  std::array<std::byte, largest_message> buffer;
  for (;;) {
    socket_message got = receive_message(socket, buffer, true);
    if (got.state != transfer::done) break;
    packet_reader reader(got.bytes);
    const auto what = reader.take<message>();
    if (what == message::keep) {
      write_order order = take_order(reader);
      order.client = the_client;
      order.content = std::move(got.passed[0]);
      order.place.file = std::move(got.passed[1]);
      if (order.content && order.place.file) all.keep(std::move(order));
    } else if (what == message::flushed) {
      all.flushed(the_client, reader.take<std::uint64_t>());
    } else if (what == message::release) {
      all.release(the_client, reader.take<std::uint64_t>());
    }
  }
  int failed = 0;
  for (const write_order& order : all.end_of(the_client)) try {
      fill_claim(order.content.get(), order.place, order.where, sync);
    } catch (const std::exception& why) {
      std::fprintf(stderr, "lull: %s\n", why.what());
      ++failed;
    }
  return failed;
}

}  // namespace lull::stage
