"""The format of a machine: reading returns what was written, and errors are reported at their place."""

import math
import os
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lull import _core
from lull.base.errors import UsageError
from lull.model.machine import (
    Atomics,
    CalibrationInfo,
    Figure,
    Machine,
    Memory,
    Storage,
    TransferPiece,
    Transport,
    WakeUp,
    WakeUps,
    Watts,
    known_machines,
    read_machine,
)
from lull.model.machine_text import machine_text
from lull.record import EnergyKind


def figure(value: float, kind: EnergyKind | None = None) -> Figure:
    return Figure(value=value, low=value / 2, high=2 * value, kind=kind)


def measured_machine() -> Machine:
    return Machine(
        title='a "quoted" host, µs',
        measured=CalibrationInfo(
            when=datetime(2026, 11, 23, 5, 0, 0, tzinfo=UTC),
            lull="0.1.0",
            host="a",
            processor="P",
            cores=2,
            memory_bytes=1 << 34,
            kernel="Linux",
            launcher="lull run",
            nodes=2,
            seconds=61.5,
            remarks=["one", "two, \\ three"],
        ),
        network={"bandwidth": "1 Gbit/s", "of": [1, 2]},
        transports={
            "network": Transport(
                through="UCX",
                pieces=[
                    TransferPiece(from_bytes=0, latency_ns=figure(5320), ns_per_byte=figure(0.25), worst_error=0.03),
                    TransferPiece(from_bytes=65536, latency_ns=figure(1e-4)),
                ],
                atomics=Atomics(fetching_ns=figure(40)),
            )
        },
        memory=Memory(copy_warm_bytes_per_s=figure(1.234e10)),
        wake_ups=WakeUps(
            timer_ns=figure(50e3),
            policies={"poll": [WakeUp(length_ns=2e4, late_ns=figure(80), cpu_ns=figure(2e4), waker_ns=figure(0))]},
        ),
        storage=Storage(folder="/tmp", by_writers={1: figure(2e8), 2: figure(3e8)}),
        constants={"thread_blocks": {"own_bytes": Figure(value=16384)}},
        watts=Watts(
            idle_node=figure(3, EnergyKind.ESTIMATED),
            busy_node=figure(9, EnergyKind.ESTIMATED),
            waiting={"interrupt": figure(4, EnergyKind.ESTIMATED)},
        ),
    )


def test_what_is_written_reads_as_it_was(tmp_path: Path) -> None:
    machine = measured_machine()
    path = tmp_path / "machine.toml"
    path.write_text(machine_text(machine, "a\nheading"))
    assert read_machine(str(path)) == machine
    assert path.read_text().startswith("# a\n# heading\nform = 1\n")


def test_figures_are_written_with_four_digits_and_constants_with_all() -> None:
    machine = Machine(
        watts=Watts(link=Figure(value=3.14159265, source="x")),
        constants={"aggregation": {"ns_per_item": Figure(value=3.14159265, source="x")}},
    )
    content = tomllib.loads(machine_text(machine))
    assert content["watts"]["link"]["value"] == 3.142
    assert content["constants"]["aggregation"]["ns_per_item"]["value"] == 3.14159265


@pytest.mark.parametrize("name", known_machines())
def test_machines_that_come_along_are_written_and_read_again(name: str, tmp_path: Path) -> None:
    machine = read_machine(name)
    path = tmp_path / "machine.toml"
    path.write_text(machine_text(machine))
    assert read_machine(str(path)) == machine


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[memory]\ncopy_warm_bytes_per_s = {value = 3}", "memory.copy_warm_bytes_per_s.source: it is missing"),
        ("[memory]\ncopy_warm_bytes_per_s = {value = -3, source = 'x'}", "memory.copy_warm_bytes_per_s.value: "),
        (
            "[[transports.network.pieces]]\nfrom_bytes = 9\n[[transports.network.pieces]]\nfrom_bytes = 3",
            "pieces begin at 9, 3 bytes, which do not ascend",
        ),
        ("[transports.network]\nlatency = 3", "transports.network.latency: there is no such key"),
        (
            "[constants]\nrdma.smallest_putt_bytes = {value = 3, source = 'x'}",
            "there is no constant rdma.smallest_putt_bytes; the nearest are rdma.smallest_put_bytes, ",
        ),
        (
            "[constants]\noutput.least_gain = {value = 2, source = 'x'}",
            "output.least_gain is 2, which is not in 0 to 1",
        ),
        ("[constants]\noutput.least_gain = {value = 0.1}", "constants.output.least_gain.source: it is missing"),
        ("[constants]\noutput.least_gain = 0.1", "constants.output.least_gain: "),
    ],
)
def test_a_wrong_machine_is_refused_where_it_is_wrong(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_machine(str(path))
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_measured_power_says_of_what_kind_it_is(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(machine_text(measured_machine()).replace(', kind = "estimated"', "", 1))
    with pytest.raises(UsageError, match=r"watts\.idle_node\.kind: it is missing|watts\.waiting\.interrupt\.kind"):
        read_machine(str(path))


def test_the_runtime_and_the_command_read_the_same_constants(tmp_path: Path) -> None:
    content = "\n".join(
        f"{one.name} = {{value = {one.default:.17g}, source = 'x'}}"
        for one in _core.constants()
        if math.isfinite(one.default)
    )
    path = tmp_path / "machine.toml"
    path.write_text(f"[constants]\n{content}\n")
    found = read_machine(str(path)).constants
    assert {f"{group}.{name}" for group, members in found.items() for name in members} == {
        one.name for one in _core.constants() if math.isfinite(one.default)
    }


def test_a_constant_here_is_that_of_the_machine_file(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text("[constants]\nrecording.ns_per_event = {value = 42.5}\n")
    words = "from lull import _core; print(_core.constant_here('recording.ns_per_event'))"
    for machine, value in ((str(path), "42.5"), ("builtin", "11.0")):
        environment = {**os.environ, "LULL_MACHINE": machine}
        done = subprocess.run(
            [sys.executable, "-c", words], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == value
