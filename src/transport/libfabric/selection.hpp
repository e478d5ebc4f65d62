// Selects a provider and an interface among those that libfabric offers.
#pragma once
#include "transport/libfabric/library.hpp"
#include "transport/options.hpp"

namespace lull::transport {

struct selection {
  info_list all;
  const fi_info* chosen;  // one of them
};

// LULL_LIBFABRIC_PROVIDER names the provider; otherwise the first that the table in providers.hpp prefers is taken.
// With options::one_host it is reached over the loopback, otherwise over an interface of a network if there is one.
// Loads libfabric. Throws lull::error if nothing fits.
[[nodiscard]] selection select_provider(const options& wanted, bool exposes_memory);

// Whether this host has an adapter for which libfabric is better than UCX. Does not load libfabric.
[[nodiscard]] bool has_adapter_of_libfabric();

}  // namespace lull::transport
