"""`lull simulate --sweep`: check a sweep, run the missing points, and show all points in one table."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from lull.base.interrupts import Interrupts
from lull.experiment.state import ExperimentState, take_up
from lull.present.forms import show_result
from lull.present.messages import say
from lull.schemas.text import json_text
from lull.simulation.account import read_simulation
from lull.simulation.report import write_simulation_report
from lull.simulation.sweep import TABLE, read_sweep
from lull.simulation.sweep_run import beginning, keep, run_tasks, tasks_left, write_records
from lull.simulation.sweep_table import SweepRow, csv_text, describe, rows_of
from lull.simulation.workers import LocalWorkers, Workers
from lull.study.kinds import all_results


def run_sweep(
    path: Path,
    assignments: tuple[str, ...],
    out: Path | None,
    plots: Path | None,
    baseline: bool,
    form: str,
    number: int | None,
    dask: str | None,
    fresh: bool,
) -> None:
    """Run the sweep that `path` describes, or the rest of it, and show its points.

    Args:
        path: The TOML file.
        assignments: Changes to its base, as `key=value`.
        out: Folder of the results.
        plots: Folder for plots.
        baseline: Whether to add the points with links always active.
        form: How to print the points, one of `FORMS`.
        number: Simulations at a time; None: as many as have a core for each of their threads.
        dask: Where Dask runs the simulations; None: in processes on this machine.
        fresh: Whether to start again.
    """
    sweep = read_sweep(path, assignments, baseline)
    folder = out or Path("results") / f"sweep-{sweep.name}"
    threads = max(point.description.content.get("threads", 1) for point in sweep.points)
    at_once = number or max(1, len(os.sched_getaffinity(0)) // threads)
    command = ["lull", "simulate", "--sweep", str(path), *(w for one in assignments for w in ("--set", one))]
    with ExperimentState(folder, "sweep", all_results) as state:
        if words := take_up(state, beginning(sweep), fresh=fresh):
            say(words)
        with Interrupts() as interrupts:
            tasks = tasks_left(sweep, state)
            if tasks:
                run_tasks(tasks, _workers(dask, min(at_once, len(tasks))), partial(keep, state), interrupts)
            elif all((folder / point.name).exists() for point in sweep.points):
                say(f"the sweep in {folder} is complete; --fresh runs it again")
            write_records(sweep, state, command)
            interrupts.check("sweep")
        files = {point.name: read_simulation(folder / point.name) for point in sweep.points}
        rows = rows_of(sweep, files)
        state.write(folder / TABLE, csv_text(sweep, rows).encode())
        report = folder / "report.html"
        write_simulation_report([folder / point.name for point in sweep.points], report, f"Sweep {sweep.name}")
        made = [f"table in {folder / TABLE}, report in {report}"]
        if plots is not None:
            from lull.simulation.plots import write_files, write_plots
            from lull.simulation.sweep_plots import against_hold

            write_plots(plots, list(files.items()))
            write_files(plots, against_hold(sweep, rows))
            made.append(f"plots in {plots}")
    show_result(
        form,
        lambda: describe(sweep, rows),
        lambda: json_text(list[SweepRow], rows),
    )
    for line in made:
        say(line)


def _workers(dask: str | None, number: int) -> Workers:
    if dask is None:
        return LocalWorkers(number)
    from lull.simulation.cluster import DaskWorkers

    return DaskWorkers(dask, number)
