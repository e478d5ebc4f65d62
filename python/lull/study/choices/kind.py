"""Studies of choices: what Lull chooses is compared with every fixed choice and with the model's predictions."""

from __future__ import annotations

from lull.base.interrupts import Interrupts
from lull.base.native import unknown_variables
from lull.experiment.state import ExperimentState, take_up
from lull.present.messages import say
from lull.present.terminal import print_document
from lull.study.choices.description import StudyOfChoices
from lull.study.kind import RUNNING, Request, Results, StudyKind
from lull.study.runs.points import Places
from lull.study.runs.runner import beginning, prepare_inputs


def run(whole: StudyOfChoices, request: Request, results: Results) -> None:
    """Run the missing repeats, predict every choice, and report the regret of `auto`."""
    # Imported late: plots and model take time to import, and a mistake in a file should be reported at once.
    from lull.model.machine import HERE, kept_machine, read_machine
    from lull.study.choices.outcome import describe, outcome_of, write
    from lull.study.choices.points import all_groups
    from lull.study.choices.running import run_groups, write_wrong_machine

    chosen = whole.made_quick() if request.quick else whole
    folder = request.folder
    places = Places(request.path.parent.resolve(), folder.resolve() / "inputs")
    kept = kept_machine()
    machine = read_machine(HERE) if kept is not None and kept.exists() else None
    if machine is None:
        say("this host has not been calibrated: nothing is predicted; lull calibrate")
    groups = all_groups(chosen, places, wrong_machine=machine is not None)
    points = [one.point for group in groups for one in group.members]
    # Including those of a host that was calibrated since: they belong to the same study, and --fresh removes them.
    possible = [one.point for group in all_groups(chosen, places, wrong_machine=True) for one in group.members]
    for line in unknown_variables():
        say(line)
    with ExperimentState(folder, "study", results) as state:
        if words := take_up(
            state, beginning(request.path.stem, request.quick, chosen, possible, places), fresh=request.fresh
        ):
            say(words)
        if all((folder / point.name).exists() for point in points):
            say(f"the study in {folder} is complete; --fresh runs it again")
        else:
            with Interrupts() as interrupts:
                prepare_inputs(groups[0].members[0].study, places, interrupts)
                if machine is not None:
                    write_wrong_machine(chosen, machine, places)
                run_groups(chosen, groups, state, interrupts)
        outcome = outcome_of(groups, folder, machine)
        report = write(chosen, outcome, folder)
    print_document(describe(chosen, outcome))
    say(f"every figure in {folder / 'choices.json'}, report in {report}")


KIND = StudyKind("choices", StudyOfChoices, RUNNING, run, results=("choices.json",))
