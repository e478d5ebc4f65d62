"""What a study of choices is: one TOML file, known by kind = "choices".

title, question      what is asked; `note` as in studies of measured runs
[measure]            how every point is measured
[prepare.X]          makes an input before the first run, as in studies of measured runs
[[applications]]     a command, the values of its factors, and what may be chosen for it: its points are all
                     combinations of the values, at each of which every alternative runs in turn
[wrong_machine]      what is wrong in the machine file by which `auto` runs once more, where an application asks for it
[quick]              other values for --quick
"""

from __future__ import annotations

import itertools
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from lull.study.file import Name, Study, StudyTable, Value
from lull.study.runs.description import Compare, Meaning, Measure, Prepare, StudyOfRuns

AUTO: Final = "auto"  # the first of all alternatives: what Lull takes by itself
COUNTED: Final = "counted"  # the same with its waits counted: what predictions are made from
WRONG: Final = "wrong"  # the same, by a machine file that is wrong
START: Final = "start"  # the same, only the begin of the run
WRONG_START: Final = "wrong_start"
OWN: Final = (COUNTED, WRONG, START, WRONG_START)
CHOICE: Final = "choice"  # the factor of the alternatives
APPLICATION: Final = "application"  # and that of the applications


class MeasureInTurns(StudyTable):
    """How every point is measured."""

    rounds: int = Field(default=6, ge=1)  # each alternative of a point runs once in each
    counted: int = Field(default=2, ge=1)  # runs with their waits counted, by which alternatives are predicted
    confirming: int = Field(default=6, ge=0)  # further rounds of `auto` and what seemed better in the first
    warmup: int = Field(default=0, ge=0)  # rounds before the first
    hz: float = Field(default=50, ge=0.1, le=100)  # readings of energy in a second


class ApplicationWithChoices(StudyTable):
    """An application at points, and what may be chosen for it."""

    name: Name
    chooses: str  # what is chosen, in words
    command: list[str] = Field(min_length=1)  # {choice} stands for the alternative, as {factor} for a factor's value
    parameters: dict[Name, Value] = Field(default={})
    factors: dict[Name, Annotated[list[Value], Field(min_length=1)]]
    values: dict[Name, dict[str, Meaning]] = Field(default={})
    alternatives: dict[str, Meaning] = Field(min_length=2)  # the first is `auto`; advice knows others by env or name
    region: str | None = None  # its time and energy, instead of those of whole runs
    per: str | None = None  # divided by this metric
    seconds: str | None = None  # this metric is the time; then no energy is told
    exclude: list[dict[Name, list[Value]]] = Field(default=[])  # no points, or, with `choice`, no alternatives there
    begin: dict[Name, Value] = Field(default={})  # parameters of a tenth of a run; asks for a wrong machine file

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if next(iter(self.alternatives)) != AUTO:
            raise ValueError(f"{self.name}: the first alternative is {AUTO}, what Lull takes by itself")
        for name in self.alternatives:
            if name in OWN:
                raise ValueError(f"{self.name}: the alternative {name} has another meaning already")
        for name in (APPLICATION, CHOICE):
            if name in self.factors or name in self.parameters:
                raise ValueError(f"{self.name}: the placeholder {name} has another meaning already")
        for name in self.begin:
            if name not in self.parameters:
                raise ValueError(f"{self.name}: begin: no parameter {name!r}")
        if self.seconds is not None and (self.region is not None or self.per is not None):
            raise ValueError(f"{self.name}: seconds is a time by itself, without region and per")
        return self


class WrongMachine(StudyTable):
    """What is wrong in the machine file."""

    latency: float = Field(default=10, gt=0)  # all times of messages and wake-ups, by so much
    bandwidth: float = Field(default=0.25, gt=0)  # all rates


class QuickApplication(StudyTable):
    """What --quick changes of an application."""

    factors: dict[Name, Annotated[list[Value], Field(min_length=1)]] = Field(default={})
    parameters: dict[Name, Value] = Field(default={})
    leave_out: list[str] = Field(default=[])  # alternatives
    wrong: bool = False  # whether it runs by a wrong machine file, too


class QuickChoices(StudyTable):
    """What --quick changes; applications that it does not name are left out."""

    measure: dict[str, Any] = Field(default={})
    applications: dict[Name, QuickApplication] = Field(default={})


class StudyOfChoices(Study):
    """A whole study."""

    kind: Literal["choices"]
    measure: MeasureInTurns = MeasureInTurns()
    prepare: dict[Name, Prepare] = Field(default={})
    applications: list[ApplicationWithChoices] = Field(min_length=1)
    wrong_machine: WrongMachine | None = None
    quick: QuickChoices = QuickChoices()
    seed: int = 1  # of the order of points and alternatives within a round

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        names = [one.name for one in self.applications]
        if len(set(names)) < len(names):
            raise ValueError("two applications have one name")
        for name in self.quick.applications:
            if name not in names:
                raise ValueError(f"quick.applications: there is no {name!r}")
        if self.wrong_machine is None and any(one.begin for one in self.applications):
            raise ValueError("an application has `begin`, but there is no [wrong_machine]")
        MeasureInTurns.model_validate({**self.measure.model_dump(), **self.quick.measure})
        for one in self.applications:
            as_description(self, one)
        return self

    def made_quick(self) -> StudyOfChoices:
        """The same study as --quick runs it."""
        return self.model_copy(
            update={
                "measure": MeasureInTurns.model_validate({**self.measure.model_dump(), **self.quick.measure}),
                "applications": [
                    _made_quick(one, self.quick.applications[one.name])
                    for one in self.applications
                    if one.name in self.quick.applications
                ]
                or self.applications,
            }
        )


def _made_quick(one: ApplicationWithChoices, quick: QuickApplication) -> ApplicationWithChoices:
    return one.model_copy(
        update={
            "factors": {**one.factors, **quick.factors},
            "parameters": {**one.parameters, **quick.parameters},
            "alternatives": {name: what for name, what in one.alternatives.items() if name not in quick.leave_out},
            "begin": one.begin if quick.wrong else {},
        }
    )


def as_description(study: StudyOfChoices, one: ApplicationWithChoices) -> StudyOfRuns:
    """An application as a study of measured runs: its alternatives, and what predictions need, are one more factor."""
    auto = one.alternatives[AUTO]
    counted = auto.model_copy(update={"env": {**auto.env, "LULL_STATS": "1"}})
    choices = {**{name: _told(name, what) for name, what in one.alternatives.items()}, COUNTED: _told(AUTO, counted)}
    if one.begin:
        choices |= {own: _told(AUTO, auto) for own in (WRONG, START, WRONG_START)}
    factors: dict[str, list[Value]] = {APPLICATION: [one.name], **one.factors, CHOICE: list(choices)}
    return StudyOfRuns(
        title=study.title,
        question=study.question,
        command=one.command,
        parameters=one.parameters,
        factors=factors,
        values={**one.values, CHOICE: choices},
        prepare=study.prepare,
        measure=Measure(
            runs=study.measure.rounds,
            warmup=study.measure.warmup,
            hz=study.measure.hz,
            region=one.region,
            per=one.per or one.seconds,
        ),
        exclude=one.exclude,
        compare=[
            Compare(
                name=AUTO,
                baseline={CHOICE: AUTO},
                candidate={CHOICE: COUNTED},
                for_each=[name for name in factors if name != CHOICE],
            )
        ],
        seed=study.seed,
    )


def _told(name: str, meaning: Meaning) -> Meaning:
    """With the words that stand for it."""
    return meaning if meaning.args is not None else meaning.model_copy(update={"args": [name]})


def combinations(one: ApplicationWithChoices) -> list[dict[str, Value]]:
    """The points of an application, whether excluded or not, by their factors."""
    return [dict(zip(one.factors, values, strict=True)) for values in itertools.product(*one.factors.values())]
