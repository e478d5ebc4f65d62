"""Studies of runs: every point is a command, which runs and is measured in turn with the others."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.text import Text

from lull.base.interrupts import Interrupts
from lull.base.native import unknown_variables
from lull.base.terminal import output
from lull.measurement.state import StudyState, take_up
from lull.study import paper_table
from lull.study.kind import RUNNING, Request, Results, StudyKind
from lull.study.runs.description import StudyOfRuns
from lull.study.runs.points import Places, Point, all_points, prepare_command
from lull.study.runs.runner import beginning, hosts_of, prepare_inputs, run_points


def run(whole: StudyOfRuns, request: Request, results: Results) -> None:
    """Run the missing points, print the comparisons and the paper's claims, and write the report."""
    chosen = whole.made_quick() if request.quick else whole
    folder = request.folder
    places = Places(request.path.parent.resolve(), folder.resolve() / "inputs")
    points = all_points(chosen, places)
    for line in unknown_variables():
        print(f"lull: {line}", file=sys.stderr)
    prepares = [prepare_command(chosen, places, name, places.inputs / name) for name in chosen.prepare]
    begun = beginning(request.path.stem, request.quick, chosen, points, places, prepares=prepares)
    with StudyState(folder, results) as state:
        if words := take_up(state, begun, request.resume):
            print(f"lull: {words}", file=sys.stderr)
        if all((folder / point.name).exists() for point in points):
            print(f"lull: the study in {folder} is complete; --fresh runs it again", file=sys.stderr)
        else:
            with Interrupts() as interrupts:
                prepare_inputs(chosen, places, interrupts)
                with hosts_of(chosen, points):
                    run_points(chosen, points, state, interrupts)
        _conclude(chosen, points, folder)


def _conclude(chosen: StudyOfRuns, points: list[Point], folder: Path) -> None:
    """Print the comparisons and the paper's claims, and write the report."""
    # Imported late: plots take time to import, and a mistake in a file should be reported at once.
    from lull.comparison.screen import render_table
    from lull.study.runs.outcome import outcome_of, write_outcome

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
    paper_table.show(console, chosen.paper, outcome.findings)
    report = write_outcome(chosen, points, folder, outcome)
    console.print()
    console.print(Text(f"report in {report}"), soft_wrap=True)


KIND = StudyKind("runs", StudyOfRuns, RUNNING, run)
