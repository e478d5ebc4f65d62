"""The section of a report on how its records were measured: settings, versions, hosts, sources, idle power, faults."""

from __future__ import annotations

import platform
import shlex
from dataclasses import dataclass
from importlib.metadata import version

from lull import __version__
from lull.comparison.quantity import Quantity
from lull.record import Channel, Run
from lull.report.section import ReportData
from lull.statistics import formatting


def how_measured(data: ReportData) -> dict[str, object]:
    """The tables of the section, by name."""
    return {
        "settings": settings(data.runs),
        "origins": origins(data.runs),
        "versions": versions(),
        "seeds": sorted({(found.seed, found.resamples) for _, found in data.comparisons}),
        "hosts": hosts(data.runs),
        "channels": channels(data.runs),
        "idle": [(run.label, idle) for run in data.runs for idle in run.idle],
        "faults": faults(data.quantities),
    }


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
