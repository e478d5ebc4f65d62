"""Numbers of the page on the study of aggregation, from its kept runs.

Where a function takes `items` or `nodes`, 0 are all; nodes 0 are the points between nodes, 2, 4 and 8. Times and
energies are those of one item, so that runs with different numbers of passes compare.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from statistics import median

from rows_numbers import number, percent, percents, span
from rows_runs import KeptRuns, Quantity, table

from lull.statistics import formatting
from lull.statistics.bootstrap import Interval

APPLICATIONS = ("histogram", "index-gather", "radix-sort")
ITEMS = (1_000, 20_000)
BETWEEN_NODES = (2, 4, 8)
AGGREGATION = {"processes": "processes-aggregated", "threads": "threads-aggregated"}
COMPARED = {  # baseline and candidate
    "processes, aggregated": ("processes", "processes-aggregated"),
    "threads, aggregated": ("threads", "threads-aggregated"),
    "threads": ("processes", "threads"),
    "aggregated threads": ("processes-aggregated", "threads-aggregated"),
}
QUANTITIES: dict[str, Quantity] = {
    "speedup": lambda run: float(run["seconds"]) / float(run["items_done"]),
    "greenup": lambda run: float(run["node_j"]) / float(run["items_done"]),
}


@cache
def _runs() -> KeptRuns:
    return KeptRuns("aggregation", ["application", "items", "nodes", "run"])


def points() -> str:
    """The number of points."""
    return number(len(_runs().of_point), 0)


@cache
def _ratio(comparison: str, quantity: str, application: str, items: int, nodes: int) -> Interval:
    baseline, candidate = COMPARED[comparison]
    at = application, str(items), str(nodes)
    return _runs().ratio((*at, baseline), (*at, candidate), QUANTITIES[quantity])


def _ratios(comparison: str, quantity: str, applications: str, items: int, nodes: int) -> Iterator[Interval]:
    for application, size, count in itertools.product(
        applications.split() or APPLICATIONS, [items] if items else ITEMS, [nodes] if nodes else BETWEEN_NODES
    ):
        yield _ratio(comparison, quantity, application, size, count)


def speedups(
    comparisons: str, applications: str = "", items: int = 0, nodes: int = 0, digits: int | None = None
) -> str:
    """The least and the greatest Speedup; comparisons separated by `+`."""
    return _span("speedup", comparisons, applications, items, nodes, digits)


def greenups(
    comparisons: str, applications: str = "", items: int = 0, nodes: int = 0, digits: int | None = None
) -> str:
    """The least and the greatest Greenup."""
    return _span("greenup", comparisons, applications, items, nodes, digits)


def _span(quantity: str, comparisons: str, applications: str, items: int, nodes: int, digits: int | None) -> str:
    named = comparisons.split(" + ")
    found = [one.value for name in named for one in _ratios(name, quantity, applications, items, nodes)]
    return span(found, digits)


def powerups(comparison: str, applications: str, items: int) -> str:
    """The least and the greatest Powerup, Speedup over Greenup."""
    both = (list(_ratios(comparison, quantity, applications, items, 0)) for quantity in ("speedup", "greenup"))
    return span(fast.value / green.value for fast, green in zip(*both, strict=True))


def above_one(comparisons: str, quantity: str) -> str:
    """In how many of all points between nodes the ratio is above 1: 36 of 36."""
    found = [one.value > 1 for name in comparisons.split(" + ") for one in _ratios(name, quantity, "", 0, 0)]
    return f"{sum(found)} of {len(found)}"


def beyond_doubt(comparison: str, quantity: str, applications: str = "") -> str:
    """In how many points between nodes the whole interval is above 1: 2 of 6."""
    found = [_low(one) > 1 for one in _ratios(comparison, quantity, applications, 0, 0)]
    return f"{sum(found)} of {len(found)}"


def decided_greenups(comparison: str, digits: int | None = None) -> str:
    """The range of the Greenups whose whole intervals are above 1."""
    return span((one.value for one in _ratios(comparison, "greenup", "", 0, 0) if _low(one) > 1), digits)


def undecided_points(comparison: str) -> str:
    """The points between nodes whose Greenup is not above 1 beyond doubt."""
    names = [
        f"{application} of {items:,} items"
        for application, items, nodes in itertools.product(APPLICATIONS, ITEMS, BETWEEN_NODES)
        if _low(_ratio(comparison, "greenup", application, items, nodes)) <= 1
    ]
    return f"{len(names)} ({', '.join(dict.fromkeys(names))})"


def _low(interval: Interval) -> float:
    assert interval.low is not None
    return interval.low


def speedup(comparison: str, application: str, items: int, nodes: int) -> str:
    """One Speedup with its interval."""
    return formatting.ratio(_ratio(comparison, "speedup", application, items, nodes))


def times_slower(comparison: str, application: str, items: int, nodes: int) -> str:
    """How many times slower the candidate is."""
    return number(1 / _ratio(comparison, "speedup", application, items, nodes).value, 1)


def wire_over_node(runs: str = "-aggregated") -> str:
    """Energy on the wire over that of the nodes, of all points between nodes whose run has this name's end."""
    return percents(
        (
            median(float(run["wire_j"]) / float(run["node_j"]) for run in of_point)
            for (_, _, nodes, name), of_point in _runs().of_point.items()
            if nodes != "1" and name.endswith(runs)
        ),
        1,
    )


def greenup_follows_speedup(comparison: str) -> str:
    """By how much Greenup differs from Speedup at most, in percent, over all points."""
    differences = [
        abs(_ratio(comparison, "greenup", *at).value / _ratio(comparison, "speedup", *at).value - 1)
        for at in itertools.product(APPLICATIONS, ITEMS, (1, *BETWEEN_NODES))
    ]
    return percent(max(differences))


def energy_of_scaling(run: str, items: int) -> str:
    """The energy of an item of a histogram on 8 nodes over that on 2."""
    few, many = (_runs().median(("histogram", str(items), nodes, run), QUANTITIES["greenup"]) for nodes in ("2", "8"))
    return number(many / few, 1)


def threads_against_processes() -> str:
    """The table of Speedups of aggregated threads over aggregated processes."""
    rows = []
    for nodes, application in itertools.product((1, *BETWEEN_NODES), APPLICATIONS):
        name = f"{application.replace('-', ' ')}, {nodes} node{'s' * (nodes > 1)}"
        rows.append([name, *(speedup("aggregated threads", application, items, nodes) for items in ITEMS)])
    return table(["", "1000 items", "20 000 items"], rows)
