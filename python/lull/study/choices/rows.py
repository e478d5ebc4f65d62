"""The results of a study of choices at each point, from the records: costs, regret, and predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from lull import record
from lull.advice.at_run_time import AccountOfChoice
from lull.advice.facts import facts_of
from lull.base.errors import LullError
from lull.comparison.quantity import quantity
from lull.model.machine import Machine
from lull.record import Run
from lull.statistics.bootstrap import Interval
from lull.study.choices.description import AUTO, COUNTED, START, WRONG, WRONG_START, ApplicationWithChoices
from lull.study.choices.points import Group
from lull.study.choices.predicting import Costs, PredictedCost, Predictions, predictions
from lull.study.choices.regret import Regret, better, ratio, regret

SHOWN = ("route", "direct", "coalesce", "rdma-put")  # the choices at run time that the table shows


@dataclass(frozen=True)
class RoundCosts:
    """The costs of a member in each round: seconds and joules of a run, or per unit of work."""

    seconds: list[float]
    joules: list[float] | None  # None: they do not apply to what is studied

    def until(self, rounds: int) -> RoundCosts:
        """The costs in the first `rounds` rounds."""
        return RoundCosts(self.seconds[:rounds], None if self.joules is None else self.joules[:rounds])

    @property
    def costs(self) -> Costs:
        """The medians."""
        return Costs(median(self.seconds), None if self.joules is None else median(self.joules))

    @property
    def products(self) -> list[float] | None:
        """Energy times time."""
        return None if self.joules is None else [s * j for s, j in zip(self.seconds, self.joules, strict=True)]


@dataclass(frozen=True)
class Wrong:
    """The cost of a wrong machine file for `auto`, in shares."""

    start: Interval  # the first tenth of a run, relative to that with the right file
    rest: Regret  # the other nine tenths, compared with the best fixed choice


@dataclass(frozen=True)
class Row:
    """The results at one point."""

    group: Group
    taken: dict[str, RoundCosts]  # by alternative, `auto` first
    took: str  # what `auto` chose, in words
    time: Regret
    product: Regret | None  # regret of energy times time
    predicted: Predictions
    wrong: Wrong | None

    def relative(self, name: str) -> Interval:
        """Time of a fixed choice over that of `auto`."""
        return ratio(self.taken[name].seconds, self.taken[AUTO].seconds)

    def errors(self) -> list[tuple[str, float, float | None]]:
        """For each predicted alternative, the relative errors of the predicted time and energy."""
        return [(name, *_errors(told, self.taken[name].costs)) for name, told in self.predicted.told.items()]


def rows_of(groups: Sequence[Group], folder: Path, machine: Machine | None) -> list[Row]:
    """Read the records of all points.

    Raises:
        LullError: A record is damaged, or lacks something that the study needs.
    """
    return [_row(group, folder, machine) for group in groups]


def _row(group: Group, folder: Path, machine: Machine | None) -> Row:
    runs = {one.name: record.read(folder / one.point.name) for one in group.members}
    taken = {name: taken_by(group.application, run) for name, run in runs.items() if name != COUNTED}
    of_time, of_product = regrets_of(group, taken)
    first = {one.name: taken[one.name].until(one.runs) for one in group.members if one.name != COUNTED}
    return Row(
        group=group,
        taken={name: first[name] for name in (AUTO, *(one.name for one in group.fixed))},
        took=_took(runs[COUNTED]),
        time=of_time,
        product=of_product,
        predicted=predictions(group, runs[COUNTED], first[AUTO].costs, machine),
        wrong=_wrong(first, {one.name: first[one.name] for one in group.fixed}),
    )


def regrets_of(group: Group, taken: Mapping[str, RoundCosts]) -> tuple[Regret, Regret | None]:
    """The regret of time, and that of energy times time if all alternatives have an energy."""
    auto, rounds = taken[AUTO], group.fixed[0].runs
    fixed = {one.name: taken[one.name] for one in group.fixed}
    products = _products(fixed)
    return (
        regret(auto.seconds, {name: one.seconds for name, one in fixed.items()}, rounds),
        None if auto.products is None or products is None else regret(auto.products, products, rounds),
    )


def seem_better(group: Group, taken: Mapping[str, RoundCosts]) -> set[str]:
    """The fixed choices that are better than `auto` by time or by energy times time."""
    auto = taken[AUTO]
    fixed = {one.name: taken[one.name] for one in group.fixed}
    products = _products(fixed)
    by_product = set() if auto.products is None or products is None else better(auto.products, products)
    return better(auto.seconds, {name: one.seconds for name, one in fixed.items()}) | by_product


def _products(fixed: Mapping[str, RoundCosts]) -> dict[str, list[float]] | None:
    told = {name: found for name, one in fixed.items() if (found := one.products) is not None}
    return told if len(told) == len(fixed) else None


def _wrong(taken: Mapping[str, RoundCosts], fixed: Mapping[str, RoundCosts]) -> Wrong | None:
    if WRONG not in taken:
        return None
    rest = after_a_tenth(taken[WRONG].seconds, taken[WRONG_START].seconds)
    return Wrong(
        ratio(taken[WRONG_START].seconds, taken[START].seconds),
        regret(rest, {name: one.seconds for name, one in fixed.items()}),
    )


def after_a_tenth(whole: Sequence[float], tenth: Sequence[float]) -> list[float]:
    """Time per unit of work after the first tenth of a run, from whole runs and runs of a tenth."""
    return [
        0.9 / max(1 / of_whole - 0.1 / of_tenth, 0.1 / of_whole)
        for of_whole, of_tenth in zip(whole, tenth, strict=True)
    ]


def taken_by(application: ApplicationWithChoices, run: Run) -> RoundCosts:
    """The costs of the runs of an alternative.

    Raises:
        LullError: Some of its runs failed.
    """
    if application.seconds is not None:
        return RoundCosts([repeat.metrics[application.seconds].value for repeat in run.succeeded], None)
    found = quantity(run, region=application.region, per=application.per)
    if len(found.rows) < len(run.repeats):
        raise LullError(f"compare {run.label}", "some of its runs failed", "start --fresh")
    return RoundCosts([time for time, _ in found.rows], [energy for _, energy in found.rows])


def _took(run: Run) -> str:
    """What `auto` chose, according to its record."""
    last = run.succeeded[-1]
    policies = [f"waits by {job.policy}" for job in last.waiting]
    approaches = [f"output by {job.approach}" for job in last.output]
    chosen = [f"{choice} {name}" for choice, name in most_taken(facts_of(run).choices).items() if choice in SHOWN]
    return "; ".join(dict.fromkeys([*policies, *approaches, *chosen]))


def most_taken(choices: Sequence[AccountOfChoice]) -> dict[str, str]:
    """For each choice at run time, the alternative that most operations used."""
    operations: dict[str, dict[str, int]] = {}
    for one in choices:
        counts = operations.setdefault(one.choice, {})
        for other in one.alternatives:
            counts[other.name] = counts.get(other.name, 0) + other.operations
    return {
        choice: max(counts, key=lambda name: counts[name])
        for choice, counts in operations.items()
        if any(counts.values())
    }


def _errors(told: PredictedCost, seen: Costs) -> tuple[float, float | None]:
    energy = None
    if told.joules is not None and seen.joules:
        energy = abs(told.joules[1] / seen.joules - 1)
    return abs(told.seconds[1] / seen.seconds - 1), energy
