"""The points of the study `links` that were simulated and kept, as tables of the documentation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from lull.study import description
from lull.study.simulated import description as simulated
from lull.study.simulated.description import SimulatedStudy
from lull.study.simulated.grids import ACTIVE, all_points
from lull.study.simulated.rows import Row
from lull.study.simulated.taken import read_taken
from lull.study.simulated.verdicts import judge

KEPT = Path(__file__).resolve().parents[1] / "results" / "links" / "points.csv"
MODES = ("deep-sleep", "hybrid", "fast-wake")


@cache
def kept() -> tuple[SimulatedStudy, list[Row], dict[str, int]]:
    """The study, the rows that are kept, and how many points each grid has."""
    study = simulated.read_simulated(description.find_study("links"))
    points = all_points(study)
    taken = read_taken(KEPT, points)
    of_grid: dict[str, int] = defaultdict(int)
    for point in points:
        of_grid[point.grid] += 1
    return study, [row for point in points for row in taken.get(point.name, ())], dict(of_grid)


def alone() -> tuple[list[str], list[list[str]]]:
    """Headings and rows: one application at a time, for each number of processes."""
    _, rows, _ = kept()
    groups: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.grid == "single":
            groups[int(row.factors["processes"]), str(row.factors["application"])].append(row)
    made = []
    for (processes, application), of_group in sorted(groups.items(), key=lambda item: item[0][0]):
        made.append([f"{processes:,}", application, str(len(of_group)), *_by_mode(of_group)])
    return ["processes", "application", "points", *_headings()], made


def together() -> tuple[list[str], list[list[str]]]:
    """The same of several jobs, for each application that is among them."""
    _, rows, _ = kept()
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.grid == "multi":
            groups[str(row.factors["application"])].append(row)
    made = []
    for application, of_group in groups.items():
        jobs = sum(row.factors["mode"] == ACTIVE for row in of_group)
        made.append([application, str(jobs), *_by_mode(of_group)])
    return ["application", "jobs", *_headings()], made


def statements() -> tuple[list[str], list[list[str]]]:
    """Headings and rows: what the paper says, and what these points say of it."""
    study, rows, _ = kept()
    verdicts = [judge(statement, rows) for statement in study.paper_results]
    return ["the paper says", "verdict", "seen"], [[one.claim, f"*{one.verdict}*", one.words] for one in verdicts]


def counts() -> str:
    """How many points of each grid are kept, and what they took."""
    _, rows, of_grid = kept()
    parts = []
    for grid, number in of_grid.items():
        seconds = {row.point: row.simulator_cpu_s for row in rows if row.grid == grid}
        hours = f", {sum(seconds.values()) / 3600:.2f} hours of CPU time" if seconds else ""
        parts.append(f"{len(seconds):,} of {number:,} points of the grid *{grid}*{hours}")
    return "; ".join(parts)


def _headings() -> list[str]:
    return [heading for mode in MODES for heading in (f"{mode} saves", "makes slower by")]


def _by_mode(rows: Sequence[Row]) -> list[str]:
    cells = []
    for mode in MODES:
        there = [row for row in rows if row.factors["mode"] == mode]
        cells += [_range(row.saved for row in there), _range(row.slowdown for row in there if row.slowdown is not None)]
    return cells


def _range(values: Iterable[float]) -> str:
    found = sorted(values)
    if not found:
        return ""
    low, high = _percent(found[0]), _percent(found[-1])
    return f"{low} %" if low == high else f"{low} to {high} %"


def _percent(share: float) -> str:
    value = round(100 * share, 1) + 0.0  # no -0.0
    return f"{value:,.{0 if abs(value) >= 10 else 1}f}".replace("-", "−")
