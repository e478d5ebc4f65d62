"""`lull measure`: run a command several times and write down what each run cost in time and energy."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click
import pyarrow as pa

from lull import record
from lull.errors import LullError
from lull.guard import CannotExecuteError
from lull.interrupts import Interrupts
from lull.measure.folder import check_free, default_folder
from lull.measure.repeat import Measured, compose_run, measure_repeat
from lull.meter import Meter
from lull.native import checked_settings, unknown_variables
from lull.record import Repeat
from lull.summary import summary_table
from lull.terminal import output


@click.command(
    context_settings={"allow_interspersed_args": False}, short_help="Run a command and record its time and energy."
)
@click.option("--runs", type=click.IntRange(min=1), default=1, show_default=True, help="Repeats to record.")
@click.option(
    "--warmup", type=click.IntRange(min=0), default=0, show_default=True, help="Repeats before, not recorded."
)
@click.option("--label", help="Name of this run in tables and plots.  [default: the name of CMD]")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the record.  [default: results/LABEL-TIME]")
@click.option("--hz", type=click.FloatRange(0.1, 100), help="Meter readings per second.  [default: LULL_METER_HZ, 10]")
@click.argument("cmd", nargs=-1, type=click.UNPROCESSED, required=True)
def measure(runs: int, warmup: int, label: str | None, out: Path | None, hz: float | None, cmd: tuple[str, ...]) -> int:
    """Run CMD and record its time and energy; options after CMD are its own.

    Standard input and output, signals and the exit code are those of CMD; what Lull has to say goes to stderr.
    """
    settings = checked_settings()
    for line in unknown_variables():
        _say(line)
    name = label or Path(cmd[0]).name
    if not name or "/" in name:
        raise LullError(
            "name the run", f"the label {name!r} cannot be part of a folder's name", "choose one with --label"
        )
    folder = out or default_folder(name, datetime.now())
    check_free(folder)
    rate = hz if hz is not None else float(settings["LULL_METER_HZ"])
    meter = Meter(record.this_host().node, rate)

    stopped: LullError | None = None
    finished: list[Measured] = []
    with Interrupts() as interrupts:
        try:
            for number in range(-warmup, runs):
                interrupts.check("measure")
                measured = measure_repeat(cmd, meter, max(number, 0), env=os.environ, interrupts=interrupts)
                for line in measured.warnings:
                    _say(line)
                if number >= 0:
                    finished.append(measured)
                _show_progress(measured, number, warmup, runs)
        except CannotExecuteError as error:
            return error.exit_code
        except LullError as error:  # a signal, or the meter failed: the whole repeats so far are worth keeping
            stopped = error
        if finished:
            repeats = [measured.repeat for measured in finished]
            samples = pa.concat_tables([measured.samples for measured in finished])
            if out is None and folder.exists():  # another measurement took the name meanwhile
                folder = default_folder(name, datetime.now())
            record.write(folder, compose_run(name, cmd, meter, rate, settings, repeats), samples)
    if stopped is not None:
        if finished:
            _say(f"the whole repeats so far, {len(finished)} of {runs}, are in {folder}")
        raise stopped
    return _report(repeats, folder)


def _show_progress(measured: Measured, number: int, warmup: int, runs: int) -> None:
    if not sys.stderr.isatty() or runs + warmup == 1:
        return
    which = f"{number + 1}/{runs}" if number >= 0 else f"warm-up {number + warmup + 1}/{warmup}"
    energy = ", ".join(f"{total.domain.value} {total.joules:.4g} J" for total in measured.repeat.totals)
    _say(f"{which}: {measured.repeat.wall_s:.4g} s" + (f", {energy}" if energy else ""))


def _report(repeats: Sequence[Repeat], folder: Path) -> int:
    """Print the summary on stderr; the first exit code that is not 0, else 0."""
    console = output(stderr=True)
    console.print(summary_table(repeats))
    failed = [repeat for repeat in repeats if repeat.exit_code != 0]
    if failed:
        _say(f"{len(failed)} of {len(repeats)} repeats failed, the first with exit code {failed[0].exit_code}")
    _say(f"record in {folder}")
    return failed[0].exit_code if failed else 0


def _say(line: str) -> None:
    print(f"lull: {line}", file=sys.stderr, flush=True)
