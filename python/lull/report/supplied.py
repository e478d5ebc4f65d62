"""The sections of a report on plots and claims that a study or a trace supplies."""

from __future__ import annotations

from collections.abc import Sequence

from lull.report.section import Body, ReportData
from lull.report.tabled_plot import TabledPlot
from lull.report.tables import Cell, Table


def curves(data: ReportData) -> Body | None:
    """Ratios over a factor."""
    return _plots(
        data.supplied.curves,
        "Each point is a ratio of medians, its bar is the 95 % interval; the tables show the ratio in brackets. On the "
        f"dashed line, a line equals the reference line. {data.energy_words}",
    )


def impacts(data: ReportData) -> Body | None:
    """Savings over a factor."""
    return _plots(
        data.supplied.impacts,
        "The savings of each change, in percent of its baseline, from ratios of medians; the bars are 95 % intervals. "
        f"Below the dashed line the change is a loss. {data.energy_words}",
    )


def bars(data: ReportData) -> Body | None:
    """Energies of the nodes and on the wire."""
    return _plots(
        data.supplied.bars,
        "Medians, with 95 % intervals. The energy on the wire and that of the nodes have the same scale but are not "
        f"added: a meter of a node may already include part of the wire. {data.energy_words}",
    )


def traces(data: ReportData) -> Body | None:
    """Time by activity."""
    return _plots(
        data.supplied.traces,
        "Time by activity, from the recorded calls of MPI and OpenSHMEM. Compute is all time outside them. A receive "
        "posted before its message was sent waits for a late sender; a send that ends only after its receive was "
        "posted waits for a late receiver. Imbalance is the time that collectives wait for the last process; transfer "
        "is the rest.",
    )


def claims(data: ReportData) -> dict[str, object] | None:
    """Published results next to ours."""
    found = data.supplied.claims
    if not found:
        return None
    columns = list(dict.fromkeys(key for claim in found for key in claim))
    rows = [[Cell(claim.get(name, "–")) for name in columns] for claim in found]
    table = Table("Published results and ours", columns, rows, texts=range(len(columns)))
    return {"source": data.supplied.source, "table": table}


def _plots(plots: Sequence[TabledPlot], words: str) -> Body | None:
    return Body(words=words, plots=plots) if plots else None
