"""Studies of runs: every point is a command, which runs and is measured in turn with the others."""

from __future__ import annotations

from pathlib import Path

from lull.base.interrupts import Interrupts
from lull.base.native import unknown_variables
from lull.experiment.state import ExperimentState, take_up
from lull.present.messages import say
from lull.present.terminal import print_document
from lull.study.kind import RUNNING, Request, Results, StudyKind
from lull.study.runs.description import StudyOfRuns
from lull.study.runs.needs import without_missing
from lull.study.runs.points import Places, Point, all_points, prepare_command
from lull.study.runs.runner import beginning, hosts_of, prepare_inputs, run_points


def run(whole: StudyOfRuns, request: Request, results: Results) -> None:
    """Run the missing points, print the comparisons and the paper's claims, and write the report."""
    chosen, left_out = without_missing(whole.made_quick() if request.quick else whole)
    folder = request.folder
    places = Places(request.path.parent.resolve(), folder.resolve() / "inputs")
    points = all_points(chosen, places)
    for line in (*unknown_variables(), *left_out):
        say(line)
    prepares = [prepare_command(chosen, places, name, places.inputs / name) for name in chosen.prepare]
    begun = beginning(request.path.stem, request.quick, chosen, points, places, prepares=prepares)
    with ExperimentState(folder, "study", results) as state:
        if words := take_up(state, begun, fresh=request.fresh):
            say(words)
        if all((folder / point.name).exists() for point in points):
            say(f"the study in {folder} is complete; --fresh runs it again")
        else:
            with Interrupts() as interrupts:
                prepare_inputs(chosen, places, interrupts)
                with hosts_of(chosen, points):
                    run_points(chosen, points, state, interrupts)
        _conclude(chosen, points, folder)


def _conclude(chosen: StudyOfRuns, points: list[Point], folder: Path) -> None:
    """Print the comparisons and the paper's claims, and write the report."""
    # Imported late: plots take time to import, and a mistake in a file should be reported at once.
    from lull.study.runs.outcome import describe, outcome_of, write_outcome

    outcome = outcome_of(chosen, points, folder)
    report = write_outcome(chosen, points, folder, outcome)
    print_document(describe(chosen, outcome))
    say(f"report in {report}")


KIND = StudyKind("runs", StudyOfRuns, RUNNING, run)
