"""Comparisons of runs in Python, and `lull.compare`, which also compares simulations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

import pyarrow as pa

from lull.base.errors import UsageError
from lull.comparison.compare import compare_all
from lull.comparison.describe import describe
from lull.comparison.result import Comparison
from lull.library.compared_simulations import ComparedSimulations, compare_simulations
from lull.library.display import as_pandas
from lull.library.loading import load
from lull.library.predicted import PredictionResult
from lull.library.recorded import Recorded
from lull.library.simulated import SimulationResult
from lull.library.traced import Traced
from lull.present.document import Document
from lull.present.page import as_fragment
from lull.record.labels import distinct
from lull.statistics.bootstrap import Interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

RATIOS = ("speedup", "greenup", "powerup", "edp_ratio", "ed2p_ratio")
NAMES = {Recorded: "a run", SimulationResult: "a simulation", PredictionResult: "a prediction", Traced: "a trace"}


@dataclass(frozen=True)
class ComparisonResult:
    """One or more candidates compared with a baseline; `found` has all figures of each.

    The ratios are those of the first candidate: baseline over candidate, so that the candidate is better above 1. The
    exception is Powerup, the candidate's mean power over the baseline's. Each has `value`, and `low` and `high` of its
    95 % interval, which are None if there are too few runs.
    """

    found: tuple[Comparison, ...]

    @property
    def speedup(self) -> Interval:
        """Time of the baseline over that of the candidate."""
        return self.found[0].speedup

    @property
    def greenup(self) -> Interval:
        """Energy of the baseline over that of the candidate."""
        return self.found[0].greenup

    @property
    def powerup(self) -> Interval:
        """Mean power of the candidate over that of the baseline."""
        return self.found[0].powerup

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return self.found[0].verdict

    def to_pandas(self) -> pd.DataFrame:
        """A row for each candidate: medians (s, J, W), ratios with their intervals, category, verdict, kind."""
        return as_pandas(pa.Table.from_pylist([_row(one) for one in self.found]))

    def plot(self) -> list[Axes]:
        """Draw the candidates in the plane of Speedup and Powerup."""
        from lull.report.quadrant import gps_up

        return list(gps_up([(one.candidate.label, one) for one in self.found]).figure.axes)

    def _repr_html_(self) -> str:
        return as_fragment(self.describe())

    def describe(self) -> Document:
        """Everything as a document."""
        return describe(self.found)


@overload
def compare(
    baseline: Recorded,
    *candidates: Recorded | str | Path,
    region: str | None = None,
    per: str | None = None,
    allow_mixed: bool = False,
) -> ComparisonResult: ...
@overload
def compare(baseline: SimulationResult, *candidates: SimulationResult | str | Path) -> ComparedSimulations: ...
@overload
def compare(
    baseline: str | Path,
    *candidates: Recorded | SimulationResult | str | Path,
    region: str | None = None,
    per: str | None = None,
    allow_mixed: bool = False,
) -> ComparisonResult | ComparedSimulations: ...
def compare(
    baseline: Recorded | SimulationResult | str | Path,
    *candidates: Recorded | SimulationResult | str | Path,
    region: str | None = None,
    per: str | None = None,
    allow_mixed: bool = False,
) -> ComparisonResult | ComparedSimulations:
    """Compare runs with a baseline: Speedup, Greenup, Powerup, with intervals and rank tests; or simulations.

    Args:
        baseline: The numerator of ratios: a run or a simulation, or the folder of its record.
        candidates: The denominators: one or more, all runs or all simulations.
        region: Compare this region of the program instead of whole runs.
        per: Divide time and energy of every run by this metric of the run.
        allow_mixed: Allow energies of different kinds; the weakest labels the comparison.

    Raises:
        UsageError: There is no candidate, runs and simulations are mixed, or `region` or `per` is given for
            simulations.
        LullError: There is nothing to compare (no successful run, no such region or metric), or kinds are mixed.
    """
    if not candidates:
        raise UsageError("compare", "one record alone is compared with nothing", "name a second one")
    sides = [load(one) if isinstance(one, str | Path) else one for one in (baseline, *candidates)]
    simulations = tuple(side for side in sides if isinstance(side, SimulationResult))
    if len(simulations) == len(sides):
        if region is not None or per is not None:
            words = "simulations have no regions and no work to divide by"
            raise UsageError("compare simulations", words, "leave out region and per")
        return compare_simulations(simulations[0], simulations[1:])
    runs = [side for side in sides if isinstance(side, Recorded)]
    if len(runs) < len(sides):
        there = ", ".join(dict.fromkeys(NAMES[type(side)] for side in sides))
        raise UsageError("compare", f"what is given is not of one kind ({there})", "compare runs, or simulations")
    folders = [side.folder or Path(f"{side.label}-{place}") for place, side in enumerate(runs, 1)]
    first, *others = distinct(folders, [side.run for side in runs])
    return ComparisonResult(tuple(compare_all(first, others, region=region, per=per, allow_mixed=allow_mixed)))


def _row(found: Comparison) -> dict[str, object]:
    row: dict[str, object] = {"baseline": found.baseline.label, "candidate": found.candidate.label}
    for name, side in (("baseline", found.baseline), ("candidate", found.candidate)):
        row |= {f"{name}_s": side.time_s.median, f"{name}_j": side.energy_j.median, f"{name}_w": side.power_w.median}
        row[f"{name}_runs"] = side.runs
    for name in RATIOS:
        ratio: Interval = getattr(found, name)
        row |= {name: ratio.value, f"{name}_low": ratio.low, f"{name}_high": ratio.high}
    return row | {"category": found.category, "verdict": found.verdict, "kind": found.kind.value}
