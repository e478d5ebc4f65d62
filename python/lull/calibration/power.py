"""Power of this node, by the meter that `lull measure` uses: idle, busy, and waiting under each policy."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lull import _core, record
from lull.base import installed
from lull.base.errors import LullError
from lull.base.guard import CannotExecuteError, run_guarded
from lull.base.interrupts import Interrupts
from lull.calibration.bench import Bench, own_launcher
from lull.meter.calibration import ONE_THREAD
from lull.meter.meter import Meter
from lull.record import Domain
from lull.record.totals import node_totals

HZ: Final = 20.0
WAITING: Final = "waiting."
START_S: Final = 0.6  # time at the begin and at the end of a load that is not measured
END_S: Final = 0.2


@dataclass(frozen=True)
class MachineState:
    """A state of the machine during a measurement of power; `work` returns begin and end by CLOCK_MONOTONIC."""

    name: str  # idle_node, one_core, busy_node, waiting.POLICY
    work: Callable[[Bench, float], tuple[int, int]]


def states(policies: Sequence[str]) -> list[MachineState]:
    """All states, in the order in which they are measured."""
    cores = len(os.sched_getaffinity(0))

    def waiting(policy: str) -> MachineState:
        def work(bench: Bench, seconds: float) -> tuple[int, int]:
            found = bench.run(["--wait", policy, "waiting", str(seconds)], own_launcher(cores))
            return int(found["begin_ns"]), int(found["end_ns"])

        return MachineState(WAITING + policy, work)

    return [
        MachineState("idle_node", _idle),
        MachineState("one_core", lambda bench, seconds: _load(1, seconds, bench.interrupts)),
        MachineState("busy_node", lambda bench, seconds: _load(cores, seconds, bench.interrupts)),
        *(waiting(policy) for policy in policies),
    ]


def measure_round(bench: Bench, policies: Sequence[str], seconds: float) -> dict[str, Any]:
    """Measure each state once: watts with their band and kind; empty if the power of the node is unknown."""
    meter = Meter(record.this_host().node, HZ)
    found: dict[str, Any] = {}
    for state in states(policies):
        meter.start()
        try:
            begin, end = state.work(bench, seconds)
        finally:
            series = meter.stop()
        length = (end - begin) / 1e9
        for total in node_totals(series.energy([(begin, end)])):
            if total.domain is Domain.NODE:
                found[state.name] = {
                    "watts": total.joules / length,
                    "low": total.low_j / length,
                    "high": total.high_j / length,
                    "kind": total.kind.value,
                    "of": total.channel,
                }
    return found


def _idle(bench: Bench, seconds: float) -> tuple[int, int]:
    begin = _core.now_ns()
    bench.interrupts.sleep("measure idle power", seconds)
    return begin, _core.now_ns()


def _load(cpus: int, seconds: float, interrupts: Interrupts) -> tuple[int, int]:
    command = installed.module_command("lull.meter.full_load", str(seconds + START_S + END_S), str(cpus))
    env = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
    try:
        ending = run_guarded(command, env=env, interrupts=interrupts)
    except CannotExecuteError as error:
        raise LullError("load CPUs", f"{sys.executable} cannot be run") from error
    if ending.exit_code != 0:
        raise LullError("load CPUs", f"the load ended with exit code {ending.exit_code}")
    return ending.begin_ns + round(START_S * 1e9), ending.end_ns - round(END_S * 1e9)
