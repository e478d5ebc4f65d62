"""The description of a study of choices: a TOML file with kind = "choices".

title, question      the question; `note` as in studies of measured runs
[measure]            how every point is measured
[prepare.X]          makes an input before the first run, as in studies of measured runs
[[applications]]     a command, the values of its factors, and the alternatives: the points are all combinations of
                     the values, at each of which the alternatives run in turn
[wrong_machine]      the errors of a machine file with which `auto` runs again, for applications that request it
[quick]              other values for --quick
"""

from __future__ import annotations

import itertools
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from lull.study.file import Name, Study, StudyTable, Value
from lull.study.runs.description import Compare, Meaning, Measure, Prepare, StudyOfRuns

AUTO: Final = "auto"  # the first alternative: what Lull chooses
COUNTED: Final = "counted"  # `auto` with its waits counted, the basis of predictions
WRONG: Final = "wrong"  # `auto` with a wrong machine file
START: Final = "start"  # only the begin of such a run
WRONG_START: Final = "wrong_start"
OWN: Final = (COUNTED, WRONG, START, WRONG_START)
CHOICE: Final = "choice"  # name of the factor whose values are the alternatives
APPLICATION: Final = "application"  # name of the factor whose values are the applications


class MeasureInTurns(StudyTable):
    """How every point is measured."""

    rounds: int = Field(default=6, ge=1)  # in each round, every alternative of a point runs once
    counted: int = Field(default=2, ge=1)  # runs with their waits counted, from which alternatives are predicted
    confirming: int = Field(default=6, ge=0)  # more rounds, of `auto` and of what seemed better before
    warmup: int = Field(default=0, ge=0)  # warm-up rounds
    hz: float = Field(default=50, ge=0.1, le=100)  # readings of energy per second


class ApplicationWithChoices(StudyTable):
    """An application, its points and its alternatives."""

    name: Name
    chooses: str  # the choice in words
    command: list[str] = Field(min_length=1)  # {choice} is replaced by the alternative, {factor} by a factor's value
    parameters: dict[Name, Value] = Field(default={})
    factors: dict[Name, Annotated[list[Value], Field(min_length=1)]]
    values: dict[Name, dict[str, Meaning]] = Field(default={})
    alternatives: dict[str, Meaning] = Field(min_length=2)  # the first is `auto`; advice finds others by env or name
    region: str | None = None  # take its time and energy instead of those of whole runs
    per: str | None = None  # divide them by this metric
    seconds: str | None = None  # take this metric as the time; then there is no energy
    exclude: list[dict[Name, list[Value]]] = Field(default=[])  # excluded points, or, with `choice`, alternatives
    begin: dict[Name, Value] = Field(default={})  # parameters of a tenth of a run; requests a wrong machine file

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if next(iter(self.alternatives)) != AUTO:
            raise ValueError(f"{self.name}: the first alternative is {AUTO}, what Lull chooses")
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
    """The errors of the machine file."""

    latency: float = Field(default=10, gt=0)  # factor of all times of messages and wake-ups
    bandwidth: float = Field(default=0.25, gt=0)  # factor of all rates


class QuickApplication(StudyTable):
    """What --quick changes of an application."""

    factors: dict[Name, Annotated[list[Value], Field(min_length=1)]] = Field(default={})
    parameters: dict[Name, Value] = Field(default={})
    leave_out: list[str] = Field(default=[])  # alternatives
    wrong: bool = False  # whether it also runs with a wrong machine file


class QuickChoices(StudyTable):
    """What --quick changes; it omits applications that are not named."""

    measure: dict[str, Any] = Field(default={})
    applications: dict[Name, QuickApplication] = Field(default={})


class StudyOfChoices(Study):
    """A whole study of choices.

    [Meaning](#meaning) and [Prepare](#prepare) are those of studies of runs. In `exclude`, `choice` is the alternative.
    `counted`, `wrong`, `start` and `wrong_start` are further runs of `auto` that the study needs.
    """

    kind: Literal["choices"]
    measure: MeasureInTurns = MeasureInTurns()
    prepare: dict[Name, Prepare] = Field(default={})
    applications: list[ApplicationWithChoices] = Field(min_length=1)
    wrong_machine: WrongMachine | None = None
    quick: QuickChoices = QuickChoices()
    seed: int = 1  # seed of the order of points and alternatives within a round

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
        """The study in the form that --quick runs."""
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
    """An application as a study of measured runs, with the alternatives, and the runs for predictions, as a factor."""
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
    """The meaning, with the words that replace the placeholder."""
    return meaning if meaning.args is not None else meaning.model_copy(update={"args": [name]})


def combinations(one: ApplicationWithChoices) -> list[dict[str, Value]]:
    """The points of an application by their factors, including excluded ones."""
    return [dict(zip(one.factors, values, strict=True)) for values in itertools.product(*one.factors.values())]
