"""The section of a report on the cost of waiting: by record, and for each by operation and size or call site."""

from __future__ import annotations

from markupsafe import Markup

from lull.record.waiting import TypicalWaiting, Waits, typical_waiting
from lull.report.section import Body, ReportData
from lull.report.tables import Cell, Table, joules, seconds
from lull.statistics import formatting

UNITS = ("B", "KiB", "MiB", "GiB")
WORDS = Markup(
    "Counted by the PEs under <code>LULL_STATS</code>: medians over the runs, of whole runs. CPU time in waits is that "
    "of the waiting threads. Energy is that of the processors and their memory (of the node, if only that is metered) "
    "times the waits’ share of the PEs’ CPU time."
)


def waiting(data: ReportData) -> Body | None:
    """Medians over the successful repeats, of whole runs and not divided by work."""
    records: list[list[Cell]] = []
    operations: list[list[Cell]] = []
    for name, of in data.quantities:
        succeeded = {sample.index for sample in of.samples}
        found = typical_waiting(repeat for repeat in of.run.repeats if repeat.index in succeeded)
        if found is not None:
            records.append(_record(name, found))
            operations.extend(_operation(name, row) for row in found.rows)
    if not records:
        return None
    by_record = Table(
        "Cost of waiting",
        ["Record", "Policy", "PEs", "CPU time of PEs", "of progress threads", "in waits", "Share", "Energy of waits"],
        records,
        texts=(0, 1),
    )
    by_operation = Table(
        "Cost of waiting, by operation, and size or call site",
        [
            "Record",
            "Operation",
            "Called from",
            "Up to",
            "Count",
            "Bytes",
            "Waits",
            "Waited",
            "Asleep",
            "CPU time",
            "Energy",
        ],
        operations,
        texts=(0, 1, 2),
        caption="For each record, the operations with the most CPU time come first. Some operations have no size: a "
        "barrier, a flag, an MPI call.",
        fold="By operation, and size or call site",
    )
    return Body(words=WORDS, tables=[by_record, by_operation])


def _record(name: str, found: TypicalWaiting) -> list[Cell]:
    share = found.share(found.whole)
    return [
        Cell(name, name),
        Cell(found.policy, found.policy),
        Cell(str(found.pes), found.pes),
        seconds(found.cpu_s),
        seconds(found.progress_cpu_s),
        seconds(found.whole.cpu_s),
        Cell(formatting.percent(share), share),
        joules(found.whole.energy),
    ]


def _operation(name: str, row: Waits) -> list[Cell]:
    return [
        Cell(name, name),
        Cell(row.operation, row.operation),
        Cell(row.site or "–", row.site),
        Cell(_size(row.up_to_bytes), row.up_to_bytes),
        Cell(f"{row.count:.0f}", row.count),
        Cell(f"{row.bytes:.0f}", row.bytes),
        Cell(f"{row.waits:.0f}", row.waits),
        seconds(row.waited_s),
        seconds(row.asleep_s),
        seconds(row.cpu_s),
        joules(row.energy),
    ]


def _size(up_to_bytes: int) -> str:
    if up_to_bytes == 0:
        return "–"
    power = min((up_to_bytes.bit_length() - 1) // 10, len(UNITS) - 1)
    return f"{up_to_bytes >> (10 * power)} {UNITS[power]}"
