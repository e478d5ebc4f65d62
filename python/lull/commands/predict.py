"""`lull predict`: predict time and energy of a program on another machine, and how its links should sleep."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lull.base.completing import one_of
from lull.base.percents import Percent
from lull.present.forms import format_option, show_result
from lull.present.messages import say
from lull.present.quiet import quiet_option


def _machines() -> list[str]:
    from lull import _core
    from lull.model.machine import known_machines

    return [*known_machines(), *(preset.name for preset in _core.topology_presets())]


@click.command(
    context_settings={"allow_interspersed_args": False},
    short_help="Predict a program's time and energy on another machine.",
)
@click.option("--processes", metavar="N", type=click.IntRange(min=2), help="Processes.  [default: those traced]")
@click.option(
    "--on",
    metavar="MACHINE",
    required=True,
    shell_complete=one_of(_machines),
    help="The machine: here (what lull calibrate measured), one that comes with Lull, a preset of a network, or "
    "machine.toml.",
)
@click.option(
    "--power",
    metavar="MODE",
    multiple=True,
    help="Power mode of links: all, active, deep-sleep, fast-wake, hybrid or adaptive-rate; with a hold, "
    "deep-sleep:2Ts; and with a time in fast wake, hybrid:1Ts:1ms.  [default: all]",
)
@click.option(
    "--slowdown",
    metavar="PCT",
    type=Percent(min=0),
    default=1.0,
    show_default=True,
    help="Most slowdown by sleeping links, in percent.",
)
@click.option(
    "--tolerance", is_flag=True, help="Also compute how much longer messages may take until CMD is --slowdown slower."
)
@click.option("--per-node", metavar="N", type=click.IntRange(min=1), help="Processes on each node.  [default: 1]")
@click.option(
    "--smaller", metavar="N", type=click.IntRange(min=2), help="Processes of the second run.  [default: half as many]"
)
@click.option("--runs", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of CMD to trace.")
@click.option(
    "--placements", type=click.IntRange(min=0), default=2, show_default=True, help="Random placements to simulate."
)
@click.option(
    "--set",
    "assignments",
    metavar="KEY=VALUE",
    multiple=True,
    help="Set a key of the simulation, e.g. jobs.0.eager=4KiB.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Simulations that run at a time.  [default: one per core]")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of the prediction.  [default: results/predict-LABEL-TIME]",
)
@click.option("--label", metavar="TEXT", help="Name of the prediction.  [default: that of CMD or of the trace]")
@format_option
@quiet_option
@click.argument("cmd", nargs=-1, type=click.UNPROCESSED, required=True)
def predict(
    processes: int | None,
    on: str,
    power: tuple[str, ...],
    slowdown: float,
    tolerance: bool,
    per_node: int | None,
    smaller: int | None,
    runs: int,
    placements: int,
    assignments: tuple[str, ...],
    workers: int | None,
    out: Path | None,
    label: str | None,
    form: str,
    cmd: tuple[str, ...],
) -> None:
    """Predict the time and energy of CMD on MACHINE: trace it here, extrapolate to N processes, simulate it there.

    Instead of CMD, give a trace, two traces with different numbers of processes, or the record of one of Lull's
    applications that has a skeleton. More processes than CMD starts need a second, smaller run. The output of CMD
    goes to stderr.

    \b
        lull predict --on slingshot-4608 --processes 64 -- mpirun -n 16 ./app
        lull predict --on machine.toml --power deep-sleep --processes 256 run32 run16
    """
    from lull.base.errors import UsageError
    from lull.prediction.describe import describe
    from lull.prediction.request import PredictionRequest, answer

    if label is not None and (not label or "/" in label):
        raise UsageError("name it", f"the label {label!r} cannot be part of a folder's name", "choose another")
    found, folder = answer(
        PredictionRequest(
            cmd,
            on,
            processes,
            power or ("all",),
            slowdown / 100,
            per_node,
            smaller,
            runs,
            placements,
            assignments,
            out,
            label,
            workers,
            tolerance,
            command=["lull", *sys.argv[1:]],
        )
    )
    show_result(form, lambda: describe(found), lambda: found.model_dump_json(by_alias=True, indent=1))
    say(f"prediction in {folder}, with a record for each mode and report.html")
