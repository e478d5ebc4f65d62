"""A command's share of a node that it shares with other programs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Lull
from lull import record
from lull.measurement.summary import share_in_words
from lull.record import EnergyKind, IdlePower, Run
from lull.record.share import share_of_node
from records import run


def shared(*, others_cpu_s: float, watts: float | None = None) -> Run:
    """Six repeats of 10 s and 20 CPU seconds, on half of the CPUs of a node that others use."""
    whole = run(times=[10.0] * 6)
    idle = []
    if watts is not None:
        idle = [
            IdlePower(
                node=one.node,
                domain=one.domain,
                channel=one.channel,
                kind=one.kind,
                watts=watts,
                low_w=watts,
                high_w=watts,
                seconds=10,
            )
            for one in whole.repeats[0].energy
        ]
    changes = {"others_cpu_s": others_cpu_s, "cpu_s": 20.0, "node_cpus": 2 * whole.hosts[0].cores}
    repeats = [one.model_copy(update=changes) for one in whole.repeats]
    return whole.model_copy(update={"repeats": repeats, "idle": idle})


def test_without_idle_power_it_goes_by_cpu_time_and_the_interval_reaches_to_what_it_holds() -> None:
    whole = shared(others_cpu_s=60.0)
    share = share_of_node(whole, whole.repeats[0])
    assert share is not None
    node = whole.repeats[0].totals[0].joules
    assert share.joules == pytest.approx(node / 4)
    assert share.kind is EnergyKind.DERIVED
    assert share.low_j <= node / 4
    assert share.high_j >= node / 2  # half of the CPUs, if all is idle


def test_idle_energy_goes_by_the_cpus_that_the_command_could_use() -> None:
    whole = shared(others_cpu_s=60.0, watts=0.0)
    nothing_idle = share_of_node(whole, whole.repeats[0])
    assert nothing_idle is not None
    mostly_idle = share_of_node(shared(others_cpu_s=60.0, watts=1e6), whole.repeats[0])
    assert mostly_idle is not None
    node = whole.repeats[0].totals[0].joules
    assert nothing_idle.joules == pytest.approx(node / 4)
    assert mostly_idle.joules == pytest.approx(node / 2)


def test_of_a_node_that_others_did_not_use_nothing_is_said() -> None:
    assert share_in_words(shared(others_cpu_s=0.0)) == ""
    words = share_in_words(shared(others_cpu_s=60.0))
    assert words.startswith("other programs used up to")
    assert "(derived" in words


def test_a_record_that_does_not_know_the_others_has_no_share() -> None:
    whole = run(times=[10.0] * 6)
    assert share_of_node(whole, whole.repeats[0]) is None
    assert share_in_words(whole) == ""


def test_a_measurement_beside_another_program_says_its_share(lull: Lull) -> None:
    """The other program computes until the measured one, which waits for its CPU time, has ended."""
    spin = "import time\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", spin]) as other:
        try:
            script = f"until [ $(cut -d' ' -f14 /proc/{other.pid}/stat) -gt $(($0 + 50)) ]; do sleep 0.05; done"
            start = Path(f"/proc/{other.pid}/stat").read_text(encoding="utf-8").split()[13]
            done = lull.run("measure", "--out", "r", "sh", "-c", script, start)
        finally:
            other.kill()
    assert done.returncode == 0, done.stderr
    found = record.read(lull.folder / "r")
    share = share_of_node(found, found.repeats[0])
    assert share is not None
    assert json.loads((lull.folder / "r" / "run.json").read_text())["repeats"][0]["node_cpus"] >= 1
    assert share.joules < found.repeats[0].totals[0].joules
    assert share.kind is EnergyKind.ESTIMATED
