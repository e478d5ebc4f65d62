"""What power modes save without waits, all from one simulation, is what a simulation for each of them gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lull
from conftest import Lull
from lull.base.errors import LullError
from lull.simulation.account import SimulationFile, read_simulation

NET: dict[str, Any] = {
    "seed": 5,
    "topology": {"name": "fat-tree", "radix": 8},
    "power": {"mode": "hybrid", "hold": "2 Ts", "preset": "25GBASE-R", "quiet_time": "30 us"},
    "jobs": [
        {"pattern": "neighbours-2d", "arrivals": "closed", "iterations": 4, "processes": 20, "compute": "50 us"},
        {"load": 0.2, "messages": 20, "processes": 30},
    ],
}
FILE = """
seed = 5
topology = { name = "fat-tree", radix = 8 }
power = { mode = "hybrid", hold = "2 Ts", preset = "25GBASE-R", quiet_time = "30 us" }
jobs = [{ load = 0.2, messages = 20, processes = 30 }]
"""


@pytest.fixture
def net(lull: Lull) -> Lull:
    (lull.folder / "net.toml").write_text(FILE)
    return lull


def test_savings_are_those_of_a_simulation_for_each_mode() -> None:
    modes = [
        {"mode": "deep-sleep", "hold": "0 us"},
        {"mode": "deep-sleep", "hold": "1 Ts", "preset": "40GBASE-R", "deep_share": 0.2},
        {"mode": "fast-wake", "hold": "3 us"},
        {"mode": "hybrid", "hold": "1 Ts", "hybrid_hold": "10 us", "quiet_time": "20 us"},
    ]
    found = lull.simulate({**NET, "savings": modes}).repeats[0]
    plain = lull.simulate(NET).repeats[0]
    assert found.model_copy(update={"savings": [], "simulator_cpu_s": 0}) == plain.model_copy(
        update={"simulator_cpu_s": 0}
    )
    assert len(found.savings) == len(modes)
    for saving, mode in zip(found.savings, modes, strict=True):
        assert saving.settings["mode"] == mode["mode"]
        alone = lull.simulate({**NET, "power": {**mode, "wake_delays": False}}, baseline=False).repeats[0]
        for one, other in (
            (saving.power, alone.power),
            (saving.network_power, alone.network_power),
            (saving.used_power, alone.used_power),
        ):
            assert other is not None
            assert one.wakes == other.wakes
            assert one.states == pytest.approx(other.states, rel=1e-12, abs=1e-12)
            assert one.saved == pytest.approx(other.saved, rel=1e-12)
    assert 0 < found.savings[0].power.saved < 1


def test_every_mode_is_computed_with_the_technology_of_the_file(net: Lull) -> None:
    done = net.run("simulate", "net.toml", "--out", "out", "--savings")
    assert done.returncode == 0, done.stderr
    assert "saved without waits" in done.stdout
    file = read_simulation(net.folder / "out")
    savings = file.repeats[0].savings
    assert [(one.settings["mode"], one.settings["hold"]) for one in savings].count(("hybrid", "1.1 us")) == 1
    assert [one.settings["mode"] for one in savings] == ["deep-sleep"] * 4 + ["fast-wake"] * 4 + ["hybrid"] * 3
    assert {one.settings["preset"] for one in savings} == {"25GBASE-R"}
    assert {one.settings.get("quiet_time") for one in savings} == {"30 us", None}
    again = net.run("simulate", "out/simulation.json", "--out", "again", "--format", "json")
    assert SimulationFile.model_validate_json(again.stdout).repeats[0].savings == savings


def test_savings_need_links_that_delay_no_packet(net: Lull) -> None:
    refused = net.run("simulate", "net.toml", "--out", "out", "--savings", "--no-baseline")
    assert refused.returncode != 0
    assert "savings follow from links that never delay a packet" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    free = net.run(
        "simulate", "net.toml", "--out", "o", "--savings", "--no-baseline", "--set", "power.wake_delays=false"
    )
    assert free.returncode == 0, free.stderr
    held = read_simulation(net.folder / "o").repeats[0]
    same = next(one for one in held.savings if (one.settings["mode"], one.settings["hold"]) == ("hybrid", "2.2 us"))
    assert same.power.saved == pytest.approx(held.power.saved, rel=1e-12)


@pytest.mark.parametrize(
    ("savings", "names"),
    [
        ([{"hold": "1 us"}], "savings.0.mode is missing"),
        ([{"mode": "adaptive-rate"}], "savings.0.mode"),
        ([{"mode": "deep-sleep", "bound": 0.1}], "savings.0.bound"),
        ([{"mode": "deep-sleep"}, {"mode": "deep-sleep", "wake_fast": "1 us"}], "savings.1.wake_fast"),
        ({"mode": "deep-sleep"}, "savings is not a list of tables"),
        ([{"mode": "deep-sleep"}] * 22, "savings has 22 power modes"),
    ],
)
def test_a_mistake_in_savings_is_reported_with_its_key(savings: object, names: str) -> None:
    with pytest.raises(LullError, match=names.replace(".", r"\.")):
        lull.simulate({**NET, "savings": savings})


def test_savings_are_refused_with_power_aware_routing() -> None:
    described = {**NET, "routing": {"algorithm": "power-aware"}, "savings": [{"mode": "deep-sleep"}]}
    with pytest.raises(LullError, match="paths depend on the power mode"):
        lull.simulate(described)


def test_a_sweep_computes_them_at_its_points_with_active_links(net: Lull) -> None:
    (net.folder / "net.toml").write_text(FILE + '[[savings]]\nmode = "deep-sleep"\n')
    sweep: Path = net.folder / "sweep.toml"
    sweep.write_text('base = "net.toml"\n[matrix]\n"power.mode" = ["deep-sleep", "hybrid"]\n')
    done = net.run("simulate", "--sweep", "sweep.toml", "--out", "out", "--workers", "1")
    assert done.returncode == 0, done.stderr
    found = {
        path.parent.name: len(json.loads(path.read_bytes())["repeats"][0]["savings"])
        for path in (net.folder / "out").rglob("simulation.json")
    }
    assert found == {"mode-active": 1, "mode-deep-sleep": 0, "mode-hybrid": 0}
    refused = net.run("simulate", "--sweep", "sweep.toml", "--out", "other", "--savings")
    assert "--savings is for one simulation" in refused.stderr
