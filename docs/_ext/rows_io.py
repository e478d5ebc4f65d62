"""Numbers of the page on the study of output, from its kept plots: ratios to time partitioning."""

from __future__ import annotations

from rows_numbers import number, span
from rows_plots import tips
from rows_runs import table

APPROACHES = ("dedicated-cores=1", "dedicated-cores=2", "dedicated-nodes=1", "dedicated-nodes=2")
EVERY = (5, 10, 20)
QUANTITIES = {"time": "seconds", "cores that compute": "computing"}


def approaches(nodes: str) -> str:
    """Time and cores that compute of each approach, on nodes of `few` or `many` cores."""
    found = tips(f"io/{nodes}-cores")
    rows = [
        [str(every), approach, *(found[approach, every, quantity].text for quantity in QUANTITIES.values())]
        for every in EVERY
        for approach in APPROACHES
    ]
    return table(["output every", "approach", *QUANTITIES], rows)


def times(nodes: str, every: int, *approaches: str) -> str:
    """The least and the greatest time of approaches, over that of time partitioning."""
    found = tips(f"io/{nodes}-cores")
    return span((found[one, every, "seconds"].value for one in approaches or APPROACHES), 2)


def time_over(nodes: str, every: int, approach: str, other: str) -> str:
    """The time of an approach over that of another, by their medians."""
    found = tips(f"io/{nodes}-cores")
    return span([found[approach, every, "seconds"].value / found[other, every, "seconds"].value], 2)


def computing(nodes: str, every: int) -> str:
    """Cores that compute with one core, two cores and one node set aside, over time partitioning."""
    found = tips(f"io/{nodes}-cores")
    chosen = ("dedicated-cores=1", "dedicated-cores=2", "dedicated-nodes=1")
    values = [number(found[one, every, "computing"].value) for one in chosen]
    return f"{values[0]}, {values[1]} and {values[2]}"
