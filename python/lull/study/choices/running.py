"""Run a study of choices: round by round, point by point, all alternatives of a point in turn.

The alternatives run within seconds of each other, so that a drift of the machine affects all alike. Their order is
drawn for each round (`lull.experiment.interleave`). Each run is saved as soon as it ends.

If these rounds show a regret, `auto` and the choices that seem better run in more rounds, which exclude chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lull.base.interrupts import Interrupts
from lull.base.whole_file import write_whole
from lull.experiment.interleave import Turn, order
from lull.experiment.state import ExperimentState
from lull.model.machine import Machine
from lull.model.machine_text import machine_text
from lull.study.choices.description import AUTO, OWN, StudyOfChoices
from lull.study.choices.points import Group, Member, machine_file
from lull.study.choices.rows import seem_better, taken_by
from lull.study.choices.wrong_machine import made_wrong
from lull.study.runs.description import StudyOfRuns
from lull.study.runs.points import Places, Point
from lull.study.runs.runner import run_of, run_once, run_turns, write_record

HEADING = "This machine as lull calibrate measured it, made wrong on purpose for a study of choices."


def write_wrong_machine(study: StudyOfChoices, machine: Machine, places: Places) -> None:
    """Write the wrong machine file, if some runs use one.

    Raises:
        LullError: It cannot be written.
    """
    if study.wrong_machine is not None:
        text = machine_text(made_wrong(machine, study.wrong_machine), HEADING)
        places.inputs.mkdir(parents=True, exist_ok=True)
        write_whole(machine_file(places), text.encode(), "machine file", "--out")


def run_groups(study: StudyOfChoices, groups: Sequence[Group], state: ExperimentState, interrupts: Interrupts) -> None:
    """Run every missing repeat, and write the records.

    Raises:
        InterruptedBySignal: A signal asked to stop; finished repeats are kept.
        LullError: A run failed, or did not report what the study needs.
    """
    described = {one.point.name: one.study for group in groups for one in group.members}

    def take(turns: Iterable[Turn[Point]]) -> None:
        run_turns(
            list(turns),
            lambda turn: run_once(described[turn.of.name], turn.of, turn.number, state, interrupts),
            state,
            interrupts,
        )

    take(_turns(study, groups, state))
    doubtful = {number: doubted for number, group in enumerate(groups) if (doubted := _doubtful(group, state))}
    take(_confirming(study, doubtful, state))
    further = {one.point.name for members in doubtful.values() for one in members}
    for group in groups:
        for one in group.members:
            runs = one.runs + study.measure.confirming * (one.point.name in further)
            write_record(_with_runs(one, runs), one.point, state)


def _with_runs(one: Member, runs: int) -> StudyOfRuns:
    return one.study.model_copy(update={"measure": one.study.measure.model_copy(update={"runs": runs})})


def _doubtful(group: Group, state: ExperimentState) -> list[Member]:
    """`auto` and the choices that seem better in the first rounds; empty if none does."""
    chosen_from = [one for one in group.members if one.name == AUTO or one in group.fixed]
    runs = {one.name: run_of(_with_runs(one, one.runs), one.point, state)[0] for one in chosen_from}
    better = seem_better(group, {name: taken_by(group.application, run) for name, run in runs.items()})
    return [one for one in chosen_from if better and one.name in {AUTO, *better}]


def _confirming(
    study: StudyOfChoices, doubtful: Mapping[int, list[Member]], state: ExperimentState
) -> Iterator[Turn[Point]]:
    for number in range(study.measure.rounds, study.measure.rounds + study.measure.confirming):
        for place, members in order(list(doubtful.items()), number, study.seed):
            for one in order(members, number, study.seed + place):
                if not state.has(one.point.name, number):
                    yield Turn(one.point, number)


def _turns(study: StudyOfChoices, groups: Sequence[Group], state: ExperimentState) -> Iterator[Turn[Point]]:
    left = {
        one.point.name: {i for i in range(one.runs) if not state.has(one.point.name, i)}
        for group in groups
        for one in group.members
    }
    for number in range(-study.measure.warmup, study.measure.rounds):
        for place, group in order(list(enumerate(groups)), number, study.seed):
            unfinished = any(left[one.point.name] for one in group.members)
            for one in order(group.members, number, study.seed + place):
                warms_up = number < 0 and unfinished and one.name not in OWN
                if warms_up or number in left[one.point.name]:
                    yield Turn(one.point, number)
