"""Studies of simulations: every point is a simulation, several of which run at a time."""

from __future__ import annotations

import os

from lull.base.interrupts import InterruptedBySignal, Interrupts
from lull.experiment.state import ExperimentState, take_up
from lull.present.messages import say
from lull.present.terminal import print_document
from lull.study.kind import RUNNING, Request, Results, StudyKind
from lull.study.simulations.description import StudyOfSimulations


def run(whole: StudyOfSimulations, request: Request, results: Results) -> None:
    """Simulate the missing points of the grids and names in the request, and report all results."""
    # Imported late: plots take time to import, and a mistake in a file should be reported at once.
    from lull.study.simulations import running
    from lull.study.simulations.earlier_results import check_probes, probes, read_earlier_rows
    from lull.study.simulations.grids import all_points, selected
    from lull.study.simulations.outcome import describe, outcome_of, write
    from lull.study.simulations.rows import rows_of

    chosen = whole.made_quick() if request.quick else whole
    take = request.take
    points = all_points(chosen)
    names = selected(points, request.grids, request.only, asked=f"run the study {request.path.stem}")
    taken = read_earlier_rows(take, points) if take else {}
    with ExperimentState(request.folder, "study", results) as state:
        if words := take_up(state, running.beginning(request.path.stem, request.quick, points), fresh=request.fresh):
            say(words)
        missing = running.points_left(points, state)
        left = [point for point in missing if point.name not in taken and point.name in names]
        again = [point for point in probes(taken, points) if point in missing]
        with Interrupts() as interrupts:
            at_once = request.workers or len(os.sched_getaffinity(0))
            running.run_points(again, at_once, state, interrupts)
            if take:
                check_probes(taken, rows_of(points, state, taken), take)
                say(f"{len(taken):,} simulations are taken from {take}")
            try:
                running.run_points(left, at_once, state, interrupts)
            except InterruptedBySignal:
                report = write(chosen, outcome_of(chosen, points, state, taken), state)
                say(f"the results so far are in {report}")
                raise
        if not left:
            say(f"all requested simulations are in {request.folder}; --fresh runs them again")
        outcome = outcome_of(chosen, points, state, taken)
        report = write(chosen, outcome, state)
    print_document(describe(chosen, outcome))
    say(f"tables in {request.folder / 'points.csv'} and savings.csv, report in {report}")


KIND = StudyKind(
    "simulations",
    StudyOfSimulations,
    RUNNING | {"--grid", "--only", "--workers", "--take"},
    run,
    results=("points.csv", "savings.csv"),
)
