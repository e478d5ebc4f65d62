"""`lull study`: run an experiment that a TOML file describes, compare its points, and hold them against the paper."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.text import Text

from lull.base import installed
from lull.base.completing import one_of
from lull.base.errors import UsageError
from lull.base.interrupts import InterruptedBySignal, Interrupts
from lull.base.native import unknown_variables
from lull.base.terminal import output
from lull.measurement.state import Begun, State, take_up
from lull.study import beside_paper
from lull.study.choices.description import is_of_choices, read_choices
from lull.study.description import Description, find_study, read_description
from lull.study.kinds import read_study
from lull.study.points import Places, Point, all_points, prepare_command
from lull.study.published.description import is_of_publications
from lull.study.runner import beginning, hosts_of, prepare_inputs, run_points
from lull.study.simulated.description import is_simulated, read_simulated


@click.command(short_help="Run an experiment that a TOML file describes.")
@click.argument("name", required=False, shell_complete=one_of(installed.studies))
@click.option("--quick", is_flag=True, help="Run the small version: minutes instead of hours.")
@click.option(
    "--resume/--fresh",
    default=None,
    help="Continue the results in OUT, or start anew.  [default: continue the same study, move another aside]",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results.  [default: results/study-NAME]")
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
    help="How many simulations run at a time.  [default: one per core]",
)
@click.option(
    "--take",
    metavar="POINTS.CSV",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Take results of the same simulations from an earlier study instead of simulating again.",
)
def study(
    name: str | None,
    quick: bool,
    resume: bool | None,
    out: Path | None,
    list_them: bool,
    grids: tuple[str, ...],
    only: tuple[str, ...],
    workers: int | None,
    take: Path | None,
) -> None:
    """Run the study NAME, or the study that a TOML file of yours describes.

    Repeats of all points are interleaved, and every finished one is kept: an interrupted study continues where it
    stopped. At the end the study prints a table and the paper's claims beside its own results, and writes
    OUT/report.html. Points may also be simulations, several of which run at once, or choices, for which the study
    compares what Lull chooses with every fixed choice and with the model's prediction. A study of publications runs
    nothing: it prints what they report beside what the model computes for their machines.
    """
    if list_them:
        for known, path in installed.studies().items():
            click.echo(f"{known:<16} {read_study(path).title}")
        return
    if name is None:
        raise UsageError("run a study", "no name was given", "lull study --list shows them")
    path = find_study(name)
    of_simulations = {"--grid": grids, "--only": only, "--workers": workers, "--take": take}
    if is_of_publications(path):
        of_runs = {"--quick": quick, "--resume": resume is True, "--fresh": resume is False, "--out": out}
        _refuse(name, {**of_runs, **of_simulations}, "that run something")
        tell_publications(path)
        return
    if is_simulated(path):
        simulate_study(path, quick, resume, _folder(path, quick, out), (grids, only), workers, take)
        return
    _refuse(name, of_simulations, "of simulations")
    if is_of_choices(path):
        study_choices(path, quick, resume, _folder(path, quick, out))
        return
    whole = read_description(path)
    chosen = whole.made_quick() if quick else whole
    folder = _folder(path, quick, out)
    places = Places(path.parent.resolve(), folder.resolve() / "inputs")
    points = all_points(chosen, places)
    for line in unknown_variables():
        print(f"lull: {line}", file=sys.stderr)
    with State(folder) as state:
        if words := take_up(state, _beginning(path, quick, chosen, points, places), resume):
            print(f"lull: {words}", file=sys.stderr)
        if all((folder / point.name).exists() for point in points):
            print(f"lull: the study in {folder} is complete; --fresh runs it anew", file=sys.stderr)
        else:
            with Interrupts() as interrupts:
                prepare_inputs(chosen, places, interrupts)
                with hosts_of(chosen, points):
                    run_points(chosen, points, state, interrupts)
        conclude(chosen, points, folder)


def _beginning(path: Path, quick: bool, chosen: Description, points: Sequence[Point], places: Places) -> Begun:
    prepares = [prepare_command(chosen, places, name, places.inputs / name) for name in chosen.prepare]
    return beginning(path.stem, quick, chosen, points, places, prepares=prepares)


def _refuse(name: str, options: Mapping[str, object], kind: str) -> None:
    """Say of the first option that was given that it is for studies of another kind."""
    for option, given in options.items():
        if given:
            raise UsageError(f"run the study {name}", f"{option} is for studies {kind}", "leave it out")


def tell_publications(path: Path) -> None:
    """Print what publications say, beside what the model makes of the machine files."""
    from lull.study.published.description import read_publications
    from lull.study.published.screen import show
    from lull.study.published.told import tell

    whole = read_publications(path)
    show(whole, tell(whole), output())


def study_choices(path: Path, quick: bool, resume: bool | None, folder: Path) -> None:
    """Run what is missing of a study of choices, predict every choice, and say what `auto` was worth."""
    from lull.model.machine import HERE, kept_machine, read_machine
    from lull.study.choices.outcome import outcome_of, show, write
    from lull.study.choices.points import all_groups
    from lull.study.choices.running import run_groups, write_wrong_machine
    from lull.study.runner import prepare_inputs

    whole = read_choices(path)
    chosen = whole.made_quick() if quick else whole
    places = Places(path.parent.resolve(), folder.resolve() / "inputs")
    kept = kept_machine()
    machine = read_machine(HERE) if kept is not None and kept.exists() else None
    if machine is None:
        print("lull: this host has not been calibrated: nothing is predicted; lull calibrate", file=sys.stderr)
    groups = all_groups(chosen, places, wrong_machine=machine is not None)
    points = [one.point for group in groups for one in group.members]
    # Also those of a host that is calibrated in between: they belong to the same study, and --fresh removes them.
    possible = [one.point for group in all_groups(chosen, places, wrong_machine=True) for one in group.members]
    for line in unknown_variables():
        print(f"lull: {line}", file=sys.stderr)
    with State(folder) as state:
        if words := take_up(state, beginning(path.stem, quick, chosen, possible, places), resume):
            print(f"lull: {words}", file=sys.stderr)
        if all((folder / point.name).exists() for point in points):
            print(f"lull: the study in {folder} is complete; --fresh runs it anew", file=sys.stderr)
        else:
            with Interrupts() as interrupts:
                prepare_inputs(groups[0].members[0].study, places, interrupts)
                if machine is not None:
                    write_wrong_machine(chosen, machine, places)
                run_groups(chosen, groups, state, interrupts)
        outcome = outcome_of(groups, folder, machine)
        report = write(chosen, outcome, folder)
    console = output()
    show(chosen, outcome, console)
    console.print()
    console.print(Text(f"every figure in {folder / 'choices.json'}, report in {report}"), soft_wrap=True)


def simulate_study(
    path: Path,
    quick: bool,
    resume: bool | None,
    folder: Path,
    wanted: tuple[tuple[str, ...], tuple[str, ...]],
    workers: int | None,
    take: Path | None,
) -> None:
    """Simulate what is missing of a study of simulations, and say what it has found so far.

    `wanted`: of these grids, and with names of these patterns; of all where there are none.
    """
    from lull.study.simulated import running
    from lull.study.simulated.grids import all_points, selected
    from lull.study.simulated.outcome import outcome_of, show, write
    from lull.study.simulated.rows import rows_of
    from lull.study.simulated.taken import check_probes, probes, read_taken

    whole = read_simulated(path)
    chosen = whole.made_quick() if quick else whole
    points = all_points(chosen)
    names = selected(points, *wanted, asked=f"run the study {path.stem}")
    taken = read_taken(take, points) if take else {}
    with State(folder) as state:
        if words := take_up(state, running.beginning(path.stem, quick, points), resume):
            print(f"lull: {words}", file=sys.stderr)
        missing = running.points_left(points, state)
        left = [point for point in missing if point.name not in taken and point.name in names]
        again = [point for point in probes(taken, points) if point in missing]
        with Interrupts() as interrupts:
            at_once = workers or len(os.sched_getaffinity(0))
            running.run_points(again, at_once, state, interrupts)
            if take:
                check_probes(taken, rows_of(points, state, taken), take)
                print(f"lull: {len(taken):,} simulations are taken from {take}", file=sys.stderr)
            try:
                running.run_points(left, at_once, state, interrupts)
            except InterruptedBySignal:
                report = write(chosen, outcome_of(chosen, points, state, taken), state)
                print(f"lull: what is there is told in {report}", file=sys.stderr)
                raise
        if not left:
            print(f"lull: all of it is in {folder}; --fresh runs it anew", file=sys.stderr)
        outcome = outcome_of(chosen, points, state, taken)
        report = write(chosen, outcome, state)
    console = output()
    show(chosen, outcome, console)
    console.print()
    console.print(Text(f"table in {folder / 'points.csv'}, report in {report}"), soft_wrap=True)


def _folder(path: Path, quick: bool, out: Path | None) -> Path:
    return out or Path("results") / f"study-{path.stem}{'-quick' if quick else ''}"


def conclude(chosen: Description, points: list[Point], folder: Path) -> None:
    """Print the comparisons and the paper's claims beside them, and write the report."""
    from lull.comparison.screen import render_table
    from lull.study.outcome import outcome_of, write_outcome

    outcome = outcome_of(chosen, points, folder)
    console = output()
    console.print(Text(chosen.title, style="bold"))
    console.print(Text(chosen.question), soft_wrap=True)
    console.print()
    if outcome.rows:
        render_table(outcome.rows, console)
    for drawn in outcome.drawings:
        drawn.print(console)
        console.print()
    for warning in outcome.warnings:
        console.print(Text(f"note: {warning}"), soft_wrap=True)
    if chosen.note:
        console.print(Text(f"note: {chosen.note}"), soft_wrap=True)
    beside_paper.show(console, chosen.paper, outcome.findings)
    report = write_outcome(chosen, points, folder, outcome)
    console.print()
    console.print(Text(f"report in {report}"), soft_wrap=True)
