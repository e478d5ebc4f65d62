"""`lull measure`: run a command several times and write down what each run cost in time and energy."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import click
import pyarrow as pa

from lull import __version__, record
from lull.errors import LullError, describe_os_error
from lull.guard import CannotExecuteError, Stream, run_guarded
from lull.interrupts import Interrupts
from lull.meter import Meter
from lull.native import checked_settings, unknown_variables
from lull.record import Repeat
from lull.regions import merge_metrics, merge_regions, read_accounts
from lull.scratch import scratch_folder
from lull.summary import summary_table
from lull.terminal import output
from lull.totals import node_totals


@dataclass(frozen=True)
class Measured:
    """One repeat: its part of run.json, its rows of samples.parquet, and what was wrong, in words."""

    repeat: Repeat
    samples: pa.Table
    warnings: list[str] = field(default_factory=list)


def measure_repeat(
    command: Sequence[str],
    meter: Meter,
    index: int,
    *,
    env: Mapping[str, str],
    interrupts: Interrupts | None = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
) -> Measured:
    """Run `command` once and measure it.

    Time and energy are those between the guard's two stamps around the command; starting the meter and Python itself
    lie outside.

    Args:
        command: Program and arguments.
        meter: A meter that is not running.
        index: The repeat's number, from 0.
        env: The command's whole environment; LULL_RECORD is set on top.
        interrupts: Signals to pass on to the command.
        stdin: As for `subprocess.Popen`; None inherits ours.
        stdout: Likewise.
        stderr: Likewise.

    Raises:
        CannotExecuteError: The command is not there or not executable.
        InterruptedBySignal: A signal asked to stop; this repeat is void.
        LullError: The meter or the guard failed.
    """
    with scratch_folder() as folder:
        started = datetime.now(UTC)
        meter.start()
        try:
            ending = run_guarded(
                command,
                env={**env, "LULL_RECORD": str(folder)},
                interrupts=interrupts,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
            )
        finally:
            series = meter.stop()
        found = read_accounts(folder)
    energy = series.energy([(ending.begin_ns, ending.end_ns)])
    repeat = Repeat(
        index=index,
        started=started,
        wall_s=(ending.end_ns - ending.begin_ns) / 1e9,
        cpu_s=ending.user_s + ending.system_s,
        max_rss_bytes=ending.max_rss_bytes,
        exit_code=ending.exit_code,
        energy=energy,
        totals=node_totals(energy),
        regions=merge_regions(found.accounts, series, ending.begin_ns),
        metrics=merge_metrics(found.accounts),
    )
    return Measured(repeat, series.table(index, ending.begin_ns), found.warnings)


def compose_run(
    label: str,
    command: Sequence[str],
    meter: Meter,
    hz: float,
    settings: Mapping[str, str],
    repeats: Sequence[Repeat],
    factors: Mapping[str, str | int | float] | None = None,
) -> record.Run:
    """The content of run.json for `repeats` of one command on this machine."""
    return record.Run(
        lull_version=__version__,
        label=label,
        command=list(command),
        created=datetime.now(UTC),
        sampling_hz=hz,
        settings={variable: value for variable, value in settings.items() if variable != "LULL_RECORD"},
        factors=dict(factors or {}),
        hosts=[record.this_host()],
        channels=meter.channels,
        repeats=list(repeats),
    )


def check_free(folder: Path) -> None:
    """Make sure that a record can later be written to `folder`.

    Raises:
        LullError: Something is there already, or its parent cannot be written.
    """
    asked = f"write the record {folder}"
    try:
        if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
            raise LullError(asked, "something is there already", "name another folder with --out or remove it")
        folder.parent.mkdir(parents=True, exist_ok=True)
        Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent)).rmdir()
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "choose a folder you may write with --out") from error


def default_folder(label: str, now: datetime) -> Path:
    """results/<label>-<time>, with a number behind it when that is taken."""
    base = Path("results") / f"{label}-{now:%Y%m%d-%H%M%S}"
    folder, number = base, 1
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


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
