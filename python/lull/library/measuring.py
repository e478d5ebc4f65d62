"""Measure from Python: a command (`lull.measure`), or a block of the running program (`lull.measuring`).

run = lull.measure("mpirun -n 4 ./app", runs=10)

with lull.measuring("solve") as m:
    solve()
print(m.seconds, m.joules, m.kind)

@lull.measuring("step")
def step(): ...
"""

from __future__ import annotations

import resource
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import ContextDecorator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

import pyarrow as pa

from lull import record
from lull.base.errors import LullError, UsageError
from lull.base.native import checked_settings
from lull.base.text import readable
from lull.library.recorded import Recorded, load_record
from lull.measurement.command import Command
from lull.measurement.repeat import compose_run
from lull.measurement.series import Target
from lull.measurement.session import SessionRequest, measure_commands
from lull.measurement.turns import Plan
from lull.meter.meter import Meter
from lull.record import EnergyKind, Repeat
from lull.record.new_folder import default_folder
from lull.record.totals import node_totals


def measure(
    command: str | Sequence[str],
    *,
    runs: int = 1,
    warmup: int = 0,
    label: str | None = None,
    out: str | Path | None = None,
    hz: float | None = None,
    fresh: bool = False,
) -> Recorded:
    """Run a command several times and record the time and energy of each run, like the command `lull measure`.

    If an earlier call with the same arguments was interrupted or killed, its finished runs count.

    Args:
        command: Program and arguments; a text is split like in a shell, but no shell runs it.
        runs: Number of recorded runs.
        warmup: Number of runs before the recorded ones.
        label: Name in tables and plots; default: that of the program.
        out: Folder of the record; default: results/LABEL-TIME.
        hz: Readings of the meter per second; default: the setting LULL_METER_HZ.
        fresh: Whether to measure anew, whatever an earlier call has left.

    Raises:
        UsageError: The command is empty, or a number is out of range.
        LullError: The command cannot be run or measured, or the record cannot be written.
    """
    words = shlex.split(command) if isinstance(command, str) else list(command)
    if not words:
        raise UsageError("measure", "the command is empty", "name a program")
    if runs < 1 or warmup < 0:
        raise UsageError("measure", f"runs is {runs}, warmup {warmup}", "measure one run or more")
    settings = checked_settings()
    name = label or Path(words[0]).name
    folder = Path(out) if out is not None else default_folder(name, datetime.now())
    one = Command(readable(name), words, folder, warmup)
    rate = float(settings["LULL_METER_HZ"]) if hz is None else hz
    target = Target(folder, named=out is not None, fresh=fresh)
    code = measure_commands([one], SessionRequest(Plan(runs), None, rate, settings, target, quiet=True), tells=False)
    if not one.finished:
        raise LullError(f"measure {words[0]}", f"it could not be started (exit code {code})", "see its output above")
    return load_record(one.folder)


class measuring(ContextDecorator):
    """Measures a block of this program: the body of `with`, or every call of a decorated function.

    The energy is that of the whole node while the block runs. Each visit is a separate run; the figures are those of
    the last one, and `recorded` has all.

    Args:
        label: Name in tables and plots.
        hz: Readings of the meter per second; default: the setting LULL_METER_HZ. The energy of a block much shorter
            than the time between two readings has wide bounds.

    Raises:
        LullError: A meter named by LULL_METER_SOURCES cannot be read; raised on entry.
    """

    def __init__(self, label: str, *, hz: float | None = None) -> None:
        self.label = label
        self._hz = hz
        self._settings: dict[str, str] = {}
        self._meter: Meter | None = None
        self._repeats: list[Repeat] = []
        self._samples: list[pa.Table] = []
        self._began = (datetime.now(UTC), 0, 0.0)

    def __enter__(self) -> measuring:
        if self._meter is None:
            self._settings = checked_settings()
            self._hz = float(self._settings["LULL_METER_HZ"]) if self._hz is None else self._hz
            self._meter = Meter(record.this_host().node, self._hz)
        self._meter.start()
        self._began = (datetime.now(UTC), time.clock_gettime_ns(time.CLOCK_MONOTONIC), _cpu_seconds())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._meter is not None
        started, begin_ns, cpu_before = self._began
        end_ns, cpu_s = time.clock_gettime_ns(time.CLOCK_MONOTONIC), _cpu_seconds() - cpu_before
        series = self._meter.stop()
        energy = series.energy([(begin_ns, end_ns)])
        self._repeats.append(
            Repeat(
                index=len(self._repeats),
                started=started,
                wall_s=(end_ns - begin_ns) / 1e9,
                cpu_s=max(cpu_s, 0.0),
                max_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                exit_code=0 if error is None else 1,
                energy=energy,
                totals=node_totals(energy),
            )
        )
        self._samples.append(series.table(len(self._repeats) - 1, begin_ns))

    @property
    def recorded(self) -> Recorded:
        """All visits, as a record that can be compared, drawn and saved.

        Raises:
            ValueError: The block has not ended yet.
        """
        if self._meter is None or self._hz is None or not self._repeats:
            raise ValueError(f"{self.label} has not been measured yet: leave the block first")
        run = compose_run(self.label, sys.argv or ["python"], self._meter, self._hz, self._settings, self._repeats)
        return Recorded(run, None, pa.concat_tables(self._samples))

    @property
    def seconds(self) -> float:
        """Time of the last visit, s."""
        return self._last.seconds

    @property
    def joules(self) -> float:
        """Energy of the node in the last visit, J."""
        return self._last.joules

    @property
    def watts(self) -> float:
        """Mean power in the last visit, W."""
        return self._last.watts

    @property
    def kind(self) -> EnergyKind:
        """How the energy was obtained."""
        return self._last.kind

    @property
    def _last(self) -> Recorded:
        run = self.recorded.run
        return Recorded(run.model_copy(update={"repeats": [run.repeats[-1].model_copy(update={"exit_code": 0})]}))

    def _repr_html_(self) -> str:
        return self.recorded._repr_html_()


def _cpu_seconds() -> float:
    """CPU seconds of this process and of children that have been waited for."""
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in of)
