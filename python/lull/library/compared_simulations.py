"""Comparisons of simulations in Python, which `lull.compare` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from lull.library.display import as_pandas
from lull.library.simulated import SimulationResult
from lull.present.document import Document
from lull.present.page import as_fragment
from lull.record import EnergyKind
from lull.record.labels import distinct_labels
from lull.simulation import comparison
from lull.simulation.comparison import SimulatedComparison
from lull.statistics.bootstrap import Interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ComparedSimulations:
    """One or more simulations compared with a baseline; `found` has all figures of each.

    The ratios of simulated time and of the energy of links are those of the first candidate: baseline over candidate,
    so that the candidate is better above 1. The exception is Powerup, the candidate's mean power over the baseline's.
    `low` and `high` are the 95 % interval over seeds, and None if there are too few: one seed is reproducible to the
    bit, and says nothing about others.

    Args:
        found: One comparison for each candidate.
        sides: The simulations, the baseline first, with the labels of `found`.
    """

    found: tuple[SimulatedComparison, ...]
    sides: tuple[SimulationResult, ...]

    @property
    def speedup(self) -> Interval:
        """Simulated time of the baseline over that of the candidate."""
        return self.found[0].speedup

    @property
    def greenup(self) -> Interval | None:
        """Energy of links of the baseline over that of the candidate; None for different networks without watts."""
        return self.found[0].greenup

    @property
    def powerup(self) -> Interval | None:
        """Mean power of links of the candidate over that of the baseline; None if `greenup` is."""
        return self.found[0].powerup

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return comparison.verdict(self.found[0])

    @property
    def kind(self) -> EnergyKind:
        """How the energies were obtained: by simulation."""
        return EnergyKind.SIMULATED

    def to_pandas(self) -> pd.DataFrame:
        """A row for each figure of each candidate: unit, both medians over seeds, candidate over baseline."""
        rows = [
            {"baseline": one.baseline, "candidate": one.candidate, "figure": figure.name, "unit": figure.unit,
             "of_baseline": figure.baseline, "of_candidate": figure.candidate, "ratio": figure.ratio}
            for one in self.found
            for figure in one.figures
        ]  # fmt: skip
        return as_pandas(pa.Table.from_pylist(rows))

    def plot(self) -> list[Axes]:
        """Draw the share of time that links spend in each power state, with a bar for each simulation."""
        return self.sides[0].plot(*self.sides[1:])

    def _repr_html_(self) -> str:
        return as_fragment(self.describe())

    def describe(self) -> Document:
        """Everything as a document."""
        return comparison.describe(self.found)


def compare_simulations(baseline: SimulationResult, candidates: tuple[SimulationResult, ...]) -> ComparedSimulations:
    """Compare simulations with a baseline; called by `lull.compare`.

    Raises:
        LullError: One of them simulated no time.
    """
    all_sides = (baseline, *candidates)
    labels = distinct_labels([side.label for side in all_sides], [side.folder for side in all_sides])
    sides = tuple(side.labelled(label) for side, label in zip(all_sides, labels, strict=True))
    first, *others = sides
    return ComparedSimulations(
        tuple(comparison.compare(first.label, first.file, one.label, one.file) for one in others), sides
    )
