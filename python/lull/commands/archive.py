"""`lull archive`: show, convert and merge what `lull trace` has recorded."""

from __future__ import annotations

from pathlib import Path

import click

from lull.base.errors import LullError, UsageError
from lull.present.forms import format_option, show_result
from lull.present.messages import say
from lull.present.quiet import quiet_option

FORMATS = ("svg", "pdf", "png")


@click.group(short_help="Show, convert and merge traces of MPI programs.")
def archive() -> None:
    """Show, convert and merge the traces that lull trace or another tool has recorded."""


@archive.command("info", short_help="Show what a trace contains.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@format_option
@quiet_option
@click.option("--plots", "plots_to", metavar="DIR", type=click.Path(path_type=Path), help="Folder for plots, as files.")
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
        raise UsageError(
            f"archive info --plots-as {plots_format}", "no plots are written", "name a folder with --plots"
        )
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


@archive.command("convert", short_help="Convert recordings to an archive, and an archive to GOAL.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--keep-raw", is_flag=True, help="Keep the recordings of the processes in addition to the archive.")
@click.option(
    "--goal",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also write the program as GOAL, of an archive, too.",
)
@quiet_option
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


@archive.command("merge", short_help="Merge the recordings of a run into one small file.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write, whose name ends in .lulltrace.  [default: DIR/traces.lulltrace]",
)
@click.option("--keep-raw", is_flag=True, help="Keep the recordings of the processes in addition to the file.")
@quiet_option
def merge_command(folder: Path, out: Path | None, keep_raw: bool) -> None:
    """Merge what processes have recorded in DIR, the folder that LULL_TRACE named, into one file.

    Calls that ranks make alike, or whose partners follow from the rank by a law, are in the file once, however many
    ranks there are. It reports what is missing, and then keeps the recordings.
    """
    from lull.base.interrupts import Interrupts
    from lull.trace.recording import merge_recordings

    with Interrupts() as interrupts:
        merge_recordings(folder, out, keep_raw=keep_raw, interrupts=interrupts)
