"""Numbers of the page on link power, from the kept points of the study `links`. Shares: 0.1 is 10 %."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from math import log
from statistics import median

from kept_links import BESIDE, kept, power_settings, slowdown_of, where
from rows_numbers import count, number, percent, percents, span, word

from lull.simulation.latency import student_quantile
from lull.study.simulations.grids import ACTIVE, Point, all_points
from lull.study.simulations.rows import Row

WAKE_DEEP_US, WAKE_FAST_US = 5.5, 0.34  # the paper's table VI
FIRST = ("dragonfly-rows-4608", "random")  # the network and mapping of estimates
FELT = 0.01  # slowdowns above this are compared by their ratio: below, the order of messages matters as much


# Points and jobs


@cache
def _points() -> list[Point]:
    return all_points(kept()[0])


def points_of(*grids: str) -> str:
    """How many points these grids have."""
    return number(sum(kept()[2][grid] for grid in grids), 0)


def missing_of(grid: str) -> str:
    """How many points of a grid are not kept."""
    _, rows, of_grid = kept()
    return number(of_grid[grid] - len({row.point for row in rows if row.grid == grid}), 0)


def jobs_of_all() -> dict[int, Point]:
    """One point of each workload, which has its jobs."""
    return {int(point.factors["workload"]): point for point in _points() if point.grid == "multi"}


def points_of_a_workload() -> str:
    """The number of points of one workload, or of one application at one size."""
    return number(kept()[2]["multi"] // len(jobs_of_all()), 0)


@cache
def _together() -> list[Row]:
    return [row for row in kept()[1] if row.grid == "multi"]


def workloads_kept() -> str:
    """How many workloads are kept, in a word; they are the first ones."""
    there = {int(row.factors["workload"]) for row in _together()}
    assert there == set(range(1, len(there) + 1)), "the page says that the first ones are kept"
    return word(len(there))


def workloads_with(application: str) -> str:
    """How many of them have an application."""
    return word(len({row.factors["workload"] for row in _together() if row.factors["application"] == application}))


def shares_simulated() -> str:
    """The share of the packet-hops of a point that was simulated in one sample."""
    return percents(row.sampled for row in _together() if row.sampled is not None)


def _samples() -> int:
    sampled = next(grid.sample for grid in kept()[0].grids if grid.name == "multi")
    assert sampled is not None, "the grid of several jobs is sampled"
    return sampled.seeds


def samples_differ(error: str) -> str:
    """By how many percentage points two samples of a point differ at most; in slowdown without miniAMR."""
    half_widths = [
        getattr(row, error)
        for row in _together()
        if row.factors["mode"] != ACTIVE and (error == "saved_error" or row.factors["application"] != "miniamr")
    ]
    assert _samples() == 2, "the page compares two samples"
    return number(100 * max(half_widths) * 2 / student_quantile(2), 2)  # half a width is t |a - b| / 2


def _hours_of_one_job() -> float:
    """CPU time of the missing points of one job, if it grows with the processes as it does from 256 to 1,024."""
    took = {row.point: row.simulator_cpu_s for row in kept()[1] if row.grid == "single"}
    missing = [point for point in _points() if point.grid == "single" and point.name not in took]
    seconds = 0.0
    for point in missing:
        job = point.jobs[0]
        small, large = (took[point.name.replace(f".{job.processes}.", f".{size}.")] for size in (256, 1024))
        seconds += small * (large / small) ** log(job.processes / 256, 4)
    return seconds / 3600


def hours_of_one_job() -> str:
    """The same, as text."""
    return f"{number(_hours_of_one_job(), 0)} hours"


def cpu_seconds() -> str:
    """CPU time of a point of several jobs."""
    return span((row.simulator_cpu_s / _samples() for row in _together()), 0)


def _is_alone(row: Row, mode: str) -> bool:
    return row.grid == "single" and row.factors["mode"] == mode


# Several jobs compared with one


def _job(row: Row) -> tuple[object, ...]:
    return tuple(row.factors[name] for name in ("topology", "mapping", "application", "processes", "mode", "hold"))


@cache
def _more_than_alone() -> list[float]:
    alone = {_job(row): slowdown_of(row) for row in kept()[1] if _is_alone(row, "deep-sleep")}
    return sorted(
        slowdown_of(row) - alone[_job(row)]
        for row in kept()[1]
        if row.grid == "multi" and row.factors["application"] != "miniamr" and _job(row) in alone
    )


def more_than_alone() -> str:
    """How many points more a job is slowed down than alone in deep sleep, in the median, miniAMR excepted."""
    return number(100 * median(_more_than_alone()), 1)


def more_than_alone_of_four_in_five() -> str:
    """The same, without the tenth of jobs at either end."""
    found = _more_than_alone()
    tenth = len(found) // 10
    return span((100 * found[tenth], 100 * found[-1 - tenth]), 1)


# Slowdown and savings of modes


def _rows_of(grid: str, mode: str, application: str, processes: int = 0) -> list[Row]:
    """The rows of an application, or with `-` before its name of all others, or of all."""
    excepted = application.startswith("-")
    name = application.removeprefix("-")
    return [
        row
        for row in kept()[1]
        if row.grid == grid
        and row.factors["mode"] == mode
        and (not name or (row.factors["application"] == name) != excepted)
        and (not processes or row.factors["processes"] == processes)
    ]


def most_slowdown(grid: str, mode: str, application: str = "", digits: int = 0) -> str:
    """The greatest slowdown; `-miniamr` are all applications but miniAMR."""
    return percent(max(slowdown_of(row) for row in _rows_of(grid, mode, application)), digits)


def saved(grid: str, mode: str, application: str = "") -> str:
    """The least and greatest power saved."""
    return percents(row.saved for row in _rows_of(grid, mode, application))


def median_slowdown(mode: str, application: str, processes: int) -> str:
    """The slowdown of an application in the grid `open`, in the median over networks and mappings."""
    return percent(median(slowdown_of(row) for row in _rows_of("open", mode, application, processes)))


def median_times(mode: str, application: str, processes: int) -> str:
    """How many times as long it takes there."""
    times = 1 + median(slowdown_of(row) for row in _rows_of("open", mode, application, processes))
    return number(times, 0 if times >= 10 else 1)


def median_saved(mode: str, application: str = "", processes: int = 0) -> str:
    """The power that it saves there, in the median."""
    return percent(median(row.saved for row in _rows_of("open", mode, application, processes)))


def left_of_slowdown(mode: str) -> str:
    """The slowdown in a mode over that in deep sleep, in the median where the latter is felt; miniAMR excepted."""
    beside = {where(row): slowdown_of(row) for row in power_settings()[BESIDE]}
    rows = [row for row in _rows_of("open", mode, "-miniamr") if beside.get(where(row), 0) > FELT]
    return number(median(slowdown_of(row) / beside[where(row)] for row in rows), 2)


# What follows from the paper's own tables


@cache
def dominance() -> tuple[float, ...]:
    """Power saved by hybrid with a hold of 1 Ts less that by deep sleep with one of 4 Ts, for each pair of points."""
    found: dict[str, float] = {}
    for mode, hold in (("deep-sleep", "4 Ts"), ("hybrid", "1 Ts")):
        for row in kept()[1]:
            if row.factors["mode"] == mode and row.factors["hold"] == hold and row.grid in {"single", "multi"}:
                found[f"{row.point.removesuffix(f'.{mode}.{hold}'.replace(' ', '_'))} {mode}"] = row.saved
    points = [name.removesuffix(" hybrid") for name in found if name.endswith(" hybrid")]
    both = [name for name in points if f"{name} deep-sleep" in found]
    return tuple(found[f"{name} hybrid"] - found[f"{name} deep-sleep"] for name in both)


def pairs_that_dominate() -> str:
    """In how many of the pairs hybrid saves at least as much: 140 of 142."""
    return count(more >= 0 for more in dominance())


def worst_of_dominance() -> str:
    """By how many percent points the others save less."""
    return f"{-100 * min(dominance()):.4f}"


def most_of_dominance() -> str:
    """By how many percent points hybrid saves more, at most."""
    return number(100 * max(dominance()), 1)


def wake_ratio() -> str:
    """A wake-up from fast wake over one from deep sleep."""
    return number(WAKE_FAST_US / WAKE_DEEP_US, 3)


@cache
def ratios() -> tuple[float, ...]:
    """Slowdown in fast wake over that in deep sleep, both without a hold, for each job that deep sleep slows down."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in kept()[1]:
        if row.factors["hold"] == "0 Ts":
            found[row.point.rpartition(f".{row.factors['mode']}")[0], str(row.factors["mode"])].append(row)
    return tuple(
        slowdown_of(fast) / slowdown_of(deep)
        for (point, mode), rows in found.items()
        if mode == "deep-sleep" and (point, "fast-wake") in found
        for deep, fast in zip(rows, found[point, "fast-wake"], strict=True)
        if slowdown_of(deep) > FELT
    )


def ratio_of_jobs() -> str:
    """The number of these jobs."""
    return number(len(ratios()), 0)


def median_ratio() -> str:
    """The median of these ratios."""
    return number(median(ratios()), 3)


def range_of_ratios() -> str:
    """The least and the greatest of them."""
    return span(ratios(), 3)


def implied(times: float) -> str:
    """The slowdown in fast wake of a program that takes so many times as long in deep sleep."""
    return percent((times - 1) * WAKE_FAST_US / WAKE_DEEP_US)


def implied_by(slowdown: float) -> str:
    """The same by a slowdown, small."""
    return percent(slowdown * WAKE_FAST_US / WAKE_DEEP_US, 1)
