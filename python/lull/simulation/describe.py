"""A simulation as a document: its description, jobs, power, latencies and links."""

from __future__ import annotations

from lull.present import cells
from lull.present.document import Cell, Column, Columns, Document, Line, Note, Part, Row, Table, row, table
from lull.simulation import tolerance
from lull.simulation.latency import Latency
from lull.simulation.result import KINDS, STATES, Power, Result, Sampled
from lull.statistics import formatting


def describe(result: Result) -> Document:
    """The tables of `result`."""
    parts: list[Part] = [
        Line(extent(result)),
        *map(Note, remarks(result)),
        jobs_table(result),
        *([time_table(result)] if any(job.time is not None for job in result.jobs) else []),
        power_table(result),
        *([savings_table(result)] if result.savings else []),
        *(part for job in result.jobs if job.tolerance for part in _borne(job.name, job.tolerance)),
        latency_table(result),
        links_table(result),
    ]
    return Document(heading(result), tuple(parts))


def _borne(program: str, found: tolerance.Tolerance) -> list[Part]:
    asleep = [tolerance.sleeps_table(found)] if found.sleeps else []
    return [*tolerance.parts_of(program, found), *asleep]


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


def sampling(of: Sampled) -> str:
    """That the figures are estimates, and from how much of the whole."""
    return sampling_of(of.share)


def sampling_of(share: float) -> str:
    """The same, for the share of its packet-hops."""
    estimated = (
        f"sampled: run times and power are estimates of the whole, from {formatting.percent(share)} of its packet-hops"
    )
    return f"{estimated}; messages, latencies and use of links are those of this part"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def remarks(result: Result) -> list[str]:
    """Notes that a reader must know to judge the figures."""
    lines = [sampling(result.sampled)] if result.sampled is not None else []
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
    columns: Columns = [
        "job",
        "processes",
        "messages",
        Column("run time", "s"),
        Column("with active links", "s"),
        "slowdown",
        Column("median", key="latency_median_s"),
        Column("99 %", "s", key="latency_p99_s"),
    ]
    rows = []
    for job in result.jobs:
        run_time = cells.si(job.run_time_s, "s")
        if not job.finished:
            run_time = Cell(f"over {run_time.text}", job.run_time_s)
        active = cells.si(job.active_run_time_s, "s")
        counts = (cells.count(job.processes), cells.count(job.messages))
        rows.append(row(job.name, *counts, run_time, active, cells.share(job.slowdown), *_percentiles(job.latency)))
    return table(columns, rows)


def time_table(result: Result) -> Table:
    """Time by activity: a row for each program, with means over its processes."""
    columns: Columns = ["program", "runs", "iterations", "computing", "sending", "waiting", "messages in memory"]
    rows = []
    for job in result.jobs:
        if job.time is not None:
            parts = (job.time.computing_s, job.time.sending_s, job.time.waiting_s)
            shown = [
                Cell(f"{formatting.si(part, 's')} ({formatting.percent(job.time.share(part))})", part) for part in parts
            ]
            iterations = cells.count(None if job.estimated_s else len(job.iteration_ends_s))
            rows.append(row(job.name, cells.count(job.runs), iterations, *shown, cells.count(job.memory_messages)))
    return table(columns, rows)


def power_table(result: Result) -> Table:
    """Power and time in each state, of all links, of those between switches, and of those in use."""
    states = [state for state in STATES if state == "active" or result.power.states[state] > 0]
    columns: Columns = [
        "power",
        "of active",
        "saved",
        *(f"time {state}" for state in states),
        "wake-ups",
        Column("energy, simulated", key="simulated_j"),
    ]
    rows = [_power_row("all links", result.power, states, cells.si(result.joules, "J"))]
    if result.links.between_switches.any():
        rows.append(_power_row("between switches", result.network_power, states, Cell("")))
    if 0 < result.links.used.sum() < len(result.links):
        rows.append(_power_row("that carried packets", result.used_power, states, Cell("")))
    return table(columns, rows)


def savings_table(result: Result) -> Table:
    """What each power mode of [[savings]] would save if its wake-ups delayed no packet."""
    rows = [
        row(
            tolerance.in_words(one.settings),
            *(cells.share(power.saved) for power in (one.power, one.network_power, one.used_power)),
            cells.count(one.power.wakes),
        )
        for one in result.savings
    ]
    return table(["saved without waits", "all links", "between switches", "that carried packets", "wake-ups"], rows)


def latency_table(result: Result) -> Table:
    """Latencies of packets, with the interval of the mean."""
    columns: Columns = [
        "latency",
        "number",
        Column("mean (95 %)", key="mean_s"),
        Column("median", "s"),
        Column("99 %", key="p99_s"),
        Column("most", "s"),
    ]
    found = [("packet", result.packet_latency), ("packet in the network", result.network_latency)]
    if result.active:
        found.insert(1, ("packet, active links", result.active.packet_latency))
    rows = [
        row(name, cells.count(latency.count), mean(latency), *_percentiles(latency), cells.si(latency.most_s, "s"))
        for name, latency in found
        if latency is not None
    ]
    return table(columns, rows)


def links_table(result: Result) -> Table:
    """Share of time in which links transmit, by kind."""
    rows = []
    for place, name in enumerate(KINDS):
        use = result.link_use[result.links.kind == place]
        if len(use):
            rows.append(row(name, cells.count(len(use)), cells.share(float(use.mean())), cells.share(float(use.max()))))
    return table(["links", "number", "mean use", "most used"], rows)


def mean(latency: Latency) -> Cell:
    """The mean with its interval: 3.51 µs (3.49–3.53)."""
    factor, unit = formatting.scale(latency.mean_s, "s")
    words = f"{formatting.three_digits(latency.mean_s / factor)} {unit}"
    if latency.mean_low_s is None or latency.mean_high_s is None:
        return Cell(words, latency.mean_s)
    low, high = (formatting.three_digits(value / factor) for value in (latency.mean_low_s, latency.mean_high_s))
    return Cell(f"{words} ({low}–{high})", latency.mean_s, latency.mean_low_s, latency.mean_high_s)


def _power_row(name: str, power: Power, states: list[str], joules: Cell) -> Row:
    shares = [cells.share(power.states[state]) for state in states]
    return row(name, cells.decimal(power.share, 3), cells.share(power.saved), *shares, cells.count(power.wakes), joules)


def _percentiles(latency: Latency | None) -> tuple[Cell, Cell]:
    if latency is None:
        return (cells.si(None, "s"), cells.si(None, "s"))
    return (cells.si(latency.median_s, "s"), cells.si(latency.p99_s, "s"))
