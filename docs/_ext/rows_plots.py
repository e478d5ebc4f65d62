"""Kept plots as rows: the tip of each point of a curve has its line, place, quantity and value, with the interval."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from math import log2

from rows_runs import RESULTS

TIP = re.compile(
    r"<title>(?P<line>[^<:]+) at (?P<at>[^<:]+): (?P<quantity>[^<]+?) "
    r"(?P<value>\d[\d.]*)(?: \((?P<low>\d[\d.]*)–(?P<high>\d[\d.]*)\))?</title>"
)


@dataclass(frozen=True)
class Tip:
    """A ratio to the reference line, with its 95 % interval; without one, it is the reference itself."""

    value: float
    low: float
    high: float
    text: str

    @property
    def more(self) -> float:
        """The ratio as a change."""
        return self.value - 1


@cache
def tips(plot: str) -> dict[tuple[str, int, str], Tip]:
    """The points of docs/results/PLOT.svg by line, place and quantity.

    Raises:
        ValueError: The plot has no such tips, or two at one place.
    """
    found: dict[tuple[str, int, str], Tip] = {}
    for tip in TIP.finditer((RESULTS / f"{plot}.svg").read_text(encoding="utf-8")):
        at = float(tip["at"])
        place = 2 ** round(log2(at)) if "e" in tip["at"] else round(at)  # 1.04858e+06 is 1 MiB
        value = float(tip["value"])
        text = tip["value"] + (f" ({tip['low']}–{tip['high']})" if tip["low"] else "")
        key = tip["line"], place, tip["quantity"]
        if key in found:
            raise ValueError(f"{plot}.svg has two tips for {key}")
        found[key] = Tip(value, float(tip["low"] or value), float(tip["high"] or value), text)
    if not found:
        raise ValueError(f"{plot}.svg has no tips of curves")
    return found
