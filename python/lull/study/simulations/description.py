"""The description of a study of simulations: a TOML file with kind = "simulations".

title, question      the question; `note` and [paper] as in studies of measured runs
[simulation]         tables of a simulation's file that all points share, except jobs, topology and power
[job]                keys that all jobs share
[applications.X]     a job
topologies           presets of networks
mappings             of processes onto nodes
[[power]]            a mode of links, and its holds
[[grids]]            applications alone, or drawn together, at numbers of processes; with all of the above, or with
                     the grid's own [[grids.power]]
[[figures]]          drawings of a grid
[[paper_results]]    what the paper says, and the checks that would confirm it
[quick]              other values of these keys for --quick
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from lull.study.file import Name, Paper, Study, StudyTable, Value, nearest

FACTORS = ("topology", "mapping", "application", "processes", "workload", "mode", "hold")

Only = dict[str, list[Value]]


class Application(StudyTable):
    """An application that runs as a job."""

    job: dict[str, Any]  # keys of `[[jobs]]`, including its pattern


class Power(StudyTable):
    """A mode of links at some holds."""

    mode: str
    name: str = ""  # name in tables and points; empty: the mode's
    holds: list[str] = Field(default=[])  # empty: the mode has none
    keys: dict[str, Any] = Field(default={})  # other keys of [power]
    routing: dict[str, Any] = Field(default={})  # keys of [routing] that replace the study's

    @property
    def label(self) -> str:
        """The value of the factor `mode`."""
        return self.name or self.mode


class Sample(StudyTable):
    """How much of each simulation of a grid is simulated."""

    units: int = Field(default=1, ge=1)  # measured of each kind in a run
    cut: str = "30 ms"  # longest computing
    seeds: int = Field(default=3, ge=1)  # samples of each point, which give an interval


class Grid(StudyTable):
    """Points: each application alone at each number of processes, or workloads drawn from several applications."""

    name: Name
    processes: list[Annotated[int, Field(ge=2)]] = Field(min_length=1)  # of a job
    workloads: int = Field(default=0, ge=0)  # number of drawn workloads; 0: each application alone
    total: int = Field(default=0, ge=0)  # processes of a workload
    seed: int = 1  # seed of the drawn workloads
    sample: Sample | None = None  # None: whole simulations
    power: list[Power] = Field(default=[])  # empty: those of the study

    @model_validator(mode="after")
    def _can_be_drawn(self) -> Self:
        least = min(self.processes)
        if self.workloads and (self.total < least or any(number % least for number in (*self.processes, self.total))):
            raise ValueError(f"grid {self.name}: total and processes must be multiples of {least}, the smallest")
        return self


class Figure(StudyTable):
    """A drawing of a grid, for each topology."""

    name: str
    grid: Name
    kind: Literal["by-processes", "distribution", "trade-off"]
    only: Only = Field(default={})  # omit other values of these factors


class Bound(StudyTable):
    """A condition of a statement.

    The statistic `of` of `quantity` over all rows at `at`, minus the same at `minus` if that is given, must be on one
    side of `than`, for each combination of the values of `for_each`. A difference ignores rows without a partner on the
    other side.
    """

    grid: Name
    quantity: Literal["saved", "network_saved", "used_saved", "slowdown"]  # shares: 0.1 is 10 %
    of: Literal["median", "least", "most"] = "median"
    at: Only = Field(default={})
    minus: Only = Field(default={})
    minus_grid: Name | None = None  # the grid of `minus`, if it is another one
    relation: Literal["above", "below"]
    than: float
    for_each: list[str] = Field(default=[])


class Statement(StudyTable):
    """One statement of the paper. Without checks the study cannot decide it, and `note` says why."""

    says: str
    where: str = ""
    checks: list[Bound] = Field(default=[])
    note: str = ""


class QuickSimulations(StudyTable):
    """What --quick changes."""

    topologies: list[str] | None = None
    mappings: list[str] | None = None
    power: list[Power] | None = None
    grids: list[Grid] | None = None
    jobs: dict[Name, dict[str, Any]] = Field(default={})  # application -> keys of its job


class StudyOfSimulations(Study):
    """A whole study of simulations.

    The factors in `only`, `at`, `minus` and `for_each` are `topology`, `mapping`, `application`, `processes`,
    `workload` (0 for an application alone, from 1 for random workloads), `mode` and `hold`.
    """

    kind: Literal["simulations"]
    paper: Paper | None = None
    simulation: dict[str, Any]
    job: dict[str, Any] = Field(default={})
    applications: dict[Name, Application] = Field(min_length=1)
    topologies: list[str] = Field(min_length=1)
    mappings: list[str] = Field(min_length=1)
    power: list[Power] = Field(min_length=1)
    grids: list[Grid] = Field(min_length=1)
    figures: list[Figure] = Field(default=[])
    paper_results: list[Statement] = Field(default=[])
    quick: QuickSimulations = QuickSimulations()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for table in ("jobs", "topology", "power"):
            if table in self.simulation:
                raise ValueError(f"simulation.{table}: the study says it at its top")
        grids = [grid.name for grid in self.grids]
        if len(set(grids)) < len(grids):
            raise ValueError("two grids have the same name")
        for name in self.quick.jobs:
            if name not in self.applications:
                raise ValueError(f"quick.jobs: no application {name!r}, {nearest(name, list(self.applications))}")
        for figure in self.figures:
            _known(figure.grid, grids, f"figure {figure.name}")
            _are_factors(figure.only, f"figure {figure.name}")
        for check in (check for statement in self.paper_results for check in statement.checks):
            _known(check.grid, grids, "paper_results")
            if check.minus_grid is not None:
                _known(check.minus_grid, grids, "paper_results")
            _are_factors([*check.at, *check.minus, *check.for_each], "paper_results")
        return self

    def made_quick(self) -> StudyOfSimulations:
        """The study in the form that --quick runs."""
        jobs = {
            name: one.model_copy(update={"job": {**one.job, **self.quick.jobs.get(name, {})}})
            for name, one in self.applications.items()
        }
        given = {
            name: value
            for name in ("topologies", "mappings", "power", "grids")
            if (value := getattr(self.quick, name)) is not None
        }
        return self.model_copy(update={**given, "applications": jobs})


def _known(name: str, names: list[str], where: str) -> None:
    if name not in names:
        raise ValueError(f"{where}: no grid {name!r}, {nearest(name, names)}")


def _are_factors(names: list[str] | Only, where: str) -> None:
    for name in names:
        if name not in FACTORS:
            raise ValueError(f"{where}: no factor {name!r}, {nearest(name, list(FACTORS))}")
