"""The tables of a report on the cost of waiting: by record, and for each by operation and size or call site."""

from __future__ import annotations

from dataclasses import dataclass

from lull.comparison.quantity import Quantity
from lull.record.waiting import Waits, typical_waiting
from lull.report.tables import Cell, joules, seconds
from lull.statistics import formatting

UNITS = ("B", "KiB", "MiB", "GiB")


@dataclass(frozen=True)
class WaitingTables:
    """Plain rows; both empty if no record has the cost of waiting."""

    records: list[list[Cell]]
    operations: list[list[Cell]]


def waiting_tables(quantities: list[tuple[str, Quantity]]) -> WaitingTables:
    """Medians over the successful repeats, of whole runs and not divided by work."""
    made = WaitingTables([], [])
    for name, of in quantities:
        succeeded = {sample.index for sample in of.samples}
        found = typical_waiting(repeat for repeat in of.run.repeats if repeat.index in succeeded)
        if found is None:
            continue
        share = found.share(found.whole)
        made.records.append(
            [
                Cell(name, name),
                Cell(found.policy, found.policy),
                Cell(str(found.pes), found.pes),
                seconds(found.cpu_s),
                seconds(found.progress_cpu_s),
                seconds(found.whole.cpu_s),
                Cell(formatting.percent(share), share),
                joules(found.whole.energy),
            ]
        )
        made.operations.extend(_operation(name, row) for row in found.rows)
    return made


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
