"""The parts of a calibration, in order: each is measured separately, and kept until all are done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lull import _core
from lull.calibration.bench import Bench, own_launcher
from lull.calibration.power import measure_round

Observed = dict[str, Any]
POWER: Final = "power"
WAKE_UPS: Final = "wake-ups"
CPUFREQ: Final = Path("/sys/devices/system/cpu/cpu0/cpufreq")


@dataclass(frozen=True)
class CalibrationPart:
    """A part that is measured as a whole; its result is data for JSON."""

    name: str
    measure: Callable[[Bench], Observed]


def parts(bench: Bench) -> list[CalibrationPart]:
    """All parts of a calibration of this machine."""
    policies = wait_policies()
    within, between = own_launcher(2), bench.between_nodes()
    return [
        # The network comes first, so that a launcher that fails does so at once.
        CalibrationPart("network", _transfers(between, "--between-nodes")),
        CalibrationPart("network receiver", _transfers(between, "--between-nodes", "--receiver")),
        CalibrationPart("memory", lambda b: b.run(["memory", "--rounds", str(b.rounds(7))])),
        CalibrationPart("frequency", lambda _: frequency_steps()),
        *(CalibrationPart(f"{WAKE_UPS} {policy}", _wake_ups(policy)) for policy in policies),
        CalibrationPart("shared-memory", _transfers(within)),
        CalibrationPart("shared-memory receiver", _transfers(within, "--receiver")),
        CalibrationPart("storage", _storage),
        CalibrationPart("recording", _recording),
        *(CalibrationPart(f"{POWER} {turn + 1}", _power(policies)) for turn in range(bench.rounds(3, 1))),
    ]


def wait_policies() -> list[str]:
    """The policies of this machine; those with +dvfs only if a frequency can be lowered."""
    (row,) = (setting for setting in _core.settings() if setting.variable == "LULL_WAIT")
    method, _ = _core.frequency_way("/", sorted(os.sched_getaffinity(0))[:1])
    return [name for name in row.choices.split("|") if method or "+" not in name]


def frequency_steps(folder: Path = CPUFREQ) -> Observed:
    """The steps of the first core in cpufreq; empty if there is none."""

    def words(name: str) -> list[str]:
        try:
            return (folder / name).read_text(encoding="ascii").split()
        except (OSError, UnicodeDecodeError):
            return []

    steps = words("scaling_available_frequencies") or [*words("cpuinfo_min_freq"), *words("cpuinfo_max_freq")]
    found: Observed = {}
    if steps and all(step.isdecimal() for step in steps):
        found["steps_khz"] = sorted({int(step) for step in steps})
        found["driver"] = " ".join(words("scaling_driver"))
    latency = words("cpuinfo_transition_latency")
    # The largest possible number means that the driver does not know.
    if found and latency and latency[0].isdecimal() and int(latency[0]) < 2**32 - 1:
        found["transition_ns"] = int(latency[0])
    return found


def _wake_ups(policy: str) -> Callable[[Bench], Observed]:
    def measure(bench: Bench) -> Observed:
        seconds = "0.1" if bench.quick else "1"
        return bench.run(["--wait", policy, "wake-ups", "--seconds", seconds], own_launcher(2))

    return measure


def _transfers(launcher: Sequence[str], *options: str) -> Callable[[Bench], Observed]:
    # Times are those of a waiter that polls; the receiver's CPU time can be seen only if it does not poll.
    policy = "interrupt" if "--receiver" in options else "poll"

    def measure(bench: Bench) -> Observed:
        rounds = ["--rounds", str(bench.rounds(7))]
        return bench.run(["--wait", policy, "transfers", *rounds, *options], launcher)

    return measure


def _storage(bench: Bench) -> Observed:
    size = ["--bytes", str((4 if bench.quick else 32) << 20)]
    return bench.run(["storage", str(bench.storage), *size, "--rounds", str(bench.rounds(3))])


def _recording(bench: Bench) -> Observed:
    seen = []
    for _ in range(bench.rounds(7)):
        with tempfile.TemporaryDirectory(prefix="lull-", dir=bench.storage) as folder:
            seen.append(bench.run(["recording", folder])["ns_per_event"])
    return {"ns_per_event": seen}


def _power(policies: Sequence[str]) -> Callable[[Bench], Observed]:
    return lambda bench: measure_round(bench, policies, 0.5 if bench.quick else 2.5)
