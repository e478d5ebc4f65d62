// The settings of this room: the network between nodes. Merged with those of the other rooms in base/settings.hpp.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array transport{
    setting{
        "LULL_TRANSPORT", setting_type::choice, "auto", "auto|ucx|libfabric",
        "The library that carries messages between nodes. auto: libfabric on hosts with an adapter of Slingshot, "
        "EFA or Omni-Path, and UCX elsewhere. All processes of a job must use the same. Staged output uses UCX in any "
        "case, because libfabric does not report that a process has died."},
    setting{"LULL_LIBFABRIC_PROVIDER", setting_type::text, "", "",
            "The provider of libfabric to be used, such as cxi, efa, \"verbs;ofi_rxm\" or tcp, as fi_info lists them; "
            "unset: the fastest that this host has."},
    setting{"LULL_RENDEZVOUS", setting_type::text, "auto", "",
            "Bytes of a message from which its receiver fetches the data from where they lie, instead of receiving "
            "them with the message; inf: never. auto: UCX_RNDV_THRESH if that is set, otherwise the size that was "
            "measured on this machine."},
};

}  // namespace lull::settings_of
