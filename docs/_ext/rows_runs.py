"""Kept runs of a study: medians over the runs of a point, and ratios of them with their interval, as in its report."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from lull.statistics import bootstrap

Run = Mapping[str, str]  # column -> text
Quantity = Callable[[Run], float]

RESULTS = Path(__file__).resolve().parents[1] / "results"


class KeptRuns:
    """The runs of docs/results/STUDY/runs.csv, by the values of the columns that name a point."""

    def __init__(self, study: str, names: Sequence[str]) -> None:
        self.of_point: dict[tuple[str, ...], list[Run]] = defaultdict(list)
        with (RESULTS / study / "runs.csv").open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                self.of_point[tuple(row[name] for name in names)].append(row)

    def values(self, point: tuple[str, ...], quantity: Quantity) -> list[float]:
        """The quantity in each run of a point."""
        if point not in self.of_point:
            raise KeyError(f"no kept run at {point}")
        return [quantity(run) for run in self.of_point[point]]

    def median(self, point: tuple[str, ...], quantity: Quantity) -> float:
        """The median over the runs of a point."""
        return bootstrap.median(self.values(point, quantity))

    def ratio(self, baseline: tuple[str, ...], candidate: tuple[str, ...], quantity: Quantity) -> bootstrap.Interval:
        """The median of the baseline over the candidate's, with its 95 % interval: above 1 the candidate is better."""
        sides = [np.reshape(self.values(point, quantity), (-1, 1)) for point in (baseline, candidate)]
        value = bootstrap.median(sides[0]) / bootstrap.median(sides[1])
        return bootstrap.percentile_interval(value, bootstrap.resampled_ratios(*sides)[:, 0])


def column(name: str) -> Quantity:
    """The quantity that a column has."""
    return lambda run: float(run[name])


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
