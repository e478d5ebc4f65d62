#include "transport/libfabric/selection.hpp"

#include <netinet/in.h>
#include <rdma/fi_domain.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "transport/libfabric/providers.hpp"
#include "transport/library_environment.hpp"

namespace lull::transport {
namespace {

constexpr std::uint32_t interface_version = FI_VERSION(1, 15);

std::string_view provider_of(const fi_info& one) { return one.fabric_attr->prov_name; }
std::string_view interface_of(const fi_info& one) { return one.domain_attr->name ? one.domain_attr->name : ""; }

// Over verbs, the address only names an adapter.
bool uses_interface(const fi_info& one) {
  if (is_provider(provider_of(one), "verbs")) return false;
  return one.addr_format == FI_SOCKADDR_IN || one.addr_format == FI_SOCKADDR_IN6 || one.addr_format == FI_SOCKADDR;
}

bool is_loopback(const fi_info& one) {
  if (interface_of(one) == "lo") return true;
  if (one.src_addr == nullptr) return false;
  const auto* const address = static_cast<const sockaddr*>(one.src_addr);
  if (address->sa_family == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24U) == IN_LOOPBACKNET;
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

// Interfaces of containers and virtual machines have the same addresses on every host.
bool is_of_this_host_only(const fi_info& one) {
  return is_loopback(one) ||
         std::ranges::any_of(std::array{"docker", "virbr", "cni", "br-", "lxcbr", "podman"},
                             [&](const char* begin) { return interface_of(one).starts_with(begin); });
}

// A table order: the smallest is chosen.
auto rank(const fi_info& one, const options& wanted) {
  const bool wrong_side = uses_interface(one) && is_of_this_host_only(one) != wanted.one_host;
  return std::tuple(row_of_provider(provider_of(one)), wrong_side, one.addr_format == FI_SOCKADDR_IN6);
}

// Settings that providers read when libfabric starts. Where one host has several nodes, efa and rxm have no memory of
// other processes to fear.
std::vector<library_environment::variable> defaults(const options& wanted) {
  return {
      // verbs;ofi_rxm makes its queues for this many peers: for 256, an adapter may have no room.
      {"FI_UNIVERSE_SIZE", std::to_string(std::max(wanted.processes, 4))},
      // Receives of 16 KiB that tcp;ofi_rxm posts for all peers together. Its default of 4096 takes 51 MiB more in each
      // process (1.17); over verbs, where this is the number for each peer, it is the default.
      {"FI_OFI_RXM_MSG_RX_SIZE", "128"},
      // Its transfers within a host have no descriptor to sleep on.
      {"FI_EFA_ENABLE_SHM_TRANSFER", "0"},
  };
}

info_list offered(std::string_view provider, bool exposes_memory, bool progress_by_thread) {
  const info_list hints(libfabric.fi_dupinfo(nullptr));
  if (!hints) throw error("find a provider of libfabric", "there is no memory for its settings");
  hints->caps = FI_MSG | FI_TAGGED;
  if (exposes_memory) hints->caps |= FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_ENDPOINT | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;  // calls come one at a time
  hints->domain_attr->av_type = FI_AV_TABLE;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  if (progress_by_thread) hints->domain_attr->control_progress = hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
  if (!provider.empty()) hints->fabric_attr->prov_name = strdup(std::string(provider).c_str());
  if (is_provider(provider, "verbs")) hints->addr_format = FI_SOCKADDR_IN;  // its default is a link-local address
  fi_info* found = nullptr;
  if (libfabric.fi_getinfo(interface_version, nullptr, nullptr, 0, hints.get(), &found) < 0) return nullptr;
  return info_list(found);
}

bool may_be_taken(const fi_info& one, std::string_view named) {
  const std::string_view provider = provider_of(one);
  const auto has_name = [&](std::string_view name) { return is_provider(provider, name); };
  if (std::ranges::any_of(unusable, has_name, &unusable_provider::name)) return false;
  if (!named.empty()) return is_provider(provider, named) || provider == named;
  return std::ranges::none_of(only_if_named, has_name);
}

const fi_info* best(const fi_info* all, std::string_view named, const options& wanted) {
  const fi_info* found = nullptr;
  for (const fi_info* one = all; one != nullptr; one = one->next)
    if (may_be_taken(*one, named) && (found == nullptr || rank(*one, wanted) < rank(*found, wanted))) found = one;
  return found;
}

bool has_entry(const char* folder, std::string_view begin) {
  std::error_code none;
  return std::ranges::any_of(std::filesystem::directory_iterator(folder, none),
                             [&](const auto& entry) { return entry.path().filename().string().starts_with(begin); });
}

}  // namespace

selection select_provider(const options& wanted, bool exposes_memory) {
  const library_environment environment(defaults(wanted));
  load_libfabric();
  const std::string named = setting_text("LULL_LIBFABRIC_PROVIDER");
  for (const auto& [name, because] : unusable)
    if (is_provider(named, name))
      throw usage_error("use the provider " + named + " of libfabric",
                        std::string(because) + " (seen with libfabric 1.17)",
                        "set LULL_LIBFABRIC_PROVIDER=tcp, or unset it");
  info_list all = offered(named, exposes_memory, false);
  const fi_info* chosen = best(all.get(), named, wanted);
  if (chosen != nullptr && providers[row_of_provider(provider_of(*chosen))].progress_by_thread) {
    all = offered(provider_of(*chosen), exposes_memory, true);
    chosen = best(all.get(), named, wanted);
  }
  if (chosen == nullptr)
    throw error("find a provider of libfabric",
                (named.empty() ? "none" : named + " does not") + std::string(named.empty() ? " offers" : " offer") +
                    " reliable messages on this host",
                "run fi_info -t FI_EP_RDM to see those that do, and name one in LULL_LIBFABRIC_PROVIDER; or set "
                "LULL_TRANSPORT=ucx");
  if (wanted.one_host && uses_interface(*chosen) && !is_loopback(*chosen))
    throw error("join the emulated nodes of this host", "its loopback interface is not up", "run ip link set lo up");
  return {std::move(all), chosen};
}

bool has_adapter_of_libfabric() {
  return has_entry("/sys/class/cxi", "") || has_entry("/sys/class/infiniband", "efa_") ||
         has_entry("/sys/class/infiniband", "hfi1_");
}

}  // namespace lull::transport
