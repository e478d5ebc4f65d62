"""`tolerance` in a simulation: what the critical path consists of, and what the program bears."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lull
from conftest import Lull
from lull.base.errors import UsageError
from lull.simulation.tolerance import Tolerance

NET: dict[str, Any] = {
    "tolerance": "1 %",
    "topology": {"name": "hyperx", "dimensions": [3, 3], "nodes_per_switch": 2},
    "jobs": [{"name": "fe", "pattern": "minife", "processes": 16, "elements": [16, 16, 16], "steps": 5}],
}
FILE = """
tolerance = 0.01
topology = { name = "hyperx", dimensions = [3, 3], nodes_per_switch = 2 }
jobs = [{ name = "fe", pattern = "minife", processes = 16, elements = [16, 16, 16], steps = 5 }]
"""


def tolerance(content: dict[str, Any], **options: Any) -> Tolerance:
    found = lull.simulate(content, **options).repeats[0].jobs[0].tolerance
    assert found is not None
    return found


def run_time(content: dict[str, Any]) -> float:
    return lull.simulate(content, baseline=False).repeats[0].jobs[0].run_time_s


def test_parts_of_the_critical_path_are_the_run_time() -> None:
    found = tolerance(NET)
    path = found.path
    parts = path.computing_s + path.sending_s + path.latency_s + path.queueing_s + path.memory_s
    assert parts == pytest.approx(found.run_time_s)
    assert found.run_time_s == pytest.approx(run_time(NET))
    assert found.sleeps == []
    assert [one.of for one in found.delays] == ["message", "cable", "node cable", "switch cable", "byte"]
    assert found.of("cable").growth == found.of("node cable").growth + found.of("switch cable").growth
    assert found.bandwidth is not None and 0 < found.bandwidth < 1


def test_longer_cables_slow_it_down_by_what_it_bears() -> None:
    found = tolerance(NET)
    longer = found.of("cable").most_s
    assert longer is not None
    plain = {key: value for key, value in NET.items() if key != "tolerance"}
    slower = run_time({**plain, "network": {"cable_delay": f"{50 + longer * 1e9} ns", "input_buffer": "16 MiB"}})
    assert slower / found.run_time_s - 1 == pytest.approx(0.01, abs=0.003)


def test_sleeping_links_slow_it_down_as_predicted() -> None:
    modes = [{"mode": "deep-sleep", "hold": "1 Ts"}, {"mode": "fast-wake", "hold": "0 s"}]
    found = tolerance({**NET, "savings": modes})
    plain = {key: value for key, value in NET.items() if key != "tolerance"}
    for one, mode in zip(found.sleeps, modes, strict=True):
        slower = run_time({**plain, "power": mode}) / found.run_time_s - 1
        assert one.slowdown == pytest.approx(slower, rel=0.5)
        assert one.shortest_slowdown <= 0.01
        assert 0 <= one.shortest_saved <= one.saved <= 1


def test_of_sleeping_links_it_is_that_of_active_ones() -> None:
    assert tolerance({**NET, "power": {"mode": "deep-sleep"}}) == tolerance(NET)
    with pytest.raises(UsageError, match="tolerance follow from links that never delay a packet"):
        lull.simulate({**NET, "power": {"mode": "deep-sleep"}}, baseline=False)


def test_goal_has_one_too(tmp_path: Path) -> None:
    goal = tmp_path / "two.goal"
    goal.write_text("num_ranks 2\nrank 0 { l1: send 8b to 1 tag 0 }\nrank 1 { l1: recv 8b from 0 tag 0 }\n")
    found = tolerance({**NET, "jobs": [{"pattern": "goal", "goal": str(goal)}]})
    assert found.path.messages == 1
    assert found.of("message").most_s == pytest.approx(0.01 * found.run_time_s)


def test_command_prints_it(lull: Lull) -> None:
    (lull.folder / "net.toml").write_text(FILE)
    said = lull.run("simulate", "net.toml", "--savings", "--out", "net", "--plots", "plots").stdout
    plot = (lull.folder / "plots" / "tolerance.svg").read_text()
    assert "net: 1.0 % slower with" in plot and "of the bandwidth" in plot
    assert "critical path of fe: computing" in said
    assert "until 1.0 % slower" in said
    assert "by the critical path" in said
    job = json.loads((lull.folder / "net" / "simulation.json").read_text())["repeats"][0]["jobs"][0]
    assert len(job["tolerance"]["sleeps"]) == 11
