"""`lull study`: run an experiment that a TOML file describes, and compare its points with each other and a paper."""

from __future__ import annotations

from pathlib import Path

import click

from lull.base import installed
from lull.base.completing import one_of
from lull.base.errors import UsageError
from lull.present.quiet import quiet_option
from lull.study.file import find_study
from lull.study.kind import Request
from lull.study.kinds import read_study, run_study


@click.command(short_help="Run an experiment that a TOML file describes.")
@click.argument("name", required=False, shell_complete=one_of(installed.studies))
@click.option("--quick", is_flag=True, help="Be quick: the small version, minutes instead of hours.")
@click.option("--fresh", is_flag=True, help="Start again instead of continuing what an interrupted call has left.")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of the results.  [default: results/study-NAME]",
)
@click.option("--list", "list_them", is_flag=True, help="List the studies that come with Lull.")
@click.option(
    "--grid", "grids", metavar="GRID", multiple=True, help="Simulate only this grid of a study of simulations."
)
@click.option(
    "--only",
    metavar="PATTERN",
    multiple=True,
    help="Simulate only the points whose names (see points.csv) match, and their baselines with active links: "
    "'multi.*.workload-17.*'.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Simulations that run at a time.  [default: one per core]",
)
@click.option(
    "--take",
    metavar="POINTS.CSV",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Take the results of the same simulations from an earlier study instead of simulating again.",
)
@quiet_option
def study(
    name: str | None,
    quick: bool,
    fresh: bool,
    out: Path | None,
    list_them: bool,
    grids: tuple[str, ...],
    only: tuple[str, ...],
    workers: int | None,
    take: Path | None,
) -> None:
    """Run the study NAME, or the study that a TOML file of yours describes.

    The study interleaves the repeats of all points and keeps every finished one, so that an interrupted study
    continues where it stopped; results of another study in the same folder are moved aside. At the end it prints a
    table and the paper's claims next to its own results, and writes OUT/report.html. Points may also be simulations,
    several of which run at a time, or choices: then the study compares what Lull chooses with every fixed choice and
    with the model's prediction. A study of publications runs nothing: it prints the published results next to what
    the model computes for their machines.
    """
    if list_them:
        for known, path in installed.studies().items():
            click.echo(f"{known:<16} {read_study(path).title}")
        return
    if name is None:
        raise UsageError("run a study", "no name was given", "lull study --list shows them")
    run_study(Request(find_study(name), quick, fresh, out, grids, only, workers, take))
