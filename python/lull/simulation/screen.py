"""A simulation on one screen: its description, jobs, power, latencies and links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lull.simulation.latency import Latency
from lull.simulation.result import KINDS, STATES, Power, Result
from lull.statistics import formatting


def show(result: Result, console: Console) -> None:
    """Print the tables of `result`."""
    console.print(Text(heading(result), style="bold"), soft_wrap=True)
    console.print(Text(extent(result)), soft_wrap=True)
    for line in remarks(result):
        console.print(Text(f"note: {line}", style="yellow"), soft_wrap=True)
    times = [time_table(result)] if any(job.time is not None for job in result.jobs) else []
    savings = [savings_table(result)] if result.savings else []
    power = (power_table(result), *savings)
    for table in (jobs_table(result), *times, *power, latency_table(result), links_table(result)):
        console.print()
        console.print(table)


def heading(result: Result) -> str:
    """Network, power mode and routing in one line."""
    power = result.description["power"]
    topology = result.description["topology"]
    hold = f", hold {power['hold']}" if "hold" in power else ""
    algorithm = result.description["routing"]["algorithm"]
    size = f"{_count(result.nodes, 'node')}, {_count(len(result.links), 'link')}"
    return f"{topology['name']}, {size}: {power['mode']}{hold}, {algorithm} routing, seed {result.description['seed']}"


def extent(result: Result) -> str:
    """The amount of simulation, and its cost, in one line."""
    cpu = result.simulator_cpu_s + (result.active.simulator_cpu_s if result.active else 0)
    crossed = f"{_count(result.packets, 'packet')}, {_count(result.packet_hops, 'hop')}"
    spent = f"in {formatting.si(cpu, 's')} of CPU time ({result.queues} queues)"
    return f"simulated {formatting.si(result.simulated_s, 's')}: {crossed}, {spent}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def remarks(result: Result) -> list[str]:
    """Notes that a reader must know to judge the figures."""
    lines = []
    if result.ended_early:
        lost = result.messages_created - result.messages_delivered
        lines.append(
            f"it was stopped at its end, {result.description['end']}, with {_count(lost, 'message')} under way"
        )
    if result.ended_early and result.active:
        lines.append("no slowdown is known: the jobs were cut off")
    if result.description["network"]["queues"] == "auto" and result.why_not_fifo:
        lines.append(f"explicit queues, because {result.why_not_fifo}")
    lines += [f"{job.name}: {line}" for job in result.jobs for line in job.remarks]
    return lines


def jobs_table(result: Result) -> Table:
    """A row for each job."""
    table = _table("job", "processes", "messages", "run time", "with active links", "slowdown", "median", "99 %")
    for job in result.jobs:
        slowdown = "–" if job.slowdown is None else formatting.percent(job.slowdown)
        active = "–" if job.active_run_time_s is None else formatting.si(job.active_run_time_s, "s")
        low, high = _percentiles(job.latency)
        run_time = f"{'' if job.finished else 'over '}{formatting.si(job.run_time_s, 's')}"
        table.add_row(
            job.name, f"{job.processes:,}", f"{job.messages:,}", run_time, active, slowdown,
            low, high,
        )  # fmt: skip
    return table


def time_table(result: Result) -> Table:
    """Time by activity: a row for each program, with means over its processes."""
    table = _table("program", "iterations", "computing", "sending", "waiting", "messages in memory")
    for job in result.jobs:
        if job.time is not None:
            parts = (job.time.computing_s, job.time.sending_s, job.time.waiting_s)
            shown = [f"{formatting.si(part, 's')} ({formatting.percent(job.time.share(part))})" for part in parts]
            table.add_row(job.name, f"{len(job.iteration_ends_s):,}", *shown, f"{job.memory_messages:,}")
    return table


def power_table(result: Result) -> Table:
    """Power and time in each state, of all links, of those between switches, and of those in use."""
    states = [state for state in STATES if state == "active" or result.power.states[state] > 0]
    table = _table(
        "power", "of active", "saved", *(f"time {state}" for state in states), "wake-ups", "energy, simulated"
    )
    joules = "–" if result.joules is None else formatting.si(result.joules, "J")
    _power_row(table, "all links", result.power, states, joules)
    if result.links.between_switches.any():
        _power_row(table, "between switches", result.network_power, states, "")
    if 0 < result.links.used.sum() < len(result.links):
        _power_row(table, "that carried packets", result.used_power, states, "")
    return table


def savings_table(result: Result) -> Table:
    """What each power mode of [[savings]] would save if its wake-ups delayed no packet."""
    table = _table("saved without waits", "all links", "between switches", "that carried packets", "wake-ups")
    for one in result.savings:
        groups = (one.power, one.network_power, one.used_power)
        shares = [formatting.percent(power.saved) for power in groups]
        table.add_row(setting(one.settings), *shares, f"{one.power.wakes:,}")
    return table


def setting(settings: Mapping[str, Any]) -> str:
    """A power mode with its holds: `hybrid, hold 2.2 us, then 100 us in fast wake`."""
    later = settings.get("hybrid_hold")
    then = f", then {later} in fast wake" if later is not None and later != settings["hold"] else ""
    return f"{settings['mode']}, hold {settings['hold']}{then}"


def latency_table(result: Result) -> Table:
    """Latencies of packets, with the interval of the mean."""
    table = _table("latency", "number", "mean (95 %)", "median", "99 %", "most")
    rows = [("packet", result.packet_latency), ("packet in the network", result.network_latency)]
    if result.active:
        rows.insert(1, ("packet, active links", result.active.packet_latency))
    for name, latency in rows:
        if latency is not None:
            table.add_row(
                name, f"{latency.count:,}", mean(latency), *_percentiles(latency), formatting.si(latency.most_s, "s")
            )
    return table


def links_table(result: Result) -> Table:
    """Share of time in which links transmit, by kind."""
    table = _table("links", "number", "mean use", "most used")
    for place, name in enumerate(KINDS):
        use = result.link_use[result.links.kind == place]
        if len(use):
            table.add_row(
                name, f"{len(use):,}", formatting.percent(float(use.mean())), formatting.percent(float(use.max()))
            )
    return table


def mean(latency: Latency) -> str:
    """The mean with its interval: 3.51 µs (3.49–3.53)."""
    factor, unit = formatting.scale(latency.mean_s, "s")
    words = formatting.three_digits(latency.mean_s / factor)
    if latency.mean_low_s is None or latency.mean_high_s is None:
        return f"{words} {unit}"
    low, high = (formatting.three_digits(value / factor) for value in (latency.mean_low_s, latency.mean_high_s))
    return f"{words} {unit} ({low}–{high})"


def _power_row(table: Table, name: str, power: Power, states: list[str], joules: str) -> None:
    shares = [formatting.percent(power.states[state]) for state in states]
    table.add_row(name, f"{power.share:.3f}", formatting.percent(power.saved), *shares, f"{power.wakes:,}", joules)


def _percentiles(latency: Latency | None) -> tuple[str, str]:
    return ("–", "–") if latency is None else (formatting.si(latency.median_s, "s"), formatting.si(latency.p99_s, "s"))


def _table(first: str, *others: str) -> Table:
    table = Table(pad_edge=False, box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first, no_wrap=True)
    for heading in others:
        table.add_column(heading, justify="right")
    return table
