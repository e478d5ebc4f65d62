// How the engine of waiting (idle_loop.hpp) is driven by an MPI library: its port.
//
// While a call waits, each library runs a loop, and calls something in each turn of it across a boundary between two
// shared libraries. A port redirects that call, and reports each turn as a *beat*: with what the turn found. The engine
// may sleep in a beat, and returns into the library's own loop. It never calls the library.
//
// A port is a file in ports/ and a row of ports/ports.cpp. It is opened after MPI_Init, and says in words for a person
// why it does not apply. Ports share the code for networks (networks/network.hpp).
#pragma once
#include <poll.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpi/front/front.hpp"
#include "mpi/waiting.hpp"

namespace lull::mpi {

enum class turn : std::uint8_t { idle, advanced };

// What the engine must know about a library.
struct port_facts {
  int ranks_of_node = 0;              // 0: take it from the launcher
  bool library_yields = false;        // it is configured to yield its core in each idle turn
  bool yields_are_counted = false;    // it still does so under a policy, and the port counts in call_under_way::yields
  bool rings_exactly = false;         // the port itself rings the receiver of each message in shared memory
  bool sleeps_outside_locks = true;   // another thread of the process can call MPI while one sleeps in a beat
  bool every_arrival_is_seen = true;  // no arrival passes without a beat that says so
  // Ranks of a node pass some collectives on by flags in memory, which no beat shows: MPI_Barrier, MPI_Bcast, MPI_Reduce
  // and MPI_Allreduce.
  bool passes_by_flags = false;
  bool descriptors_show_everything = false;  // also messages of ranks of this node
  std::uint32_t beats_before_clock = 32;     // idle turns before a clock is read: about 3 microseconds
  std::uint32_t beats_before_waiting = 100;
  unsigned beats_to_see_everything = 2;  // idle turns in which the library has looked everywhere
};

// Descriptors on which a message from another node becomes visible.
enum class arming : std::uint8_t {
  none,     // the library has none: nothing but another rank of the node wakes this one
  armed,    // sleep on these
  windows,  // the same, but they signal only what windows transfer
  not_now,  // something has just come
};

struct port {
  // Whether this is the port for the library, judging by its functions and version.
  bool (*is_for)(const library_of_waiting& library);
  // Called before MPI_Init: redirects what is called there, and sets variables that the library reads there. Null: nothing.
  void (*prepare)(const library_of_waiting& library);
  // Called after MPI_Init. Returns an empty text, or why this process cannot wait by a policy.
  std::string (*open)(const library_of_waiting& library, port_facts& facts);
  // Lets the beat reach the engine, or leaves the library as it is.
  void (*engage)(bool by_policy);
  // Adds descriptors to `to`. Called by the thread that is about to sleep.
  arming (*arm)(std::vector<pollfd>& to);
  // Called once the bells exist, if the port rings exactly. Null: nothing.
  void (*ring_with)(class node_bells& bells, bool several_threads);
};

// All ports. The first that is for the library counts; the last is for any.
[[nodiscard]] std::span<const port* const> all_ports();

}  // namespace lull::mpi
