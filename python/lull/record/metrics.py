"""Combine the metrics of several processes into one, as the program requested for each.

Processes must agree on the unit and the combination of a metric. Otherwise the metric is disputed: it is left out, with
a line that says so, and remains left out when nodes are merged, because figures of some processes do not describe the
job.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from lull.record import Combination, Metric


@dataclass
class Combined:
    """Metrics by name, and for every disputed name the line that explains it."""

    metrics: dict[str, Metric] = field(default_factory=dict)
    disputed: dict[str, str] = field(default_factory=dict)


def combine(reported: Iterable[tuple[str, Metric]], disputed: Collection[str] = ()) -> Combined:
    """Combine the metrics that processes or parts of the job have `reported` into one for each name.

    Args:
        reported: Name and figure.
        disputed: Names of metrics that are disputed and reported as such already: they are left out.
    """
    by_name: dict[str, list[Metric]] = {}
    for name, metric in reported:
        by_name.setdefault(name, []).append(metric)
    found = Combined()
    for name, metrics in by_name.items():
        if name in disputed:
            continue
        if line := _dispute(name, metrics):
            found.disputed[name] = line
        else:
            found.metrics[name] = _one(metrics)
    return found


def _dispute(name: str, metrics: list[Metric]) -> str:
    """Why these metrics cannot be combined; empty if they can."""
    units = list(dict.fromkeys(metric.unit for metric in metrics))
    combinations = list(dict.fromkeys(metric.combination for metric in metrics))
    if len(units) > 1:
        found = "report it in " + " and in ".join(f"'{unit}'" for unit in units)
    elif len(combinations) > 1:
        found = "combine it as " + " and as ".join(one.value if one else "one value" for one in combinations)
    elif combinations == [None] and len(metrics) > 1:
        found = "report one value each, and none says how they combine"
    else:
        return ""
    return f"metric {name} is left out: processes {found}; use a separate name for each meaning"


def _one(metrics: list[Metric]) -> Metric:
    """Combine metrics that agree, weighted by processes."""
    processes = sum(metric.processes for metric in metrics)
    values = [metric.value for metric in metrics]
    match metrics[0].combination:
        case Combination.SUM:
            value = sum(values)
        case Combination.MEAN:
            value = sum(metric.value * metric.processes for metric in metrics) / processes
        case Combination.MIN:
            value = min(values)
        case Combination.MAX:
            value = max(values)
        case None:
            value = values[0]
    return metrics[0].model_copy(update={"value": value, "processes": processes})
