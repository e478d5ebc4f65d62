"""Running a study of choices: round by round, point by point, all alternatives of a point in turn.

They follow one another within seconds, so that a drift of the machine falls on all alike; the order within a point is
drawn anew for each round, as `lull.measurement.interleave` says. Each run is kept as soon as it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lull.base.interrupts import Interrupts
from lull.base.whole_file import write_whole
from lull.measurement.interleave import Turn, order
from lull.measurement.state import State
from lull.model.machine import Machine
from lull.model.machine_text import machine_text
from lull.study.choices.description import OWN, StudyOfChoices
from lull.study.choices.points import Group, machine_file
from lull.study.choices.wrong_machine import made_wrong
from lull.study.points import Places, Point
from lull.study.runner import run_once, run_turns, write_record

HEADING = "This machine as lull calibrate measured it, made wrong on purpose for a study of choices."


def write_wrong_machine(study: StudyOfChoices, machine: Machine, places: Places) -> None:
    """Write the machine file that some runs are to believe, where there are any.

    Raises:
        LullError: It cannot be written.
    """
    if study.wrong_machine is not None:
        text = machine_text(made_wrong(machine, study.wrong_machine), HEADING)
        places.inputs.mkdir(parents=True, exist_ok=True)
        write_whole(machine_file(places), text.encode(), "machine file", "--out")


def run_groups(study: StudyOfChoices, groups: Sequence[Group], state: State, interrupts: Interrupts) -> None:
    """Run every repeat that is not there yet, and write the records.

    Raises:
        InterruptedBySignal: A signal asked to stop; what was finished is kept.
        LullError: A run failed, or did not report what the study counts.
    """
    described = {one.point.name: one.study for group in groups for one in group.members}
    run_turns(
        list(_turns(study, groups, state)),
        lambda turn: run_once(described[turn.of.name], turn.of, turn.number, state, interrupts),
        state,
        interrupts,
    )
    for group in groups:
        for one in group.members:
            runs = one.study.model_copy(update={"measure": one.study.measure.model_copy(update={"runs": one.runs})})
            write_record(runs, one.point, state)


def _turns(study: StudyOfChoices, groups: Sequence[Group], state: State) -> Iterator[Turn[Point]]:
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
