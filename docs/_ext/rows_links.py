"""Numbers of the page on link power, from the kept points of the study `links`. Shares: 0.1 is 10 %."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from math import log
from statistics import geometric_mean, median

from kept_links import BESIDE, kept, power_settings, slowdown_of, where
from rows_numbers import count, number, percent, percents, span, word

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


@cache
def _workloads() -> tuple[int, ...]:
    """The workloads that are kept in all settings."""
    _, rows, of_grid = kept()
    names: dict[int, set[str]] = defaultdict(set)
    for row in rows:
        if row.grid == "multi":
            names[int(row.factors["workload"])].add(row.point)
    return tuple(number for number, points in names.items() if len(points) == of_grid["multi"] // len(jobs_of_all()))


def jobs_of_all() -> dict[int, Point]:
    """One point of each workload, which has its jobs."""
    return {int(point.factors["workload"]): point for point in _points() if point.grid == "multi"}


def points_of_a_workload() -> str:
    """The number of points of one workload, or of one application at one size."""
    return number(kept()[2]["multi"] // len(jobs_of_all()), 0)


def workloads() -> str:
    """The workloads kept as a whole, by number: 3rd, 4th."""
    names = [f"{one}{'th' if one > 3 else ('st', 'nd', 'rd')[one - 1]}" for one in _workloads()]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def jobs_in_a_workload() -> str:
    """The least and the greatest number of jobs of the kept workloads."""
    there = {int(row.factors["workload"]) for row in kept()[1] if row.grid == "multi"}
    return span((len(jobs_of_all()[one].jobs) for one in there), 0)


def with_application(name: str, whole: bool) -> str:
    """The number of workloads, of those kept as a whole or of all, that contain an application."""
    of = _workloads() if whole else tuple(jobs_of_all())
    return word(sum(any(job.application == name for job in jobs_of_all()[one].jobs) for one in of))


@cache
def _hops(topology: str, mapping: str) -> dict[tuple[str, int], tuple[float, float]]:
    """Packet-hops and run time of each application alone, with active links.

    Of 512 processes, where they were not simulated, it is the geometric mean of 256 and 1,024.
    """
    alone: dict[tuple[str, int], tuple[float, float]] = {}
    for row in kept()[1]:
        if _is_alone(row, ACTIVE) and (row.factors["topology"], row.factors["mapping"]) == (topology, mapping):
            key = str(row.factors["application"]), int(row.factors["processes"])
            alone[key] = row.packet_hops, row.run_time_s
    for application in {name for name, _ in alone}:
        if (application, 512) not in alone:
            beside = zip(alone[application, 256], alone[application, 1024], strict=True)
            hops, seconds = map(geometric_mean, beside)
            alone[application, 512] = hops, seconds
    return alone


def _hops_of(point: Point) -> float:
    """Packet-hops that the jobs of a point of several jobs have alone."""
    alone = _hops(str(point.factors["topology"]), str(point.factors["mapping"]))
    return sum(job.repeats * alone[job.application, job.processes][0] for job in point.jobs)


def traffic(whole: bool) -> str:
    """Millions of packet-hops in a simulated second, in the median over workloads kept as a whole, or over all.

    They are those of each application alone, with random mapping on the dragonfly. A workload lasts as long as the
    longest of its jobs.
    """
    rates = []
    for workload in _workloads() if whole else jobs_of_all():
        jobs = [(job.repeats, *_hops(*FIRST)[job.application, job.processes]) for job in jobs_of_all()[workload].jobs]
        rates.append(sum(times * hops for times, hops, _ in jobs) / max(times * seconds for times, _, seconds in jobs))
    return number(median(rates) / 1e6, 0)


def _setting(point: Point) -> tuple[object, ...]:
    return tuple(point.factors[name] for name in ("topology", "mapping", "mode", "hold"))


@cache
def _cost_of_a_hop() -> tuple[float, list[float]]:
    """Hours of the grid of several jobs, by the CPU time of a packet-hop in the workloads kept as a whole.

    And the CPU time of each workload that is kept in part or whole, over that by this estimate.
    """
    took = {row.point: row.simulator_cpu_s for row in kept()[1] if row.grid == "multi"}
    points = [point for point in _points() if point.grid == "multi"]
    time: dict[tuple[object, ...], float] = defaultdict(float)
    hops: dict[tuple[object, ...], float] = defaultdict(float)
    for point in points:
        if point.factors["workload"] in _workloads():
            time[_setting(point)] += took[point.name]
            hops[_setting(point)] += _hops_of(point)
    estimated = {point.name: _hops_of(point) * time[_setting(point)] / hops[_setting(point)] for point in points}
    of_workload: dict[int, list[float]] = defaultdict(list)
    for point in points:
        if point.name in took:
            of_workload[int(point.factors["workload"])].append(took[point.name] / estimated[point.name])
    total = sum(took.get(point.name, estimated[point.name]) for point in points)
    return total / 3600, [median(found) for found in of_workload.values()]


def hours_of_several_jobs() -> str:
    """CPU time of the whole grid of several jobs, by this estimate."""
    return f"{number(_cost_of_a_hop()[0], 0)} hours"


def error_of_hours() -> str:
    """The CPU time of the kept workloads over the estimate: 0.7 to 1.8."""
    return span(_cost_of_a_hop()[1], 1)


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


def days_on_two_cores() -> str:
    """Both grids, on two cores."""
    return f"{number((_cost_of_a_hop()[0] + _hours_of_one_job()) / 48, 1)} days"


def ends_after(application: str) -> str:
    """When jobs of an application end, as shares of the run time of the longest job of their point; active links."""
    points: dict[str, list[Row]] = defaultdict(list)
    for row in kept()[1]:
        if row.grid == "multi" and row.factors["mode"] == ACTIVE:
            points[row.point].append(row)
    return percents(
        row.run_time_s / max(one.run_time_s for one in rows)
        for rows in points.values()
        for row in rows
        if row.factors["application"] == application
    )


def repeats(application: str) -> str:
    """How often jobs of an application run in a workload."""
    return span((r.repeats for r in kept()[1] if r.grid == "multi" and r.factors["application"] == application), 0)


def cpu_seconds() -> str:
    """CPU time of a point of several jobs."""
    return span((row.simulator_cpu_s for row in kept()[1] if row.grid == "multi"), 0)


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


def _less_by_hold(quantity: str) -> list[float]:
    """What a hold of 4 Ts saves or costs less than none, for each point or, in slowdown, each job but miniAMR."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in kept()[1]:
        if row.grid == "multi" and row.factors["mode"] == "deep-sleep":
            found[row.point.rpartition(".")[0], str(row.factors["hold"])].append(row)
    pairs = [
        (none, held)
        for (point, hold), rows in found.items()
        if hold == "0 Ts" and (point, "4 Ts") in found
        for none, held in zip(rows, found[point, "4 Ts"], strict=True)
        if quantity == "saved" or none.factors["application"] != "miniamr"
    ]
    return [100 * ((a.quantity(quantity) or 0) - (b.quantity(quantity) or 0)) for a, b in pairs]


def less_by_hold(quantity: str) -> str:
    """Points that a hold of 4 Ts saves (`saved`), or slows down (`slowdown`), less than none, in the median."""
    return number(median(_less_by_hold(quantity)), 1)


def most_less_by_hold(quantity: str) -> str:
    """The same, at most."""
    return number(max(_less_by_hold(quantity)), 1)


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
