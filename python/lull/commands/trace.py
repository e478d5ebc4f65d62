"""`lull trace`: record the messages between a program's processes."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import click

from lull.base.errors import LullError, UsageError
from lull.base.native import checked_settings, unknown_variables
from lull.present.messages import say
from lull.present.quiet import is_quiet, quiet_option


@click.command(
    context_settings={"allow_interspersed_args": False}, short_help="Run a command and record its MPI calls."
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder of the trace.  [default: results/LABEL-TIME]"
)
@click.option("--label", help="Name of the run in tables and plots.  [default: the name of CMD]")
@click.option("--hz", type=click.FloatRange(0.1, 100), help="Meter readings per second.  [default: LULL_METER_HZ, 10]")
@click.option("--keep-raw", is_flag=True, help="Keep the recordings of the processes in addition to the archive.")
@click.option("--folded", is_flag=True, help="Fold calls that repeat, as under LULL_TRACE_FORM=folded.")
@quiet_option
@click.argument("cmd", nargs=-1, type=click.UNPROCESSED, required=True)
def trace(
    out: Path | None,
    label: str | None,
    hz: float | None,
    keep_raw: bool,
    folded: bool,
    cmd: tuple[str, ...],
) -> int:
    """Run CMD and record every MPI call that its processes make, as an OTF2 archive; options after CMD are its own.

    The program needs no change: lull trace mpirun -n 16 ./app. The folder then holds the archive (traces.otf2), which
    Vampir and otf2-print read, and the record of the run with its energy, which lull report and lull compare read.
    Standard input and output, signals and the exit code are those of CMD.

    lull archive info DIR shows which processes communicate and where the time goes. lull archive convert DIR makes the
    archive of a run that another launcher started, or that was killed.
    """
    from lull.job.launchers import find_place
    from lull.record.new_folder import default_folder
    from lull.trace.recording import Recording, record_trace

    settings = checked_settings()
    for line in unknown_variables():
        say(line)
    place = find_place(os.environ)
    if place is not None:
        raise UsageError("trace", f"{place.launcher} has started this as a rank", "put lull trace before the launcher")
    name = label or Path(cmd[0]).name
    if not name or "/" in name:
        raise LullError("name the run", f"the label {name!r} cannot be part of a folder's name", "choose one: --label")
    folder = out or default_folder(name, datetime.now())
    rate = hz if hz is not None else float(settings["LULL_METER_HZ"])
    return record_trace(Recording(cmd, name, folder, rate, settings, is_quiet(), keep_raw, folded))
