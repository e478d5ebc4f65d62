"""The points of a study of choices, and what runs at each: `auto`, every fixed choice, and runs for predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from lull.base.errors import LullError
from lull.study.choices.description import (
    AUTO,
    CHOICE,
    COUNTED,
    OWN,
    START,
    WRONG,
    WRONG_START,
    ApplicationWithChoices,
    StudyOfChoices,
    as_description,
    combinations,
)
from lull.study.file import Value
from lull.study.runs.description import StudyOfRuns
from lull.study.runs.points import Places, Point, all_points, factors_in_words

MACHINE_FILE = "wrong.toml"  # among the inputs


@dataclass(frozen=True)
class Member:
    """One alternative at one point: its command, and how often it runs."""

    name: str
    point: Point
    study: StudyOfRuns
    runs: int


@dataclass(frozen=True)
class Group:
    """A point of the study: its members run in turn."""

    application: ApplicationWithChoices
    factors: dict[str, Value]
    members: list[Member]

    @property
    def title(self) -> str:
        """The point in words."""
        return f"{self.application.name}: {factors_in_words(self.factors)}"

    @property
    def fixed(self) -> list[Member]:
        """The fixed choices."""
        return [one for one in self.members if one.name != AUTO and one.name not in OWN]

    def member(self, name: str) -> Member | None:
        """The member `name`; None if it does not run at this point."""
        return next((one for one in self.members if one.name == name), None)


def all_groups(study: StudyOfChoices, places: Places, *, wrong_machine: bool) -> list[Group]:
    """The points in the order of their applications and values.

    Args:
        study: The study.
        places: The folders to which placeholders refer.
        wrong_machine: Whether there is a machine file to falsify; otherwise nothing runs with a wrong one.

    Raises:
        LullError: A program does not exist, or a point has no alternatives.
    """
    found: list[Group] = []
    for application in study.applications:
        whole = _members(study, application, places)
        if application.begin:
            begins = application.model_copy(update={"parameters": {**application.parameters, **application.begin}})
            whole |= {
                name: one for name, one in _members(study, begins, places).items() if one.name in (START, WRONG_START)
            }
        own = {COUNTED, WRONG, START, WRONG_START} if wrong_machine else {COUNTED}
        for factors in combinations(application):
            members = [
                one
                for one in whole.values()
                if factors.items() <= one.point.factors.items() and (one.name not in OWN or one.name in own)
            ]
            group = Group(application, factors, members)
            if group.member(AUTO) is None:
                continue
            if not group.fixed:
                raise LullError("lay out the study", f"{group.title}: it has no fixed choice", "exclude fewer")
            found.append(group)
    if not found:
        raise LullError("lay out the study", "it has no point: all are excluded", "exclude fewer")
    return found


def _members(study: StudyOfChoices, application: ApplicationWithChoices, places: Places) -> dict[str, Member]:
    """All members of an application, by the names of their records."""
    described = as_description(study, application)
    members = {}
    for point in all_points(described, places):
        name = str(point.factors[CHOICE])
        believed = {"LULL_MACHINE": str(machine_file(places))} if name in (WRONG, WRONG_START) else {}
        runs = study.measure.counted if name == COUNTED else study.measure.rounds
        members[point.name] = Member(name, replace(point, env={**point.env, **believed}), described, runs)
    return members


def machine_file(places: Places) -> Path:
    """The path of the wrong machine file."""
    return places.inputs / MACHINE_FILE
