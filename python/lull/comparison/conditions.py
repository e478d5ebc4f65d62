"""Conditions under which a comparison fails a build: `--fail-if "greenup<0.98"`.

A condition holds if the whole interval lies beyond the limit. Noise alone then rarely fails a build; a true change that
the runs cannot resolve passes, and more runs help.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from lull.base.errors import LullError, UsageError
from lull.comparison.result import Comparison, ConditionFinding
from lull.statistics import formatting
from lull.statistics.bootstrap import Interval
from lull.statistics.gpsup import reduction_interval

MET_EXIT_CODE: Final = 3
OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
METRICS: dict[str, str] = {  # name -> the reason if a comparison lacks it
    "speedup": "",
    "greenup": "the energies cannot be compared",
    "powerup": "the energies cannot be compared",
    "edp_ratio": "simulations have no EDP",
    "ed2p_ratio": "simulations have no ED2P",
    "j_per_mb_ratio": "not both sides count the same bytes; compare --per a metric in bytes, or measure the wire",
    "time_reduction": "",
    "energy_reduction": "the energies cannot be compared",
}
FORM = re.compile(r"\s*(\w+)\s*(<=|>=|<|>)\s*(\S+)\s*")


@dataclass(frozen=True)
class Condition:
    """One condition: a metric, an operator and a limit."""

    metric: str
    operator: str
    limit: float

    def __str__(self) -> str:
        return f"{self.metric}{self.operator}{self.limit:g}"


def parse(text: str) -> Condition:
    """A condition from its text, e.g. `greenup<0.98`.

    Raises:
        UsageError: The text is not a condition; the line says what is wrong with it.
    """
    asked = f"--fail-if {text!r}"
    match = FORM.fullmatch(text)
    if match is None:
        raise UsageError(asked, "it is not METRIC OPERATOR NUMBER", "write it like greenup<0.98")
    metric, relation, number = match.groups()
    if metric not in METRICS:
        raise UsageError(asked, f"there is no metric {metric!r}", f"there are: {', '.join(METRICS)}")
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise UsageError(asked, f"{number!r} is not a number", "write it like greenup<0.98")
    return Condition(metric, relation, limit)


def metrics_of(found: Comparison) -> dict[str, Interval | None]:
    """Every metric of a comparison that a condition may name."""
    return {name: getattr(found, name) for name in METRICS}


def metrics_of_ratios(
    speedup: Interval, greenup: Interval | None, powerup: Interval | None
) -> dict[str, Interval | None]:
    """Like `metrics_of`, for a comparison that has only these ratios."""
    return {
        **dict.fromkeys(METRICS),
        "speedup": speedup,
        "greenup": greenup,
        "powerup": powerup,
        "time_reduction": reduction_interval(speedup),
        "energy_reduction": reduction_interval(greenup) if greenup else None,
    }


def judge(
    conditions: Iterable[Condition],
    candidates: Iterable[tuple[str, Mapping[str, Interval | None]]],
    *,
    on_median: bool,
) -> list[ConditionFinding]:
    """Test each condition for each candidate.

    Args:
        conditions: The conditions.
        candidates: The candidates' names and metrics.
        on_median: Whether to test the ratio of medians alone, without its interval.

    Raises:
        LullError: A condition names a metric that a comparison does not have.
    """
    named = list(candidates)
    return [_judge(condition, name, metrics, on_median) for condition in conditions for name, metrics in named]


def _judge(
    condition: Condition, name: str, metrics: Mapping[str, Interval | None], on_median: bool
) -> ConditionFinding:
    ratio = metrics[condition.metric]
    if ratio is None:
        raise LullError(f"--fail-if {condition}", f"{name} has no {condition.metric}: {METRICS[condition.metric]}")
    nearest = ratio.high if condition.operator.startswith("<") else ratio.low
    decisive = ratio.value if on_median else nearest
    return ConditionFinding(
        condition=str(condition),
        candidate=name,
        value=ratio.value,
        low=ratio.low,
        high=ratio.high,
        met=decisive is not None and OPERATORS[condition.operator](decisive, condition.limit),
        decided=decisive is not None,
    )


def sentence(finding: ConditionFinding) -> str | None:
    """A sentence that the condition is met or cannot be decided; None if it is not met."""
    shown = formatting.ratio(Interval(finding.value, finding.low, finding.high))
    if finding.met:
        return f"--fail-if {finding.condition}: met, {finding.candidate} has {shown}"
    if not finding.decided:
        words = f"not decided, {finding.candidate} has {shown} without an interval; make more runs, or --fail-on-median"
        return f"--fail-if {finding.condition}: {words}"
    return None
