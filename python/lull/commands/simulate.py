"""`lull simulate`: simulate, packet by packet, the network that a TOML file describes, or a sweep over many."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from lull.base.abandoning import run_until_interrupted
from lull.base.errors import UsageError
from lull.base.interrupts import Interrupts
from lull.present.forms import format_option, show_result
from lull.present.messages import say
from lull.present.quiet import quiet_option


@click.command(short_help="Simulate a network and the power of its links.")
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Set a key, e.g. power.mode=hybrid.")
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder of the record.  [default: results/NAME-TIME]"
)
@click.option("--label", metavar="TEXT", help="Name of the record in tables and plots.  [default: the file's name]")
@click.option("--plots", metavar="DIR", type=click.Path(path_type=Path), help="Folder for plots, as SVG.")
@click.option(
    "--threads", type=click.IntRange(1, 128), help="Threads that simulate one network together: --set threads=N."
)
@click.option(
    "--savings", is_flag=True, help="Also compute what each power mode would save if its wake-ups delayed no packet."
)
@click.option("--no-baseline", is_flag=True, help="Do not simulate the same network with links always active.")
@format_option
@quiet_option
@click.option(
    "--keys", "lists_keys", is_flag=True, help="Print every key of the file: meaning, default, allowed values."
)
@click.option(
    "--sweep", metavar="SWEEP.toml", type=click.Path(path_type=Path), help="Simulate every point of a matrix."
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Simulations that run at a time, in a sweep.  [default: one per core or, with threads, fewer]",
)
@click.option(
    "--dask", metavar="WHERE", help="Run a sweep with Dask: the address of a scheduler, local, or slurm:FILE.toml."
)
@click.option(
    "--fresh", is_flag=True, help="Start again instead of continuing what an interrupted call has left of a sweep."
)
def simulate(
    file: Path | None,
    assignments: tuple[str, ...],
    out: Path | None,
    label: str | None,
    plots: Path | None,
    threads: int | None,
    savings: bool,
    no_baseline: bool,
    form: str,
    lists_keys: bool,
    sweep: Path | None,
    workers: int | None,
    dask: str | None,
    fresh: bool,
) -> None:
    """Simulate the network that FILE describes, and the same network with links always active as the baseline.

    FILE is TOML, or a program in GOAL, the language of LogGOPSim and ATLAHS, whose network --set names: lull simulate
    app.goal --set topology.preset=fat-tree-4608.

    lull compare and lull report read the record in DIR; its simulation.json, given as FILE, repeats the simulation.
    With --sweep, a whole matrix of simulations runs on all cores; an interrupted sweep continues where it stopped.
    """
    if lists_keys:
        from lull.schemas.networks import SimulationKeys
        from lull.schemas.text import json_text
        from lull.simulation import explain as keys

        show_result(form, keys.describe, lambda: json_text(SimulationKeys, keys.by_table()))
        return
    if threads is not None:
        assignments = (*assignments, f"threads={threads}")
    if sweep is not None:
        from lull.commands.sweep import run_sweep

        for given, name in ((file, "FILE"), (label, "--label")):
            if given is not None:
                raise UsageError(
                    "simulate a sweep", f"{name} and --sweep are both given", "name the base in the sweep's file"
                )
        if savings:
            raise UsageError("simulate a sweep", "--savings is for one simulation", "add [[savings]] to its base")
        run_sweep(sweep, assignments, out, plots, not no_baseline, form, workers, dask, fresh)
        return
    for named, name in ((workers is not None, "--workers"), (dask is not None, "--dask"), (fresh, "--fresh")):
        if named:
            raise UsageError("simulate", f"{name} is for sweeps", "add --sweep SWEEP.toml, or leave it out")
    if file is None:
        raise UsageError("simulate", "no file was named", "name a TOML or GOAL file; --keys lists those of TOML")
    _one(file, assignments, savings, out, label, plots, not no_baseline, form)


def _one(
    file: Path,
    assignments: tuple[str, ...],
    savings: bool,
    out: Path | None,
    label: str | None,
    plots: Path | None,
    baseline: bool,
    form: str,
) -> None:
    from lull.library.simulated import described
    from lull.record.new_folder import check_free, default_folder
    from lull.simulation.describe import describe
    from lull.simulation.description import every_saving
    from lull.simulation.progress import SimulationProgress
    from lull.simulation.settings_by_key import assigned

    changes = assigned(assignments)
    description = described(file, changes, label)
    if savings and "savings" not in description.description.content:
        entries = every_saving(description.description.content["power"])
        description = described(file, {**changes, "savings": entries}, label)
    folder = out or default_folder(description.label, datetime.now())
    check_free(folder)
    with Interrupts() as interrupts:
        with SimulationProgress(interrupts) as progress:
            found = run_until_interrupted(
                "simulate", lambda: description.simulated(progress=progress, baseline=baseline), interrupts
            )
        interrupts.check("simulate")
        words = ["lull", "simulate", str(file), *(word for one in assignments for word in ("--set", one))]
        words += ["--savings"] if savings else []
        found = found.save(folder, command=words)
        if plots is not None:
            from lull.simulation.plots import write_plots

            write_plots(plots, [(found.label, found.file)])
    assert found.result is not None
    result = found.result
    show_result(form, lambda: describe(result), lambda: found.file.model_dump_json(by_alias=True, indent=1))
    if plots is not None:
        say(f"plots in {plots}")
    say(f"record in {folder}")
