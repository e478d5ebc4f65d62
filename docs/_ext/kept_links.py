"""The kept points of the study `links`, as tables of the documentation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import median

from lull.study import file
from lull.study.file import Value
from lull.study.kinds import read_study
from lull.study.simulations.description import StudyOfSimulations
from lull.study.simulations.earlier_results import read_earlier_rows
from lull.study.simulations.grids import ACTIVE, all_points
from lull.study.simulations.rows import Row
from lull.study.simulations.verdicts import judge

KEPT = Path(__file__).resolve().parents[1] / "results" / "links" / "points.csv"
BESIDE = ("deep-sleep", "1 Ts")  # the reference for the settings that the paper left open
MODES = ("deep-sleep", "hybrid", "fast-wake")


@cache
def kept() -> tuple[StudyOfSimulations, list[Row], dict[str, int]]:
    """The study, its kept rows, and the number of points of each grid."""
    study = read_study(file.find_study("links"))
    points = all_points(study)
    taken = read_earlier_rows(KEPT, points)
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
        made.append([f"{processes:,}", application, str(len(of_group)), *_by_mode(of_group, _range)])
    return ["processes", "application", "points", *_headings()], made


def together() -> tuple[list[str], list[list[str]]]:
    """Headings and rows: several jobs at a time, for each application in them."""
    _, rows, _ = kept()
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.grid == "multi":
            groups[str(row.factors["application"])].append(row)
    made = []
    for application, of_group in groups.items():
        jobs = sum(row.factors["mode"] == ACTIVE for row in of_group)
        made.append([application, str(jobs), *_by_mode(of_group, _range)])
    return ["application", "jobs", *_headings()], made


def left_open() -> tuple[list[str], list[list[str]]]:
    """Headings and rows: power settings that the paper left open, compared with deep sleep, over all kept points."""
    made = []
    ways = power_settings()
    beside = {where(row): row for row in ways[BESIDE]}
    for (mode, hold), rows in ways.items():
        pairs = [(row, beside[where(row)]) for row in rows if where(row) in beside]
        more = [100 * (row.saved - other.saved) for row, other in pairs]
        slower = [100 * (slowdown_of(row) - slowdown_of(other)) for row, other in pairs]
        better = sum(a >= -1 and b <= 0 for a, b in zip(more, slower, strict=True))
        compared = [_points(more), _points(slower), f"{better} of {len(pairs)}"]
        if (mode, hold) == BESIDE:
            compared = ["", "", ""]
        made.append([_name(mode, hold), _median(row.saved for row in rows), _median(map(slowdown_of, rows)), *compared])
    beside_it = ["save more, points", "make slower, points", "no slower, and save at most a point less"]
    heads = ["links", "save", "make slower by", *beside_it]
    return heads, made


def left_open_by_application() -> tuple[list[str], list[list[str]]]:
    """Headings and rows: savings and slowdown of each setting by application: medians, in percent."""
    ways = power_settings()
    cells: dict[tuple[int, str], dict[tuple[str, str], list[Row]]] = defaultdict(lambda: defaultdict(list))
    for way, rows in ways.items():
        for row in rows:
            cells[int(row.factors["processes"]), str(row.factors["application"])][way].append(row)
    made = []
    for (processes, application), by_way in sorted(cells.items(), key=lambda item: item[0][0]):
        made.append([f"{processes:,}", application, *(_saved_and_slower(by_way[way]) for way in ways)])
    return ["processes", "application", *(_name(*way) for way in ways)], made


def statements() -> tuple[list[str], list[list[str]]]:
    """Headings and rows: the paper's statements, and the verdict of the kept points."""
    study, rows, _ = kept()
    points = all_points(study)
    verdicts = [judge(statement, rows, points) for statement in study.paper_results]
    return ["the paper says", "verdict", "seen"], [[one.claim, f"*{one.verdict}*", one.words] for one in verdicts]


def counts() -> str:
    """The number of kept points of each grid, and their CPU time."""
    _, rows, of_grid = kept()
    parts = []
    for grid, number in of_grid.items():
        seconds = {row.point: row.simulator_cpu_s for row in rows if row.grid == grid}
        hours = f", {sum(seconds.values()) / 3600:.2f} hours of CPU time" if seconds else ""
        parts.append(f"{len(seconds):,} of {number:,} points of the grid *{grid}*{hours}")
    return "; ".join(parts)


def power_settings() -> dict[tuple[str, str], list[Row]]:
    """The rows of settings that the paper left open, by mode and hold, without active links."""
    _, rows, _ = kept()
    ways: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.grid == "open" and row.factors["mode"] != ACTIVE:
            ways[str(row.factors["mode"]), str(row.factors["hold"])].append(row)
    return ways


def where(row: Row) -> tuple[Value, ...]:
    return tuple(row.factors[name] for name in ("topology", "mapping", "application", "processes"))


def slowdown_of(row: Row) -> float:
    assert row.slowdown is not None, f"{row.point} without active links beside it"
    return row.slowdown


def _saved_and_slower(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    return f"{_percent(median(row.saved for row in rows))}; {_percent(median(map(slowdown_of, rows)))}"


def _name(mode: str, hold: str) -> str:
    return f"{mode}, held {hold}" if hold else mode


def _points(values: Iterable[float]) -> str:
    found = median(values)
    return f"{round(found, 1 if abs(found) >= 1 else 2) + 0.0:+}".replace("-", "−")


def _headings() -> list[str]:
    return [heading for mode in MODES for heading in (f"{mode} saves", "makes slower by")]


def _by_mode(rows: Sequence[Row], words: Callable[[Iterable[float]], str]) -> list[str]:
    cells = []
    for mode in MODES:
        there = [row for row in rows if row.factors["mode"] == mode]
        cells += [words(row.saved for row in there), words(row.slowdown for row in there if row.slowdown is not None)]
    return cells


def _range(values: Iterable[float]) -> str:
    found = sorted(values)
    if not found:
        return ""
    low, high = _percent(found[0]), _percent(found[-1])
    return f"{low} %" if low == high else f"{low} to {high} %"


def _median(values: Iterable[float]) -> str:
    found = list(values)
    ends = _range(found)
    return f"{_percent(median(found))} % ({ends.removesuffix(' %')})" if " to " in ends else ends


def _percent(share: float) -> str:
    value = round(100 * share, 1) + 0.0  # no -0.0
    return f"{value:,.{0 if abs(value) >= 10 else 1}f}".replace("-", "−")
