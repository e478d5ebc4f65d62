"""`lull trace`: record the messages between a program's processes, convert them to OTF2, and show them."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import click

from lull.base.errors import LullError, UsageError
from lull.base.native import checked_settings, unknown_variables
from lull.present.forms import format_option, show_result
from lull.present.messages import say

FORMATS = ("svg", "pdf", "png")


class CommandOrVerb(click.Group):
    """A group that passes arguments to `record` if the first word is not one of its subcommands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert `record` unless the arguments name a subcommand or ask for help."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["record", *args]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line of the most frequent form, without `record`."""
        return ["[OPTIONS] [--] CMD...", "| info DIR", "| convert DIR", "| merge DIR"]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options of `record`, which need no subcommand, then the subcommands."""
        self.commands["record"].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group(cls=CommandOrVerb, short_help="Record, convert and show the messages of an MPI program.")
def trace() -> None:
    """Run CMD and record every MPI call that its processes make, as an OTF2 archive.

    The program needs no change: lull trace mpirun -n 16 ./app. The folder then holds the archive (traces.otf2), which
    Vampir and otf2-print read, and the record of the run with its energy, which lull report and lull compare read.
    Standard input and output, signals and the exit code are those of CMD.

    lull trace info DIR shows which processes communicate and where the time goes; lull trace convert DIR makes the
    archive of a run that another launcher started, or that was killed, and a GOAL file of any archive; lull trace merge
    DIR makes one small file of its recordings.
    """


@trace.command(
    "record", hidden=True, context_settings={"allow_interspersed_args": False}, short_help="Run a command and trace it."
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder of the trace.  [default: results/LABEL-TIME]"
)
@click.option("--label", help="Name of the run in tables and plots.  [default: the name of CMD]")
@click.option("--hz", type=click.FloatRange(0.1, 100), help="Meter readings per second.  [default: LULL_METER_HZ, 10]")
@click.option("--keep-raw", is_flag=True, help="Keep the recordings of the processes in addition to the archive.")
@click.option("--folded", is_flag=True, help="Fold calls that repeat, as under LULL_TRACE_FORM=folded.")
@click.option("-q", "--quiet", is_flag=True, help="Show no power while CMD runs.")
@click.argument("cmd", nargs=-1, type=click.UNPROCESSED, required=True)
def record_command(
    out: Path | None,
    label: str | None,
    hz: float | None,
    keep_raw: bool,
    folded: bool,
    quiet: bool,
    cmd: tuple[str, ...],
) -> int:
    """Run CMD and record every MPI call that its processes make; options after CMD are its own."""
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
    return record_trace(Recording(cmd, name, folder, rate, settings, quiet, keep_raw, folded))


@trace.command("convert", short_help="Convert recordings to an archive, and an archive to GOAL.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--keep-raw", is_flag=True, help="Keep the recordings of the processes in addition to the archive.")
@click.option(
    "--goal",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also write the program as GOAL, of an archive, too.",
)
def convert_command(folder: Path, keep_raw: bool, goal: Path | None) -> None:
    """Make the OTF2 archive of what processes have recorded in DIR, the folder that LULL_TRACE named.

    Use it for a run that `lull trace` did not start, and for one whose `lull trace` was killed. It reports what is
    missing. DIR may also be a merged trace (FILE.lulltrace) or its folder; the archive is written next to it.
    With --goal, DIR may be any OTF2 archive, and FILE becomes its program in the language of LogGOPSim and
    ATLAHS: messages, computing times and their order, collectives as messages. lull simulate reads it, too.
    """
    from lull.base.interrupts import Interrupts
    from lull.trace.goal import is_converted, make_goal
    from lull.trace.recording import make_archive

    with Interrupts() as interrupts:
        if goal is None or not is_converted(folder):
            make_archive(folder, keep_raw=keep_raw, interrupts=interrupts)
        elif keep_raw:
            raise UsageError(f"convert the trace {folder}", "it is converted already", "leave out --keep-raw")
        if goal is not None:
            make_goal(folder, goal, interrupts)


@trace.command("merge", short_help="Merge the recordings of a run into one small file.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File of the merged trace, which ends in .lulltrace.  [default: DIR/traces.lulltrace]",
)
@click.option("--keep-raw", is_flag=True, help="Keep the recordings of the processes in addition to the file.")
def merge_command(folder: Path, out: Path | None, keep_raw: bool) -> None:
    """Merge what processes have recorded in DIR, the folder that LULL_TRACE named, into one file.

    Calls that ranks make alike, or whose partners follow from the rank by a law, are in the file once, however many
    ranks there are. It reports what is missing, and then keeps the recordings.
    """
    from lull.base.interrupts import Interrupts
    from lull.trace.recording import merge_recordings

    with Interrupts() as interrupts:
        merge_recordings(folder, out, keep_raw=keep_raw, interrupts=interrupts)


@trace.command("info", short_help="Show what a trace contains.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@format_option
@click.option("--plots", "plots_to", metavar="DIR", type=click.Path(path_type=Path), help="Write plots as files.")
@click.option(
    "--plots-as", "plots_format", type=click.Choice(FORMATS), help="Format of the files of --plots.  [default: svg]"
)
def info(folder: Path, form: str, plots_to: Path | None, plots_format: str | None) -> None:
    """Show which processes of a trace communicate, and how each process spent its time.

    DIR is the folder of an OTF2 archive, or its .otf2 file, written by Lull or by another tool such as Score-P, or a
    merged trace (FILE.lulltrace) or its folder. Time in
    communication is split into waiting for a late sender, for a late receiver, for others in a collective (imbalance),
    and the rest, transfer. The plots show who sends to whom, the time of each process and over the run, and sizes.
    """
    from lull.base.interrupts import Interrupts
    from lull.trace.account import analyse
    from lull.trace.describe import describe
    from lull.trace.progress import TraceProgress
    from lull.trace.recording import few

    if plots_format is not None and plots_to is None:
        raise UsageError(f"trace info --plots-as {plots_format}", "no plots are written", "name a folder with --plots")
    with Interrupts() as interrupts:
        try:
            with TraceProgress("reading", "events", interrupts) as progress:
                found = analyse(folder, progress=progress)
        except LullError:
            interrupts.check("read the trace")
            raise
    for line in few(found.remarks):
        say(line)
    show_result(form, lambda: describe(found.account), lambda: found.account.model_dump_json(by_alias=True, indent=1))
    if plots_to is not None:
        from lull.trace.plots import write_plots

        for path in write_plots(found, plots_to, plots_format or "svg"):
            say(f"plot in {path}")
