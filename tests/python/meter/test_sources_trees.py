"""`lull sources --sysroot TREE --format json` on every fixture tree, and the totals of the channels found."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import Lull
from lull import _core
from lull.record import Domain, Energy, EnergyKind
from lull.record.totals import disbelieved, node_totals, processors
from places import TESTS

WRITER = TESTS / "fixtures" / "make_sysfs_fixtures.py"

# Channels of the sources that a measurement on each tree would use.
USED = {
    "intel_2s_server": ["powercap:package-0", "powercap:package-1", "powercap:dram-0", "powercap:dram-1"],
    "intel_client_psys_mmio": ["powercap:psys", "powercap:package-0"],
    "intel_multidie": ["powercap:package-0-die-0", "powercap:package-0-die-1"],
    "amd_2s": ["powercap:package-0", "powercap:package-1", "hwmon:power_meter"],
    "range_zero": ["powercap:package-0"],
    "vm_nothing": ["estimate:package", "estimate:dram"],
    "cray_ex": [
        *("pm_counters:node", "pm_counters:cpu", "pm_counters:memory"),
        *(f"pm_counters:accel{i}" for i in range(4)),
        *(f"cxi:cxi{i}{what}" for i in range(4) for what in ("", "-nic")),
    ],
    "cray_xc": ["pm_counters:node"],
    "grace": ["grace:module-0"],
    "grace_superchip": ["grace:socket-0", "grace:socket-1"],
    "amd_hsmp": ["powercap:package-0", "powercap:package-1", "hsmp:socket-0", "hsmp:socket-1"],
    "intel_gpu": ["hwmon:i915"],
    "ib_mlx5": ["infiniband:mlx5_0", "infiniband:mlx5_0-nic"],
    "ib_bnxt": ["infiniband:bnxt_re0", "infiniband:bnxt_re0-nic"],
    "eth": ["net:eth0", "net:eth0-nic"],
    "tools": [],
    # Trees for lowering the frequency: they have no source of energy.
    **{f"cpufreq_{kind}": [] for kind in ("userspace", "limit", "preference", "shared", "closed")},
}

# Domains in the totals, and the channel or sum of the node.
TOTALS = {
    "intel_2s_server": "package + dram",
    "intel_client_psys_mmio": "powercap:psys",
    "intel_multidie": "package",
    "amd_2s": "hwmon:power_meter",
    "range_zero": "package",
    "vm_nothing": "package + dram",
    "cray_ex": "pm_counters:node",
    "cray_xc": "pm_counters:node",
    "grace": "package",
    "grace_superchip": "package",
    "amd_hsmp": "package",
}


@pytest.fixture(autouse=True)
def every_source(lull: Lull) -> None:
    lull.sources = ""


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trees")
    subprocess.run([sys.executable, str(WRITER), str(folder)], check=True, capture_output=True)
    return folder


def sources_of(lull: Lull, tree: Path) -> list[dict[str, Any]]:
    done = lull.run("sources", "--sysroot", str(tree), "--format", "json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def channels_in_use(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [channel for source in found if source["used"] for channel in source["channels"]]


def test_every_tree_has_an_expectation(trees: Path) -> None:
    assert {path.name for path in trees.iterdir()} == set(USED)


@pytest.mark.parametrize("name", USED)
def test_a_measurement_uses_what_the_tree_offers_and_nothing_twice(lull: Lull, trees: Path, name: str) -> None:
    found = sources_of(lull, trees / name)
    assert [channel["name"] for channel in channels_in_use(found)] == USED[name]
    for source in found:
        assert source["used"] == (not source["reason"]), source["name"]
        assert source["permission"]
        assert source["unit"]


@pytest.mark.parametrize("name", USED)
def test_the_total_of_a_tree_counts_nothing_twice(lull: Lull, trees: Path, name: str) -> None:
    energies = [
        Energy(
            node="a",
            domain=Domain(channel["domain"]),
            channel=channel["name"],
            kind=EnergyKind(channel["kind"]),
            joules=1,
            low_j=1,
            high_j=1,
        )
        for channel in channels_in_use(sources_of(lull, trees / name))
    ]
    nodes = [total for total in node_totals(energies) if total.domain is Domain.NODE]
    assert [total.channel for total in nodes] == ([TOTALS[name]] if name in TOTALS else [])


def test_a_machine_that_only_counts_traffic_is_not_said_to_estimate_its_node(lull: Lull, trees: Path) -> None:
    done = lull.run("sources", "--sysroot", str(trees / "eth"))
    assert done.stdout.strip().endswith("Only traffic is counted: the consumption of the node is unknown.")


def test_perf_that_is_forbidden_says_the_line_that_mends_it(lull: Lull, trees: Path) -> None:
    [perf] = [s for s in sources_of(lull, trees / "intel_2s_server") if s["name"] == "perf"]
    assert not perf["readable"]
    assert perf["fix"] == "sudo sysctl kernel.perf_event_paranoid=0"
    assert [c["name"] for c in perf["channels"]] == [
        "perf:package-0",
        "perf:package-1",
        "perf:dram-0",
        "perf:dram-1",
    ]


def test_a_platform_counter_that_stays_at_0_is_named_and_in_no_total(lull: Lull, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(WRITER), str(tmp_path), "intel_client_psys_mmio"], check=True, capture_output=True
    )
    tree = tmp_path / "intel_client_psys_mmio"
    energy_uj = tree / "sys/class/powercap/intel-rapl:1/energy_uj"
    energy_uj.chmod(0o600)
    energy_uj.write_text("0\n")
    [rapl] = [s for s in sources_of(lull, tree) if s["name"] == "powercap"]
    assert [c["name"] for c in rapl["channels"]] == ["powercap:package-0"]
    assert rapl["used"]
    assert "the counter of powercap:psys stays at 0" in lull.run("sources", "--sysroot", str(tree)).stdout


@pytest.mark.parametrize(
    ("name", "variable", "command"),
    [
        ("ipmi", "LULL_IPMI_COMMAND", "cat ipmitool_dcmi.txt"),
        ("redfish", "LULL_REDFISH_COMMAND", "cat redfish_environment_metrics.json"),
        ("snmp", "LULL_SNMP_COMMAND", "head -1 pdu_snmpwalk.txt"),
    ],
)
def test_a_command_meters_the_node(lull: Lull, trees: Path, name: str, variable: str, command: str) -> None:
    lull.env[variable] = f"cd {trees / 'tools'} && {command}"
    [source] = [s for s in sources_of(lull, trees / "intel_2s_server") if s["name"] == name]
    assert source["used"]
    assert [(c["domain"], c["kind"]) for c in source["channels"]] == [("node", "measured")]


def test_a_command_that_is_not_there_is_said_in_one_line(lull: Lull, trees: Path) -> None:
    lull.env["LULL_IPMI_COMMAND"] = "no-such-tool"
    [ipmi] = [s for s in sources_of(lull, trees / "tools") if s["name"] == "ipmi"]
    assert "exit status 127" in ipmi["reason"]
    assert len(ipmi["reason"].splitlines()) == 1


def test_a_site_file_with_a_wrong_key_is_refused_in_one_line(lull: Lull, trees: Path, tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text("[processor]\nidle_wats = 3\n")
    lull.env["LULL_SITE"] = str(site)
    done = lull.run("sources", "--sysroot", str(trees / "vm_nothing"))
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "did you mean 'idle_watts'?" in line


def test_a_calibration_is_a_table_of_a_site_file() -> None:
    text = _core.calibration_toml((0.1, 120.0), (0.9, 280.0), "ipmi", "2026-11-20")
    table = tomllib.loads(text)["calibration"]
    assert table["idle_watts"] == pytest.approx(100)
    assert table["full_watts"] == pytest.approx(300)
    with pytest.raises(_core.CoreError, match="too close"):
        _core.calibration_toml((0.1, 120.0), (0.15, 130.0), "ipmi", "2026-11-20")


def energy(channel: str, domain: Domain, joules: float, kind: EnergyKind = EnergyKind.MEASURED) -> Energy:
    return Energy(node="a", domain=domain, channel=channel, kind=kind, joules=joules, low_j=joules, high_j=joules)


@pytest.mark.parametrize("meter", ["pm_counters:node", "ipmi:node", "redfish:node", "snmp:node"])
def test_a_meter_of_the_node_wins_over_parts_and_over_psys(meter: str) -> None:
    [total] = node_totals(
        [
            energy("powercap:psys", Domain.NODE, 200, EnergyKind.VENDOR_MODEL),
            energy("powercap:package-0", Domain.PACKAGE, 100, EnergyKind.VENDOR_MODEL),
            energy("nvml:gpu0", Domain.GPU, 50),
            energy(meter, Domain.NODE, 300),
        ]
    )
    assert (total.channel, total.joules) == (meter, 300)


def test_accelerators_of_different_makers_add_up_and_one_card_counts_once() -> None:
    package = energy("powercap:package-0", Domain.PACKAGE, 100)
    cards = [energy(f"{name}:gpu0", Domain.GPU, 10) for name in ("nvml", "rocm")]
    amdgpu = energy("hwmon:amdgpu", Domain.GPU, 11)
    [total] = node_totals([package, *cards, amdgpu])
    assert total.joules == 120
    [total] = node_totals([package, cards[0], amdgpu])
    assert total.joules == 121


def test_pm_counters_accelerators_are_those_of_nvml() -> None:
    [total] = node_totals(
        [
            energy("pm_counters:cpu", Domain.PACKAGE, 100),
            energy("pm_counters:accel0", Domain.GPU, 10),
            energy("nvml:gpu0", Domain.GPU, 9),
        ]
    )
    assert total.joules == 110


def test_a_grace_hopper_module_holds_its_gpu() -> None:
    [total] = node_totals([energy("grace:module-0", Domain.PACKAGE, 600), energy("nvml:gpu0", Domain.GPU, 400)])
    assert (total.channel, total.joules) == ("package", 600)


def test_a_network_card_is_in_no_total() -> None:
    package = energy("powercap:package-0", Domain.PACKAGE, 100)
    assert [t.joules for t in node_totals([package, energy("net:eth0-nic", Domain.NIC, 15)])] == [100]


def test_a_meter_of_the_node_that_counts_less_than_its_packages_is_not_the_node() -> None:
    inside = [energy("powercap:package-0", Domain.PACKAGE, 100), energy("powercap:dram-0", Domain.DRAM, 20)]
    psys = energy("powercap:psys", Domain.NODE, 70, EnergyKind.VENDOR_MODEL)
    snmp = energy("snmp:node", Domain.NODE, 0.3)  # kilowatts taken for watts
    [total] = node_totals([psys, *inside, snmp])
    assert (total.channel, total.joules) == ("package + dram", 120)
    assert disbelieved([psys, *inside, snmp]) == [psys, snmp]


def test_of_a_node_whose_gpus_alone_are_metered_these_are_the_total() -> None:
    gpus = [energy(f"nvml:gpu{i}", Domain.GPU, 10) for i in range(2)]
    [total] = node_totals(gpus)
    assert (total.domain, total.channel, total.joules) == (Domain.GPU, "gpu", 20)
    assert processors(gpus) is None
