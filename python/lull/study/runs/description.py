"""A study of runs: one TOML file, checked as a whole before anything runs.

title, question      the question
command              the program and its arguments, with {placeholders}
[paper]              the publication that asks the question
[parameters]         placeholder -> value, the same for all points
[factors]            placeholder -> list of values; the points are all their combinations
[values.F.V]         the meaning of value V of factor F: args, which replace {F}, and env; default: the text of V
[prepare.X]          makes an input before the first run: command and name of its output, used as {prepared:X}
[measure]            runs, or the precision until which to run; warmup, hz, region and metric of comparisons
[quick]              other factors, parameters and measure for --quick
[[exclude]]          combinations of values that are not points
[[compare]]          a baseline and a candidate, for each value of other factors
[[curves]]           plots over a factor of numbers, a line for each value of another, against one of them
[[impacts]]          savings of comparisons, in percent, over a factor of numbers: a line for each comparison
[[bars]]             energy of the nodes and on the wire, a bar for each value of a factor, in groups by another
[[paper_results]]    what the paper says, and the checks that would confirm it
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from lull.measurement.precision import MOST_RUNS, Precision
from lull.study.file import Name, Paper, Study, StudyTable, Value, nearest

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)(?::([\w.-]+))?\}")
RESERVED = ("launch", "python", "here", "output", "app", "prepared")


Need = Literal["frequency"]


class Meaning(StudyTable):
    """The meaning of one value of a factor on the command line and in the environment."""

    args: list[str] | None = None  # None: the value's own text
    env: dict[str, str] = Field(default={})
    needs: Need | None = None  # no points with this value where the frequency of a core cannot be lowered


class Prepare(StudyTable):
    """How an input is made. The command contains {output}, and runs once, before the first repeat."""

    command: list[str] = Field(min_length=1)
    output: str = Field(pattern=r"^[\w][\w.-]*$")


class Hosts(StudyTable):
    """Virtual hosts, as `lull hosts` makes them; created if a point's command contains --hosts."""

    count: int = Field(ge=1, le=250)
    rate: str | None = None  # rate at which each may send, in tc's notation; None: no limit


class Measure(StudyTable):
    """How every point is measured."""

    runs: int = Field(default=10, ge=1)
    warmup: int = Field(default=1, ge=0)
    until_ci: float | None = Field(
        default=None, gt=0
    )  # more runs, until the intervals of all points are within ±this %
    max_runs: int | None = Field(default=None, ge=1)  # the most runs with `until_ci`; None: 100
    hz: float | None = Field(default=None, ge=0.1, le=100)
    region: str | None = None  # compare the time and energy of this region instead of whole runs
    per: str | None = None  # divide them by this metric

    @model_validator(mode="after")
    def _reaches_an_interval(self) -> Self:
        precision = self.precision
        if precision is None and self.max_runs is not None:
            raise ValueError("max_runs is for until_ci: without it, every point has `runs` runs")
        if precision is not None and precision.most < precision.first_look:
            raise ValueError(f"max_runs = {precision.most} is too few: until_ci takes {precision.first_look} runs")
        return self

    @property
    def precision(self) -> Precision | None:
        """When there are enough runs; None: after `runs`."""
        return None if self.until_ci is None else Precision(self.until_ci, self.runs, self.max_runs or MOST_RUNS)


class Quick(StudyTable):
    """What --quick changes."""

    factors: dict[Name, Annotated[list[Value], Field(min_length=1)]] = Field(default={})
    parameters: dict[Name, Value] = Field(default={})
    measure: dict[str, Any] = Field(default={})


class Compare(StudyTable):
    """One comparison, made at every combination of the values of `for_each`."""

    name: str
    baseline: dict[Name, Value] = Field(min_length=1)
    candidate: dict[Name, Value] = Field(min_length=1)
    for_each: list[Name] = Field(default=[])
    listed: bool = True  # false: it is used for claims only, and curves show it better than a table of many rows


class Curves(StudyTable):
    """Plots over a factor, a line for each value of another; one drawing for each combination of all others."""

    name: str
    over: Name  # a factor whose values are numbers
    lines: Name  # a factor
    relative_to: Value  # the value of `lines` that divides the others
    panels: list[str] = Field(min_length=1)  # time, cpu, power or energy, or metrics that the program reports
    unit: str = ""  # of `over`, for the axis


class Impacts(StudyTable):
    """Plots of the savings of comparisons over a factor; one drawing for each combination of all others."""

    name: str
    over: Name  # a factor whose values are numbers; all of `lines` are made for each
    lines: list[str] = Field(min_length=1)  # names of comparisons
    unit: str = ""  # unit of `over`, for the axis


class Bars(StudyTable):
    """Energy of the nodes and on the wire; one drawing for each combination of the other factors."""

    name: str
    groups: Name  # a factor: a group of bars for each value
    bars: Name  # a factor: a bar in each group for each value
    only: dict[Name, list[Value]] = Field(default={})  # omit other values of these factors


class Check(StudyTable):
    """A condition of a claim, which must hold for every comparison concerned."""

    compare: str
    quantity: Literal["speedup", "greenup", "powerup", "wire_over_node"] | None = None
    metric: str | None = None  # instead of a quantity: the candidate's over the baseline's, as reported
    relation: Literal["above", "below"]
    than: float
    only: dict[Name, list[Value]] = Field(default={})  # omit comparisons at other values

    @model_validator(mode="after")
    def _is_about_one_thing(self) -> Self:
        if (self.quantity is None) == (self.metric is None):
            raise ValueError(f"a check of {self.compare} needs either a quantity or a metric")
        return self


class PaperResult(StudyTable):
    """One claim of the paper. Without checks the study cannot decide it, and `note` says why."""

    says: str
    where: str = ""
    checks: list[Check] = Field(default=[])
    note: str = ""


class StudyOfRuns(Study):
    """A whole study of runs, the default kind."""

    kind: Literal["runs"] = "runs"
    paper: Paper | None = None
    command: list[str] = Field(min_length=1)
    parameters: dict[Name, Value] = Field(default={})
    factors: dict[Name, Annotated[list[Value], Field(min_length=1)]]
    values: dict[Name, dict[str, Meaning]] = Field(default={})
    prepare: dict[Name, Prepare] = Field(default={})
    hosts: Hosts | None = None
    measure: Measure = Measure()
    quick: Quick = Quick()
    exclude: list[dict[Name, list[Value]]] = Field(default=[])  # no points where all these factors have such values
    compare: list[Compare] = Field(min_length=1)
    curves: list[Curves] = Field(default=[])
    impacts: list[Impacts] = Field(default=[])
    bars: list[Bars] = Field(default=[])
    paper_results: list[PaperResult] = Field(default=[])
    seed: int = 1  # seed of the order of points within a round

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for name in (*self.factors, *self.parameters):
            if name in RESERVED or (name in self.factors and name in self.parameters):
                raise ValueError(f"the placeholder {name} has another meaning already")
        for where, names in self._names_of_factors():
            for name in names:
                if name not in self.factors:
                    raise ValueError(f"{where}: no factor {name!r}, {nearest(name, list(self.factors))}")
        for name in self.quick.parameters:
            if name not in self.parameters:
                raise ValueError(f"quick.parameters: no parameter {name!r}, {nearest(name, list(self.parameters))}")
        for comparison in self.compare:
            told = {*comparison.baseline, *comparison.candidate, *comparison.for_each}
            if silent := [name for name in self.factors if name not in told]:
                raise ValueError(f"compare {comparison.name}: it does not say at which {silent[0]}, add it to for_each")
        names = [comparison.name for comparison in self.compare]
        for check in (check for result in self.paper_results for check in result.checks):
            if check.compare not in names:
                raise ValueError(f"paper_results: no comparison {check.compare!r}, {nearest(check.compare, names)}")
        self._placeholders_are_known()
        self._plots_can_be_drawn()
        Measure.model_validate({**self.measure.model_dump(), **self.quick.measure})
        return self

    def _names_of_factors(self) -> list[tuple[str, list[str]]]:
        places = [("values", list(self.values)), ("quick.factors", list(self.quick.factors))]
        for comparison in self.compare:
            names = [*comparison.baseline, *comparison.candidate, *comparison.for_each]
            places.append((f"compare {comparison.name}", names))
        places.extend(("exclude", list(excluded)) for excluded in self.exclude)
        places.extend((f"impacts {impacts.name}", [impacts.over]) for impacts in self.impacts)
        places.extend((f"bars {bars.name}", [bars.groups, bars.bars, *bars.only]) for bars in self.bars)
        places.extend((f"curves {curves.name}", [curves.over, curves.lines]) for curves in self.curves)
        for result in self.paper_results:
            places.extend(("paper_results", list(check.only)) for check in result.checks)
        return places

    def _plots_can_be_drawn(self) -> None:
        for bars in self.bars:
            if bars.groups == bars.bars:
                raise ValueError(f"bars {bars.name}: groups and bars are the same factor, {bars.bars}")
        for impacts in self.impacts:
            where = f"impacts {impacts.name}"
            self._is_of_numbers(where, impacts.over)
            by_name = {comparison.name: comparison for comparison in self.compare}
            for line in impacts.lines:
                if line not in by_name:
                    raise ValueError(f"{where}: no comparison {line!r}, {nearest(line, list(by_name))}")
                if impacts.over not in by_name[line].for_each:
                    raise ValueError(f"{where}: {line} is not made for each {impacts.over}")
        for curves in self.curves:
            where = f"curves {curves.name}"
            self._is_of_numbers(where, curves.over)
            if curves.over == curves.lines:
                raise ValueError(f"{where}: over and lines are the same factor, {curves.over}")
            for factors in (self.factors, {**self.factors, **self.quick.factors}):
                if curves.relative_to not in factors[curves.lines]:
                    raise ValueError(f"{where}: {curves.lines} has no value {curves.relative_to!r}")

    def _is_of_numbers(self, where: str, factor: str) -> None:
        wrong = [value for value in self.factors[factor] if not isinstance(value, int | float) or value <= 0]
        if wrong:
            raise ValueError(f"{where}: over {factor}, whose value {wrong[0]!r} is not a positive number")

    def _placeholders_are_known(self) -> None:
        meanings = [meaning.args or [] for by_value in self.values.values() for meaning in by_value.values()]
        for text in [*self.command, *(text for args in meanings for text in args)]:
            for name, detail in PLACEHOLDER.findall(text):
                if name == "prepared" and detail not in self.prepare:
                    raise ValueError(f"{text}: nothing prepares {detail!r}, {nearest(detail, list(self.prepare))}")
                known = [*self.factors, *self.parameters, *RESERVED]
                if name not in known or name == "output":
                    raise ValueError(f"{text}: no placeholder {name!r}, {nearest(name, known)}")

    def made_quick(self) -> StudyOfRuns:
        """The study in the form that --quick runs."""
        return self.model_copy(
            update={
                "factors": {**self.factors, **self.quick.factors},
                "parameters": {**self.parameters, **self.quick.parameters},
                "measure": Measure.model_validate({**self.measure.model_dump(), **self.quick.measure}),
            }
        )
