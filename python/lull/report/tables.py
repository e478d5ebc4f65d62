"""The tables of a report: runs, nodes, scaling, settings, versions, hosts, sources and faults, as plain rows."""

from __future__ import annotations

import platform
import shlex
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median

from lull import __version__
from lull.comparison.quantity import Quantity, Sample
from lull.record import Channel, Run, weakest
from lull.record.share import TypicalEnergy
from lull.report.scaling import Scaling
from lull.statistics import formatting


@dataclass(frozen=True)
class Cell:
    """A cell of a sortable table: its text, and the number that is its sort key, if it is a number."""

    text: str
    sort: float | str | None = None
    kind: str = ""


def seconds(value: float) -> Cell:
    """A time."""
    return Cell(formatting.si(value, "s"), value)


def joules(energy: TypicalEnergy | None) -> Cell:
    """An energy with its kind, or a dash."""
    if energy is None:
        return Cell("–", 0.0)
    least = "≥ " if energy.lower_bound else ""
    return Cell(f"{least}{formatting.si(energy.joules, 'J')}", energy.joules, energy.kind.value)


def run_row(name: str, of: Quantity, sample: Sample) -> list[Cell]:
    """One run: its time, energy and power; each energy with its kind and scope."""
    time, energy = sample.time_s / sample.work, sample.energy_j / sample.work
    low, high = sample.low_j / sample.work, sample.high_j / sample.work
    kind = sample.kind.value
    scope = " and ".join(dict.fromkeys(part.channel for part in sample.parts))
    sources = sorted({channel.source for channel in of.channels})
    wire = sample.wire
    return [
        Cell(name, name),
        Cell(str(sample.index + 1), sample.index),
        Cell(formatting.si(time, "s"), time),
        Cell(formatting.si(energy, "J"), energy, kind),
        Cell(f"{formatting.si(low, 'J')} – {formatting.si(high, 'J')}", high - low),
        Cell(formatting.si(energy / time, "W"), energy / time, kind),
        Cell(scope + (f" ({', '.join(sources)})" if sources else ""), scope),
        Cell(formatting.si(wire.joules / sample.work, "J"), wire.joules, wire.kind.value) if wire else Cell("–", 0.0),
    ]


def node_rows(quantities: list[tuple[str, Quantity]]) -> list[list[Cell]]:
    """A row for each node of every record with several nodes: medians over the runs, per unit of work."""
    return [
        row
        for name, of in quantities
        if len({part.node for sample in of.samples for part in sample.parts} | {h.node for h in of.run.hosts}) > 1
        for row in _rows_of_nodes(name, of)
    ]


def _rows_of_nodes(name: str, of: Quantity) -> list[list[Cell]]:
    whole = median(sample.energy_j / sample.work for sample in of.samples)
    rows = []
    for host in of.run.hosts:
        found = [(part, sample) for sample in of.samples for part in sample.parts if part.node == host.node]
        clock = "–" if host.clock_error_s is None else f"± {formatting.si(host.clock_error_s, 's')}"
        if not found:
            unread = [Cell("not read", 0.0), Cell("–", 0.0), Cell("–", 0.0), Cell("–")]
            rows.append([Cell(name, name), Cell(host.node, host.node), *unread, Cell(clock, host.clock_error_s)])
            continue
        joules = median(part.joules / sample.work for part, sample in found)
        watts = median(part.joules / sample.time_s for part, sample in found)
        share = joules / whole
        kind = weakest([part.kind for part, _ in found]).value
        rows.append(
            [
                Cell(name, name),
                Cell(host.node, host.node),
                Cell(formatting.si(joules, "J"), joules, kind),
                Cell(f"{share * 100:.3g} %", share),
                Cell(formatting.si(watts, "W"), watts, kind),
                Cell(" and ".join(dict.fromkeys(part.channel for part, _ in found))),
                Cell(clock, host.clock_error_s),
            ]
        )
    return rows


@dataclass(frozen=True)
class Settings:
    """Settings and factors: those that differ between records, as a table, and those equal in all."""

    names: list[str]
    rows: list[tuple[str, list[str]]]  # a record and its values
    alike: list[tuple[str, str]]


def settings(runs: list[Run]) -> Settings:
    """Factors and settings of all records, divided by whether they differ."""
    tables = [{**{name: str(value) for name, value in run.factors.items()}, **run.settings} for run in runs]
    names = list(dict.fromkeys(name for table in tables for name in table))
    differ = [name for name in names if len({table.get(name) for table in tables}) > 1]
    return Settings(
        differ,
        [(run.label, [table.get(name, "default") for name in differ]) for run, table in zip(runs, tables, strict=True)],
        [(name, tables[0][name]) for name in names if name not in differ],
    )


def _which(labels: list[str], runs: list[Run]) -> str:
    """The records in a few words: all, all but x, a list, or their number."""
    there = list(dict.fromkeys(labels))
    missing = [run.label for run in runs if run.label not in there]
    if not missing:
        return "all"
    if len(there) <= 3:
        return ", ".join(there)
    return f"all but {', '.join(missing)}" if len(missing) <= 2 else f"{len(there)} of {len(runs)}"


def hosts(runs: list[Run]) -> list[tuple[list[str], str]]:
    """Each host once, with its records."""
    seen: dict[tuple[str, ...], list[str]] = {}
    for run in runs:
        for host in run.hosts:
            memory = f"{host.memory_bytes / 2**30:.0f} GiB"
            key = (host.node, host.processor, str(host.cores), memory, host.kernel)
            seen.setdefault(key, []).append(run.label)
    return [(list(key), _which(labels, runs)) for key, labels in seen.items()]


def channels(runs: list[Run]) -> list[tuple[Channel, str, list[str], str]]:
    """Each channel once for all nodes that have it, with its update interval, and the records."""
    seen: dict[tuple[str, ...], tuple[Channel, list[str], list[str]]] = {}
    for run in runs:
        for channel in run.channels:
            key = (channel.name, channel.domain, channel.kind, channel.basis, str(channel.interval_s))
            _, nodes, labels = seen.setdefault(key, (channel, [], []))
            nodes.append(channel.node)
            labels.append(run.label)
    return [
        (
            channel,
            formatting.si(channel.interval_s, "s") if channel.interval_s else "at every reading",
            list(dict.fromkeys(nodes)),
            _which(labels, runs),
        )
        for channel, nodes, labels in seen.values()
    ]


def faults(quantities: list[tuple[str, Quantity]]) -> list[tuple[str, list[int], bool]]:
    """Wraps, gaps, resets and stale readings of each record, and whether its energy is a lower bound."""
    made = []
    for name, of in quantities:
        parts = [part for sample in of.samples for part in sample.parts]
        counts = [sum(getattr(part, what) for part in parts) for what in ("wraps", "gaps", "resets", "stale")]
        unread = any(sample.unread_nodes for sample in of.samples)
        made.append((name, counts, unread or any(part.lower_bound for part in parts)))
    return made


@dataclass(frozen=True)
class Origin:
    """The date and version of one record."""

    label: str
    lull: str
    created: str
    first: str
    last: str
    hertz: str
    repeats: int
    command: str


def origins(runs: list[Run]) -> list[Origin]:
    """A row for each record."""
    made = []
    for run in runs:
        times = sorted(repeat.started for repeat in run.repeats)
        first, last = (f"{times[end]:%Y-%m-%d %H:%M:%S}" if times else "–" for end in (0, -1))
        created = f"{run.created:%Y-%m-%d %H:%M}"
        hertz = f"{run.sampling_hz:g} Hz"
        made.append(
            Origin(run.label, run.lull_version, created, first, last, hertz, len(run.repeats), shlex.join(run.command))
        )
    return made


def versions() -> str:
    """The versions of the software that made the page, in one line."""
    found = ", ".join(f"{name} {version(name)}" for name in ("numpy", "matplotlib", "pydantic"))
    return f"Lull {__version__}, Python {platform.python_version()}, {found}"


def energy_words(quantities: list[tuple[str, Quantity]]) -> str:
    """The kind and source of the energies in a figure, in one sentence; by record if they differ."""
    by_words: dict[str, list[str]] = {}
    for name, of in quantities:
        sources = sorted({channel.source for channel in of.channels})
        words = f"{of.kind.value}, {' and '.join(of.scopes)}" + (f" from {', '.join(sources)}" if sources else "")
        by_words.setdefault(words, []).append(name)
    if len(by_words) == 1:
        return f"Energy is {next(iter(by_words))}."
    return "Energy: " + "; ".join(f"of {', '.join(names)} {words}" for words, names in by_words.items()) + "."


def scaling_rows(of: Scaling) -> list[list[Cell]]:
    """A row for each size of each line."""
    return [
        [
            Cell(line or "all records", line),
            Cell(f"{step.size:g}", step.size),
            Cell(formatting.si(step.energy_each.value, "J"), step.energy_each.value, step.kind.value),
            Cell(formatting.ratio(step.energy), step.energy.value),
            Cell(formatting.ratio(step.time), step.time.value),
        ]
        for line, steps in of.lines
        for step in steps
    ]
