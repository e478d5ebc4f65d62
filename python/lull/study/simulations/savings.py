"""What each setting of links would save if its wake-ups delayed no packet, from the point with links always active.

savings.csv has a line for each setting whose saving follows from the pauses of links, whether or not its own point has
been simulated: an upper bound for the saving per second that links sleep, and a first guess of which points are worth
their time.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from lull.experiment.state import ExperimentState
from lull.study.file import Value
from lull.study.simulations.grids import Point
from lull.study.simulations.rows import load

FACTORS = ("topology", "mapping", "workload", "mode", "hold")
FIGURES = ("saved", "network_saved", "used_saved")


@dataclass(frozen=True)
class SavingRow:
    """A setting of links. Shares: 0.1 is 10 %."""

    point: str  # that has this setting
    grid: str
    factors: dict[str, Value]
    saved: float  # power of all links of the network
    network_saved: float  # power of links between switches
    used_saved: float  # power of links that carried a packet


def savings_of(points: Sequence[Point], state: ExperimentState) -> list[SavingRow]:
    """The rows of all finished points with links always active, in their order.

    Raises:
        LullError: A saved simulation is damaged.
    """
    named = {point.name: point for point in points}
    rows = []
    for point in points:
        files = load(point, state) if point.savings else []
        if not files:
            continue
        for (name, _), found in zip(point.savings, files[0].repeats[0].savings, strict=False):  # older files have none
            saved = (found.power.saved, found.network_power.saved, found.used_power.saved)
            rows.append(SavingRow(name, point.grid, named[name].factors, *saved))
    return rows


def csv_text(rows: Sequence[SavingRow]) -> str:
    """The text of savings.csv."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["point", "grid", *FACTORS, *FIGURES])
    for row in rows:
        writer.writerow(
            [row.point, row.grid, *(row.factors[name] for name in FACTORS), *(repr(getattr(row, f)) for f in FIGURES)]
        )
    return out.getvalue()
