"""Record a program's calls while its run is measured: one folder holds the trace and the record of the run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lull import record
from lull.base.errors import OWN_FAILURE, LullError
from lull.base.guard import CannotExecuteError
from lull.base.interrupts import InterruptedBySignal, Interrupts
from lull.measurement.command import Command
from lull.measurement.live_line import LiveLine, is_wanted
from lull.measurement.messages import print_summary
from lull.measurement.repeat import MeasuredRepeat, compose_run
from lull.measurement.turns import Plan, run_in_turn
from lull.measurement.watch import Watch
from lull.meter.meter import Meter
from lull.mpi.preload import out_of_reach, preloaded
from lull.present.messages import say
from lull.trace import convert
from lull.trace.account import require_otf2
from lull.trace.progress import TraceProgress


@dataclass(frozen=True)
class Recording:
    """The options of a recording."""

    argv: Sequence[str]
    label: str
    folder: Path
    hz: float
    settings: Mapping[str, str]
    quiet: bool
    keep_raw: bool
    folded: bool = False  # whatever the settings say

    @property
    def form(self) -> str:
        """What LULL_TRACE_FORM is for the program."""
        return "folded" if self.folded else self.settings["LULL_TRACE_FORM"]


def record_trace(asked: Recording) -> int:
    """Run the command, and write its record and its archive.

    Returns:
        The exit code of the command, or OWN_FAILURE if that is 0 but the archive could not be made.

    Raises:
        LullError: The folder is taken, the meter failed, a signal asked to stop, or the archive cannot be written.
    """
    require_otf2("record a trace")
    convert.make_room(asked.folder)
    folder = asked.folder.absolute()
    tools = {"LULL_TRACE": str(folder), "LULL_TRACE_FORM": asked.form}
    env = preloaded(os.environ, tools=tools, command=asked.argv)
    added = {name: value for name, value in env.items() if os.environ.get(name) != value}
    command = Command(asked.label, asked.argv, folder / ".record", env=added)
    meter = Meter(record.this_host().node, asked.hz)
    with Interrupts() as interrupts:
        try:
            measured = _measure(command, meter, interrupts, asked)
        except CannotExecuteError as error:  # the guard has reported it
            _clear(folder)
            return error.exit_code
        except LullError:
            if any((folder / convert.RAW).iterdir()):
                say(f"the recordings so far are kept; lull archive convert {asked.folder} makes an archive of them")
            raise
        _write_record(folder, command, meter, measured, asked)
        convert.leave_energy(folder, record.this_host().node, meter.channels, measured.samples, measured.begin_ns)
        for line in measured.warnings:
            say(line)
        print_summary("", [measured.repeat])
        if not convert.has_records(asked.folder):
            why = out_of_reach(asked.argv) or "none of its processes has called an MPI library that Lull supports"
            say(f"there is no trace of {asked.argv[0]}: {why}; the record of the run is in {asked.folder}")
            shutil.rmtree(folder / convert.RAW, ignore_errors=True)
            return measured.repeat.exit_code
        try:
            make_archive(asked.folder, keep_raw=asked.keep_raw, interrupts=interrupts)
        except InterruptedBySignal:
            raise
        except LullError as error:
            say(str(error))
            return measured.repeat.exit_code or OWN_FAILURE
    return measured.repeat.exit_code


def make_archive(folder: Path, *, keep_raw: bool, interrupts: Interrupts) -> None:
    """Convert the recordings, and report the result and what is missing.

    Raises:
        LullError: See `lull.trace.convert.convert`; InterruptedBySignal if a signal asked to stop.
    """
    try:
        with TraceProgress("converting", "records", interrupts) as progress:
            made = convert.convert(folder, keep_raw=keep_raw, progress=progress)
    except LullError:
        interrupts.check("convert the trace")
        raise
    for line in few(made.remarks):
        say(line)
    if made.hosts > 1 and made.crossings:
        words = f"the clocks of {made.hosts} hosts are joined by {made.crossings} messages"
        if made.too_early:
            words += f", {made.too_early} of which still arrive before they were sent"
        say(words)
    size = convert.size_of_archive(folder)
    say(f"trace of {made.processes} processes, {made.events} events, {size / 1e6:.3g} MB in {folder}")


def merge_recordings(folder: Path, out: Path | None, *, keep_raw: bool, interrupts: Interrupts) -> None:
    """Merge the recordings, and report the result and what is missing.

    Raises:
        LullError: See `lull.trace.convert.merge`; InterruptedBySignal if a signal asked to stop.
    """
    try:
        with TraceProgress("merging", "steps", interrupts) as progress:
            made = convert.merge(folder, out, keep_raw=keep_raw, progress=progress)
    except LullError:
        interrupts.check("merge the trace")
        raise
    for line in few(made.remarks):
        say(line)
    if made.remarks and not keep_raw:
        say(f"the recordings in {folder / convert.RAW} are kept, because a part of them is missing in the merged trace")
    words = f"{made.logs} logs with {made.records} records in {made.classes} classes, {made.bytes / 1e6:.3g} MB"
    say(f"merged trace of {words}, {made.call_bytes} B of them without times, in {out or folder / convert.MERGED}")


def _measure(command: Command, meter: Meter, interrupts: Interrupts, asked: Recording) -> MeasuredRepeat:
    observers = [] if asked.quiet or not is_wanted() else [LiveLine()]
    with Watch(record.this_host().node, meter, 1, observers) as watch:
        run_in_turn([command], Plan(1), meter, interrupts, begins=watch.begins, ended=lambda turn, measured: None)
    return command.finished[0]


def _write_record(folder: Path, command: Command, meter: Meter, measured: MeasuredRepeat, asked: Recording) -> None:
    """Write the record of the run next to the archive."""
    in_force = {**asked.settings, "LULL_TRACE": str(folder), "LULL_TRACE_FORM": asked.form}
    run = compose_run(asked.label, asked.argv, meter, asked.hz, in_force, [measured.repeat])
    record.write(command.folder, run, measured.samples)
    for name in (record.SAMPLES_FILE, record.RUN_FILE):
        (command.folder / name).replace(folder / name)
    command.folder.rmdir()


def _clear(folder: Path) -> None:
    """Remove what was made for a program that never ran."""
    (folder / convert.RAW).rmdir()
    folder.rmdir()


def few(remarks: Sequence[str], most: int = 5) -> list[str]:
    """The first few of many lines, and the number of the others."""
    if len(remarks) <= most:
        return list(remarks)
    return [*remarks[: most - 1], f"and {len(remarks) - most + 1} more lines like these"]
