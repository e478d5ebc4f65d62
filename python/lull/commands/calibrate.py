"""`lull calibrate`: measure this machine once, for predictions and for choices at run time."""

from __future__ import annotations

import os
from pathlib import Path

import click

from lull.present.forms import format_option, show_result
from lull.present.messages import say
from lull.present.quiet import quiet_option


@click.command(
    context_settings={"allow_interspersed_args": False}, short_help="Measure this machine for predictions and choices."
)
@click.option(
    "--to",
    "out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write, the machine file; with --show, the file to show.  [default: lull/machines/HOST.toml in the "
    "folder of configurations]",
)
@click.option(
    "--storage",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Measure the file system of this folder.  [default: the current folder]",
)
@click.option("--quick", is_flag=True, help="Be quick: about ten seconds, with a wide spread.")
@click.option("--fresh", is_flag=True, help="Start again instead of continuing what an interrupted call has left.")
@click.option("--show", "show_only", is_flag=True, help="Show the last calibration and measure nothing.")
@format_option
@quiet_option
@click.argument("launcher", nargs=-1, type=click.UNPROCESSED)
def calibrate(
    out: Path | None,
    storage: Path,
    quick: bool,
    fresh: bool,
    show_only: bool,
    form: str,
    launcher: tuple[str, ...],
) -> None:
    """Measure this machine: messages, copies, wake-ups, storage and power, each with its spread.

    The machine file is kept for this host. The choosers of the runtime (LULL_MACHINE) and `lull predict --on here` find
    it there. LAUNCHER starts two processes on two nodes, and Lull measures the network between them; without LAUNCHER
    it emulates the nodes on this machine. Run nothing else on the machine during the calibration.

    \b
        lull calibrate
        lull calibrate -- mpirun -n 2 --host node1,node2
        lull calibrate --to machine.toml -- srun -N 2 -n 2 --mpi=pmix
    """
    from lull.base.errors import UsageError
    from lull.calibration.describe import describe
    from lull.job.launchers import find_place
    from lull.model.machine import HERE, read_machine

    if show_only:
        if launcher or quick or fresh:
            raise UsageError("calibrate --show", "nothing is measured", "leave out LAUNCHER, --quick and --fresh")
        machine = read_machine(str(out) if out is not None else HERE)
    else:
        from lull.base.native import checked_settings
        from lull.calibration.calibrate import CalibrationRequest
        from lull.calibration.calibrate import calibrate as measured

        place = find_place(os.environ)
        if place is not None and place.size > 1:
            found = f"{place.launcher} has started it {place.size} times"
            raise UsageError("calibrate", found, "start it once, and name the launcher: lull calibrate -- mpirun -n 2")
        checked_settings()
        machine, path = measured(CalibrationRequest(out, launcher, storage, quick, fresh))
        say(f"machine file in {path}")
    show_result(form, lambda: describe(machine), lambda: machine.model_dump_json(exclude_none=True, indent=1))
    if not show_only and out is not None:
        say(f"LULL_MACHINE={out} lets choosers use it, lull predict --on {out} predicts on it")
