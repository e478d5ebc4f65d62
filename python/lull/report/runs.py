"""The sections of a report on every run, and on every node of the records of several nodes."""

from __future__ import annotations

from statistics import median

from lull.comparison.quantity import Quantity, Sample
from lull.record import weakest
from lull.report import plots
from lull.report.section import Body, ReportData
from lull.report.tables import Cell, Table
from lull.statistics import formatting


def runs(data: ReportData) -> dict[str, object]:
    """A point and a row for each run; the numbers of failed repeats."""
    rows = [run_row(name, of, sample) for name, of in data.quantities for sample in of.samples]
    return {
        "records": len(data.runs),
        "plot": plots.runs_of_each(data.quantities) if data.few else None,
        "failed": [(name, [index + 1 for index in of.failed]) for name, of in data.quantities if of.failed],
        "table": Table(
            "All runs",
            ["Record", "Run", "Time", "Energy", "Band", "Power", "Covers (source)", "On the wire"],
            rows,
            texts=(0, 6),
            caption="The band is the possible error of the source; more runs do not reduce it.",
            fold=f"All {len(rows)} runs as a table",
        ),
    }


def nodes(data: ReportData) -> Body | None:
    """A row for each node."""
    rows = node_rows(data.quantities)
    table = Table(
        "By node",
        ["Record", "Node", "Energy", "Share", "Power", "Covers", "Clock"],
        rows,
        texts=(0, 1, 5),
        caption="Medians over the runs. The energy of a run is the sum over its nodes, each read once. The clock "
        "column is the possible error of the node’s times relative to the first node; it does not affect energies.",
    )
    return Body(tables=[table]) if rows else None


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
