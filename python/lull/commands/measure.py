"""`lull measure`: run a command several times and record the time and energy of each run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import click

from lull import record
from lull.base.errors import LullError, UsageError
from lull.base.native import checked_settings, unknown_variables
from lull.base.percents import Percent
from lull.base.text import readable
from lull.job.launchers import find_place
from lull.measurement import launched
from lull.measurement.command import Command
from lull.measurement.command_file import read_commands
from lull.measurement.precision import MOST_RUNS, Precision
from lull.measurement.series import Target
from lull.measurement.session import SessionRequest, measure_commands
from lull.measurement.turns import Plan
from lull.present.messages import say
from lull.present.quiet import is_quiet, quiet_option
from lull.record.append import appending, check_same
from lull.record.new_folder import default_folder
from lull.statistics import bootstrap


@click.command(
    context_settings={"allow_interspersed_args": False}, short_help="Run a command and record its time and energy."
)
@click.option("--runs", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of CMD to record.")
@click.option(
    "--warmup", type=click.IntRange(min=0), default=0, show_default=True, help="Runs before the recorded ones."
)
@click.option("--label", help="Name of the run in tables and plots.  [default: the name of CMD]")
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder of the record.  [default: results/LABEL-TIME]"
)
@click.option(
    "--append",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Add the repeats to this record of the same command.",
)
@click.option("--hz", type=click.FloatRange(0.1, 100), help="Meter readings per second.  [default: LULL_METER_HZ, 10]")
@click.option(
    "--interleave",
    is_flag=True,
    help="CMD is a list of TOML files, each of which describes a command. The commands run in turn; each gets a record"
    " in a folder of its label below --out, and at the end they are compared with the first.",
)
@click.option("--seed", type=int, help="Seed of the order of the commands in each round of --interleave.  [default: 1]")
@click.option(
    "--until-ci",
    metavar="PCT",
    type=Percent(min=0, min_open=True),
    help="Repeat at least --runs times, until the 95 % intervals of the medians of time and energy are within ±PCT %.",
)
@click.option("--max-runs", type=click.IntRange(min=1), help=f"Most runs with --until-ci.  [default: {MOST_RUNS}]")
@click.option(
    "--idle",
    "idle_s",
    metavar="SECONDS",
    type=click.FloatRange(min=1),
    help="First measure the power of the idle machine for this long; comparisons then show the energy above idle.",
)
@click.option("--publish", is_flag=True, help="Let lull top and lull export follow the measurement by its --out.")
@click.option("--fresh", is_flag=True, help="Start again instead of continuing what an interrupted call has left.")
@quiet_option
@click.argument("cmd", nargs=-1, type=click.UNPROCESSED, required=True)
def measure(
    runs: int,
    warmup: int,
    label: str | None,
    out: Path | None,
    append: Path | None,
    hz: float | None,
    interleave: bool,
    seed: int | None,
    until_ci: float | None,
    max_runs: int | None,
    idle_s: float | None,
    publish: bool,
    fresh: bool,
    cmd: tuple[str, ...],
) -> int:
    """Run CMD and record its time and energy; options after CMD are its own.

    Standard input and output, signals and the exit code are those of CMD; messages of Lull go to stderr. While CMD
    runs, the last line of a terminal shows the power.

    Started by mpirun, srun or lull run, the command measures as one rank: the ranks of a job make one record, in which
    the energy of each node is counted once.
    """
    settings = checked_settings()
    for line in unknown_variables():
        say(line)
    if append is not None and (out is not None or interleave):
        raise UsageError("measure --append", "--out and --interleave make new records", "leave them out, or --append")
    until = _precision(until_ci, runs, max_runs)
    rate = hz if hz is not None else float(settings["LULL_METER_HZ"])
    place = find_place(os.environ)
    if place is not None:
        several = {
            "--interleave": interleave,
            "--until-ci": until,
            "--idle": idle_s,
            "--publish": publish,
            "--fresh": fresh,
        }
        launched.refuse(place, [option for option, given in several.items() if given])
        return launched.measure(
            place, cmd, runs=runs, warmup=warmup, label=label, out=out, append=append, hz=rate, settings=settings
        )
    if interleave:
        folder = out or default_folder("interleaved", datetime.now())
        commands = _interleaved(cmd, label, folder, warmup)
    else:
        if seed is not None:
            raise UsageError("measure --seed", "one command alone has no order", "add --interleave, or leave it out")
        command = (
            _one_command(cmd, label, out, warmup)
            if append is None
            else _further(cmd, label, append, rate, settings, warmup)
        )
        commands, folder = [command], command.folder
    plan = Plan(runs, until, 1 if seed is None else seed)
    target = Target(folder, named=out is not None or append is not None, several=interleave, fresh=fresh)
    return measure_commands(commands, SessionRequest(plan, idle_s, rate, settings, target, is_quiet(), publish))


def _precision(percent: float | None, runs: int, most: int | None) -> Precision | None:
    if percent is None:
        if most is not None:
            raise UsageError(
                "measure --max-runs", "without --until-ci there are --runs runs", "add it, or leave it out"
            )
        return None
    asked = Precision(percent, runs, MOST_RUNS if most is None else most)
    if asked.most < asked.first_look:
        words = f"{asked.most} runs at most are fewer than {asked.first_look}"
        why = (
            f"an interval needs {bootstrap.runs_for_interval()} runs" if asked.first_look > runs else "those of --runs"
        )
        raise UsageError("measure --until-ci", f"{words}, {why}", "raise --max-runs")
    return asked


def _one_command(cmd: Sequence[str], label: str | None, out: Path | None, warmup: int) -> Command:
    name = label or Path(cmd[0]).name
    if not name or "/" in name:
        words = f"the label {name!r} cannot be part of a folder's name"
        raise LullError("name the run", words, "choose one with --label")
    folder = out or default_folder(name, datetime.now())
    return Command(readable(name), cmd, folder, warmup)


def _further(
    cmd: Sequence[str], label: str | None, folder: Path, hz: float, settings: Mapping[str, str], warmup: int
) -> Command:
    """The command of an existing record, which is locked for additions until the end of this call."""
    click.get_current_context().with_resource(appending(folder))
    name = check_same(record.read(folder), folder, cmd, label, hz, settings)
    return Command(name, cmd, folder, warmup, append=True)


def _interleaved(cmd: Sequence[str], label: str | None, out: Path, warmup: int) -> list[Command]:
    if label is not None:
        raise UsageError("measure --interleave", "--label names one command", "give each file its own label")
    options = [text for text in cmd if text.startswith("-")]
    if options:
        raise UsageError("measure --interleave", f"{options[0]} follows a file", "put options before the files")
    return read_commands([Path(text) for text in cmd], out, warmup)
