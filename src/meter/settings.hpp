// The settings of this room: energy sources, and the wire. base/settings.hpp merges them with those of the other rooms.
#pragma once
#include <array>

#include "base/settings.hpp"

namespace lull::settings_of {

inline constexpr std::array meter{
    setting{"LULL_METER_HZ", setting_type::real, "10", "0.1..100", "Samples per second of the energy meter."},
    setting{"LULL_METER_SOURCES", setting_type::text, "", "",
            "Comma-separated names of the energy sources to read (see lull sources); empty: all that are readable."},
    setting{"LULL_SERVICE_SOCKET", setting_type::text, "/run/lull/meter", "",
            "Socket of this node's service, lull-meterd, which reads energy counters for users who may not; off: it is "
            "not used."},
    setting{"LULL_WIRE_INTERFACES", setting_type::text, "", "",
            "Comma-separated network interfaces, InfiniBand or cxi devices whose bytes count as wire traffic; empty: "
            "all physical ones, each wire once. lo makes the loopback represent the link between emulated nodes; "
            "NAME@PID is an interface in the network namespace of that process, for example a container's, and a "
            "suffix =LABEL names its channel."},
    setting{
        "LULL_WIRE_WATTS", setting_type::real, "15", "0..10000",
        "Power of one network interface in watts while it transfers (15 W: one of the four NICs of a Frontier node, "
        "60 W together, in the aggregation study)."},
    setting{"LULL_WIRE_GBPS", setting_type::real, "200", "0.001..100000",
            "One-way bandwidth in Gbit/s at which one network interface draws LULL_WIRE_WATTS (200: Slingshot-11)."},
    setting{"LULL_WIRE_CONVENTION", setting_type::choice, "paper", "paper|full-duplex|clamped",
            "How bytes become time on the wire: paper divides sent + received bytes by the one-way bandwidth, "
            "full-duplex by twice that; clamped is paper, limited to the interface's power times the time."},
    setting{"LULL_WIRE_PER", setting_type::choice, "endpoint", "endpoint|delivered",
            "Which bytes and joules count as a node's wire traffic: endpoint counts each byte that the node sends or "
            "receives, at this end; delivered counts each byte that the node receives, with the cost of both ends."},
    setting{"LULL_ESTIMATE_CPU", setting_type::text, "auto", "",
            "Processor family for the labelled estimate (see lull sources); auto detects it."},
    setting{"LULL_SITE", setting_type::text, "", "",
            "TOML file with this site's power figures and calibration, which replace the built-in ones."},
    setting{"LULL_HWMON_CHANNELS", setting_type::text, "", "",
            "Additional hwmon sensors to read, as comma-separated CHIP/SENSOR=DOMAIN, for example ina226/power1=node."},
    setting{"LULL_NVML_LIBRARY", setting_type::text, "libnvidia-ml.so.1", "",
            "NVIDIA's management library, loaded when the meter starts."},
    setting{"LULL_ROCM_LIBRARY", setting_type::text, "librocm_smi64.so", "",
            "AMD's ROCm SMI library, loaded when the meter starts; a name without a path is also searched for in "
            "/opt/rocm/lib."},
    setting{"LULL_IPMI_COMMAND", setting_type::text, "ipmitool dcmi power reading", "",
            "Command that prints the node's power in the form of ipmitool dcmi power reading; if set, it runs even if "
            "there is no /dev/ipmi0."},
    setting{"LULL_REDFISH_URL", setting_type::text, "", "",
            "URL of the Power or EnvironmentMetrics of this node's chassis, which curl reads with ~/.netrc."},
    setting{"LULL_REDFISH_COMMAND", setting_type::text, "", "",
            "Command that prints that JSON, instead of curl. Records contain it, so it must not contain a password."},
    setting{"LULL_SNMP_COMMAND", setting_type::text, "", "",
            "Command whose output ends with the power or energy of this node's outlet, for example snmpget."},
    setting{"LULL_SNMP_UNIT", setting_type::choice, "W", "W|Wh",
            "Unit of the number that LULL_SNMP_COMMAND prints, if it prints none."},
    setting{"LULL_SNMP_SCALE", setting_type::real, "1", "0.000001..1000000",
            "Factor by which the number of LULL_SNMP_COMMAND is multiplied, for example 0.1 if the outlet shows tenths "
            "of watts."},
    setting{"LULL_IPMI_SCALE", setting_type::real, "1", "0.000001..1000000",
            "Factor by which the power of LULL_IPMI_COMMAND is multiplied."},
    setting{"LULL_REDFISH_SCALE", setting_type::real, "1", "0.000001..1000000",
            "Factor by which the power of LULL_REDFISH_URL or LULL_REDFISH_COMMAND is multiplied."},
    setting{"LULL_NODE_WATTS", setting_type::text, "1..20000", "",
            "Lowest and highest plausible power of a node, in watts; a reading of a meter of the whole node (ipmi, "
            "redfish, snmp, power_meter of hwmon) outside this range counts as a gap."},
    setting{"LULL_COMMAND_INTERVAL_S", setting_type::real, "1", "0.05..3600",
            "Seconds between two runs of a command that reads a meter (ipmi, redfish, snmp)."},
    setting{"LULL_COMMAND_TIMEOUT_S", setting_type::real, "5", "0.05..600",
            "Seconds after which such a command is killed and its reading counts as a gap."},
};

}  // namespace lull::settings_of
