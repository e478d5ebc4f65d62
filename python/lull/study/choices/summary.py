"""A study of choices in a few figures: regret, errors of predictions, and the cost of a wrong machine file."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from pydantic import BaseModel, ConfigDict

from lull.study.choices.regret import Regret
from lull.study.choices.rows import Row


class Summary(BaseModel):
    """The figures. Percentages are relative to the best fixed choice, or to the run that was predicted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    points: int
    regret_mean_pct: float  # of time; 0 if it does not exceed the noise
    regret_worst_pct: float
    regret_seen_mean_pct: float  # the same with noise; below 0 if `auto` is better than every fixed choice
    noise_pct: float  # half an interval of a regret, median over points
    product_regret_mean_pct: float | None  # like regret_mean_pct, for energy times time
    product_regret_worst_pct: float | None
    predicted_points: int  # points with a predicted alternative
    predictions: int  # predicted alternatives
    not_told: int
    time_error_median_pct: float | None
    time_error_worst_pct: float | None
    energy_predictions: int
    energy_error_median_pct: float | None
    energy_error_worst_pct: float | None
    wrong_points: int  # points that also ran with a wrong machine file
    wrong_start_mean_pct: float | None  # how much longer the first tenth of a run takes than with the right file
    wrong_regret_mean_pct: float | None  # like regret_mean_pct, for the other nine tenths
    wrong_regret_worst_pct: float | None


def summary_of(rows: Sequence[Row]) -> Summary:
    """The figures of one or more points."""
    errors = [found for row in rows for found in row.errors()]
    times = [100 * time for _, time, _ in errors]
    energies = [100 * energy for _, _, energy in errors if energy is not None]
    products = [row.product for row in rows if row.product is not None]
    wrong = [row.wrong for row in rows if row.wrong is not None]
    regrets, of_products, of_wrong = (
        _told(of) for of in ([row.time for row in rows], products, [one.rest for one in wrong])
    )
    return Summary(
        points=len(rows),
        regret_mean_pct=fmean(regrets),
        regret_worst_pct=max(regrets),
        regret_seen_mean_pct=100 * fmean(row.time.seen.value for row in rows),
        noise_pct=100 * median(row.time.noise for row in rows),
        product_regret_mean_pct=fmean(of_products) if of_products else None,
        product_regret_worst_pct=max(of_products, default=None),
        predicted_points=sum(bool(row.predicted.told) for row in rows),
        predictions=len(times),
        not_told=sum(len(row.predicted.unpredicted) for row in rows),
        time_error_median_pct=median(times) if times else None,
        time_error_worst_pct=max(times, default=None),
        energy_predictions=len(energies),
        energy_error_median_pct=median(energies) if energies else None,
        energy_error_worst_pct=max(energies, default=None),
        wrong_points=len(wrong),
        wrong_start_mean_pct=100 * (fmean(one.start.value for one in wrong) - 1) if wrong else None,
        wrong_regret_mean_pct=fmean(of_wrong) if of_wrong else None,
        wrong_regret_worst_pct=max(of_wrong, default=None),
    )


def _told(regrets: Sequence[Regret]) -> list[float]:
    return [100 * one.told for one in regrets]
