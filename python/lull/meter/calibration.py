"""Calibrate the estimate with a meter's power of this machine, idle and under full load.

The two points define a line from utilisation to watts, which is the table [calibration] of a site file. With it,
`estimate` can replace the meter where that cannot be read: for other users, or on other nodes of the same kind.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from lull import _core, record
from lull.base import installed
from lull.base.errors import LullError
from lull.base.guard import CannotExecuteError, run_guarded
from lull.base.interrupts import Interrupts
from lull.base.native import native_errors
from lull.meter.cpu_time import cpu_time, utilisation
from lull.meter.meter import Meter
from lull.record import Domain, EnergyKind
from lull.record.totals import add

# Sources whose channels `package` a calibration uses; for all others it uses the node.
OF_PROCESSORS = ("powercap", "perf", "amd_energy", "hsmp", "grace")
OF_METERS = (EnergyKind.MEASURED.value, EnergyKind.VENDOR_MODEL.value)
BUSY = 0.05  # utilisation from which on an idle machine is reported as busy
HZ = 10.0
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")  # each CPU already has a process


@dataclass(frozen=True)
class Reference:
    """The meter for the calibration: a source, and its channels that count."""

    source: str
    channels: tuple[str, ...]


@dataclass(frozen=True)
class LoadPoint:
    """Mean utilisation of all CPUs and mean power over one measurement."""

    utilisation: float
    watts: float


def choose_reference(found: Sequence[_core.Source]) -> Reference:
    """The first readable meter of the node, or else of its processors.

    Raises:
        LullError: There is none; the line lists the sources tried.
    """
    for domain in (Domain.NODE, Domain.PACKAGE):
        for source in found:
            if not source.readable or (source.name in OF_PROCESSORS) != (domain is Domain.PACKAGE):
                continue
            channels = [c.name for c in source.channels if c.domain == domain.value and c.kind in OF_METERS]
            if channels:
                # Two meters of one node show the same power, but packages are parts of a sum.
                return Reference(source.name, tuple(channels[:1] if domain is Domain.NODE else channels))
    known = [source.name for source in found if source.kind in OF_METERS]
    words = f"none of {', '.join(known)} shows the power of the node or its processors here"
    raise LullError("calibrate the estimate", words, "lull sources says what is missing")


def calibrate(sysroot: Path, seconds: float, interrupts: Interrupts, say: Callable[[str], None]) -> str:
    """Measure the idle and the fully loaded machine for `seconds` each; return the table [calibration] as TOML.

    Args:
        sysroot: Root below which sources and proc/stat are read.
        seconds: Duration of each of the two measurements.
        interrupts: Signals that may ask to stop.
        say: Called with each line that reports progress.

    Raises:
        LullError: No meter can be read, the meter failed, or the two points define no line.
        InterruptedBySignal: A signal asked to stop.
    """
    with native_errors():
        reference = choose_reference(_core.sources(str(sysroot)))
    cpu_time(sysroot)  # rejects a machine without it now
    meter = Meter(record.this_host().node, HZ, sysroot=sysroot, sources=[reference.source])
    say(f"calibrating by {reference.source} ({', '.join(reference.channels)})")
    say(f"idle for {seconds:g} s: leave the machine alone")
    idle = _measure(meter, reference, sysroot, lambda: _sleep(seconds, interrupts))
    say(f"idle: {idle.utilisation:.1%} busy, {idle.watts:.4g} W")
    if idle.utilisation > BUSY:
        say("that is not idle; the line is drawn through this point all the same")
    say(f"full load on {len(os.sched_getaffinity(0))} CPUs for {seconds:g} s")
    full = _measure(meter, reference, sysroot, lambda: _load(seconds, interrupts))
    say(f"full load: {full.utilisation:.1%} busy, {full.watts:.4g} W")
    points = [(point.utilisation, point.watts) for point in (idle, full)]
    with native_errors():
        return _core.calibration_toml(points[0], points[1], reference.source, date.today().isoformat())


def _measure(meter: Meter, reference: Reference, sysroot: Path, work: Callable[[], tuple[int, int]]) -> LoadPoint:
    """Mean utilisation and power from the begin to the end that `work` returns."""
    before = cpu_time(sysroot)
    meter.start()
    try:
        begin, end = work()
    finally:
        series = meter.stop()
    after = cpu_time(sysroot)
    energies = [energy for energy in series.energy([(begin, end)]) if energy.channel in reference.channels]
    whole = add(energies, energies[0].domain, reference.source)
    if whole.lower_bound:
        raise LullError("calibrate the estimate", "the meter was reset during the measurement", "try again")
    return LoadPoint(utilisation(before, after), whole.joules / ((end - begin) / 1e9))


def _sleep(seconds: float, interrupts: Interrupts) -> tuple[int, int]:
    begin = _core.now_ns()
    interrupts.sleep("calibrate the estimate", seconds)
    return begin, _core.now_ns()


def _load(seconds: float, interrupts: Interrupts) -> tuple[int, int]:
    """Load all CPUs in a separate process, which ends with this one in any case."""
    command = installed.module_command("lull.meter.full_load", str(seconds))
    env = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
    try:
        ending = run_guarded(command, env=env, interrupts=interrupts, stdin=subprocess.DEVNULL)
    except CannotExecuteError as error:
        raise LullError("load all CPUs", f"{sys.executable} cannot be run") from error
    if ending.exit_code != 0:
        raise LullError("load all CPUs", f"the load ended with exit code {ending.exit_code}")
    return ending.begin_ns, ending.end_ns
