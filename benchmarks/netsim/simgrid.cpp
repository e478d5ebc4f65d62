// Sends the messages of a file through a fat tree in SimGrid 3.32, for benchmarks/netsim.py.
//
//   simgrid MESSAGES   lines "from to time_ps bytes", by time
//
// The tree is fat-tree-4608: 8 pods of 24 edge switches of 24 nodes and 24 aggregation switches, 96 core switches. A
// link carries 100 Gbit/s and has the delay of a cable and a switch, 150 ns. The flow model is the plain one (CM02),
// without corrections for TCP. Prints one line of JSON: the messages delivered, CPU seconds of the event loop, and
// simulated times.
#include <simgrid/s4u.hpp>

#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

struct message {
  unsigned long from, to;
  double time, bytes;
};

std::vector<message> read_messages(const char* path) {
  std::ifstream file(path);
  std::vector<message> messages;
  for (message m{}; file >> m.from >> m.to >> m.time >> m.bytes;) {
    m.time *= 1e-12;
    messages.push_back(m);
  }
  return messages;
}

std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*> make_node(
    sg4::NetZone* zone, const std::vector<unsigned long>& /*place*/, unsigned long number) {
  const sg4::Host* host = zone->create_host("node-" + std::to_string(number), "1Gf")->seal();
  return {host->get_netpoint(), nullptr};
}

}  // namespace

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  if (argc != 2) {
    std::cerr << "usage: simgrid MESSAGES\n";
    return 2;
  }
  sg4::Engine::set_config("network/model:CM02");
  sg4::Engine::set_config("surf/precision:1e-12");
  sg4::Engine::set_config("network/TCP-gamma:0");
  sg4::Engine::set_config("network/crosstraffic:0");
  const std::vector<message> messages = read_messages(argv[1]);

  // Per level: links down, links up, parallel cables.
  const sg4::FatTreeParams tree(3, {24, 24, 8}, {1, 24, 4}, {1, 1, 6});
  sg4::create_fatTree_zone("tree", nullptr, tree, sg4::ClusterCallbacks(make_node), 12.5e9, 150e-9,
                           sg4::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();

  unsigned long delivered = 0;
  double latency = 0;
  sg4::Comm::on_completion_cb([&](const sg4::Activity& comm) {
    ++delivered;
    latency += comm.get_finish_time() - comm.get_start_time();
  });
  sg4::Actor::create("sender", sg4::Host::by_name("node-0"), [&] {
    std::vector<sg4::CommPtr> sent;
    for (const message& m : messages) {
      sg4::this_actor::sleep_until(m.time);
      sent.push_back(sg4::Comm::sendto_async(sg4::Host::by_name("node-" + std::to_string(m.from)),
                                             sg4::Host::by_name("node-" + std::to_string(m.to)),
                                             static_cast<uint64_t>(m.bytes)));
    }
    sg4::Comm::wait_all(sent);
  });
  const std::clock_t before = std::clock();
  engine.run();
  const double cpu = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  std::cout << "{\"messages\": " << delivered << ", \"cpu_s\": " << cpu
            << ", \"mean_latency_us\": " << latency / static_cast<double>(delivered) * 1e6
            << ", \"ended_us\": " << sg4::Engine::get_clock() * 1e6 << "}\n";
}
