// What Lull knows of libfabric's providers: a row for each. A provider without a row is used as the last row says.
//
// Sources: the manual of each provider, https://ofiwg.github.io/libfabric/main/man/fi_NAME.7.html (of August 2026), the
// source of libfabric 2.7 where the manual is silent, and what the tests have shown for tcp, verbs and shm.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lull::transport {

// How a put becomes visible to every processor of the target.
enum class visible : std::uint8_t {
  when_delivered,  // when it completes, if it was begun with FI_DELIVERY_COMPLETE
  after_a_read,    // when a later read of the target has completed: a completion shows only that the adapter has it
};

struct provider_facts {
  std::string_view name;  // the provider's name is this, or begins with this and ";"
  bool is_fabric;         // an adapter for which LULL_TRANSPORT=auto takes libfabric
  bool by_itself;         // RDMA needs no help from the target's process
  visible puts = visible::when_delivered;
  std::size_t piece = std::size_t{64} << 10U;  // largest message, in bytes: longer ones are sent in pieces
  bool progress_by_thread = false;             // its descriptor is signalled only by its own progress thread
  bool misses_wakeups = false;                 // if another thread calls it while one is about to sleep
};

// In the order in which they are preferred.
inline constexpr std::array providers{
    // Slingshot. Messages from FI_CXI_RDZV_THRESHOLD (16 KiB) on use a rendezvous, at most 256 of them at a time.
    // Its manual describes a race of fi_trywait() with another thread.
    provider_facts{
        .name = "cxi", .is_fabric = true, .by_itself = true, .piece = std::size_t{12} << 10U, .misses_wakeups = true},
    // The adapter reads and writes by itself, but libfabric may emulate both; FI_OPT_EFA_EMULATED_* would tell.
    provider_facts{.name = "efa", .is_fabric = true, .by_itself = false},
    provider_facts{.name = "opx", .is_fabric = true, .by_itself = false},
    provider_facts{.name = "psm2", .is_fabric = true, .by_itself = false, .progress_by_thread = true},
    // A completion is the acknowledgement of the target's adapter.
    provider_facts{.name = "verbs", .is_fabric = false, .by_itself = true, .puts = visible::after_a_read},
    provider_facts{.name = "tcp", .is_fabric = false, .by_itself = false},
    // psm3 runs over any Ethernet or InfiniBand adapter, in place of tcp and verbs.
    provider_facts{.name = "psm3", .is_fabric = false, .by_itself = false, .progress_by_thread = true},
    provider_facts{.name = "shm", .is_fabric = false, .by_itself = false},
    provider_facts{.name = "", .is_fabric = false, .by_itself = false},
};

// Never taken unless named: shm reaches no other host, psm3 uses the adapters of tcp and verbs, and lnx and ucx use
// other providers and libraries.
inline constexpr std::array only_if_named{std::string_view("shm"), std::string_view("lnx"), std::string_view("psm3"),
                                          std::string_view("ucx")};

// Never taken, because messages were lost or never arrived with 1.17; tcp does the same work.
struct unusable_provider {
  std::string_view name, because;
};
inline constexpr std::array unusable{
    // Of many messages that wait, it drops some that were injected. It looks at a header (MSG_PEEK) until all 24 bytes
    // are there; if the kernel holds only a part of it in a receive buffer that is full, the sender's window stays shut.
    unusable_provider{"sockets", "it loses messages, or hangs, when two processes send many to each other"},
    unusable_provider{"udp", "it loses large messages"},
    unusable_provider{"net", "it does not wake a process that sleeps"},
};

// Whether the full name of a provider, such as "tcp;ofi_rxm", is that of the row.
[[nodiscard]] constexpr bool is_provider(std::string_view full, std::string_view name) {
  return full.starts_with(name) && (full.size() == name.size() || full[name.size()] == ';' || name.empty());
}

// The place of its row in the table.
[[nodiscard]] constexpr std::size_t row_of_provider(std::string_view full) {
  std::size_t row = 0;
  while (!is_provider(full, providers[row].name)) ++row;
  return row;
}

}  // namespace lull::transport
