"""`lull calibrate` as a function: measure the parts one after the other, and write the machine file."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lull import __version__, record
from lull.base.errors import LullError, UsageError
from lull.base.interrupts import InterruptedBySignal, Interrupts
from lull.base.whole_file import write_whole
from lull.calibration.assembly import Circumstances, machine_of
from lull.calibration.bench import Bench
from lull.calibration.parts import parts
from lull.calibration.state import CalibrationState
from lull.job.launchers import starts_ranks
from lull.model.machine import BY_HAND, Machine, kept_machine, read_machine_file
from lull.model.machine_text import machine_text
from lull.present.runs_progress import RunsProgress

HEADING = """\
Measurements of this machine by lull calibrate: medians; low and high are quartiles, for power the band of its source.
docs/reference/machine-toml.md describes each key. LULL_MACHINE=builtin makes Lull ignore this file."""


@dataclass(frozen=True)
class CalibrationRequest:
    """The options of a calibration."""

    out: Path | None = None  # None: the default file of this host
    launcher: Sequence[str] = ()  # for processes on different nodes
    storage: Path = Path()
    quick: bool = False
    fresh: bool = False


def calibrate(wanted: CalibrationRequest) -> tuple[Machine, Path]:
    """Measure this machine; return the machine and the path of its file.

    Raises:
        UsageError: The launcher is unknown, the file has no path, or hand-written tables of it cannot be kept.
        LullError: A part failed; earlier parts are kept.
        InterruptedBySignal: A signal asked to stop; earlier parts are kept.
    """
    out = wanted.out or kept_machine()
    if out is None:
        raise UsageError("keep the machine file", "neither XDG_CONFIG_HOME nor HOME is set", "name a place with --to")
    if wanted.launcher and not starts_ranks(wanted.launcher):
        words = f"{wanted.launcher[0]} is not a known launcher"
        raise UsageError("calibrate", words, "lull calibrate -- mpirun -n 2 --host A,B")
    if not wanted.storage.is_dir():
        raise UsageError("calibrate", f"{wanted.storage} is not a folder", "name one with --storage")
    by_hand, remarks = written_by_hand(out)
    host = record.this_host()
    launcher, storage = shlex.join(wanted.launcher), str(wanted.storage.resolve())
    conditions = {
        "Lull": __version__,
        "boot": host.boot_id,
        "cores": str(host.cores),
        "launcher": launcher,
        "storage": storage,
        "quick": str(wanted.quick),
    }
    with CalibrationState(conditions, fresh=wanted.fresh) as state:
        with Interrupts() as interrupts:
            _measure(Bench(wanted.launcher, wanted.storage.resolve(), wanted.quick, interrupts), state)
        about = Circumstances(host, datetime.now(UTC), state.seconds, launcher, storage)
        machine = _with(machine_of(state.parts, about), by_hand, remarks)
        write_whole(out, machine_text(machine, HEADING).encode(), "machine file", "--to")
        state.done()
    return machine, out


def written_by_hand(out: Path) -> tuple[dict[str, Any], list[str]]:
    """Tables of the file to replace that cannot be measured, by name; and remarks about them.

    Raises:
        UsageError: The file cannot be read, and these tables would be lost.
    """
    if not out.exists():
        return {}, []
    asked = f"keep the hand-written tables of {out}"
    try:
        before = read_machine_file(out, asked)
    except UsageError as error:
        found = str(error).removeprefix(f"{asked}: ")
        raise UsageError(asked, found, "correct it, or move it away") from error
    kept = {table: getattr(before, table) for table in BY_HAND if getattr(before, table)}
    return kept, [f"not measured, but kept from the file before: {', '.join(kept)}"] if kept else []


def _with(machine: Machine, by_hand: dict[str, Any], remarks: list[str]) -> Machine:
    assert machine.measured is not None
    measured = machine.measured.model_copy(update={"remarks": [*machine.measured.remarks, *remarks]})
    return machine.model_copy(update={"measured": measured, **by_hand})


def _measure(bench: Bench, state: CalibrationState) -> None:
    left = [part for part in parts(bench) if part.name not in state.parts]
    with RunsProgress(len(left)) as progress:
        for part in left:
            progress.begins(part.name)
            begin = time.monotonic()
            try:
                bench.interrupts.check("calibrate")
                observed = part.measure(bench)
            except InterruptedBySignal as stop:
                fix = "the measurements are kept: the same command continues from there"
                raise InterruptedBySignal("calibrate", stop.signum, fix) from stop
            except LullError as error:
                raise LullError(f"calibrate, {part.name}", str(error)) from error
            took = time.monotonic() - begin
            state.keep(part.name, observed, took)
            progress.ended(part.name, took)
