"""The short account of a measurement on the terminal: each repeat, then the median over them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.table import Table

from lull.record import Energy, Repeat


def summary_table(repeats: Sequence[Repeat]) -> Table:
    """Wall and CPU seconds and every total in joules with its kind, a row per repeat and one for the medians.

    Args:
        repeats: At least one, all of one command on the same nodes.
    """
    headers = [heading(total, repeats[0].totals) for total in repeats[0].totals]
    table = Table("repeat", "exit", pad_edge=False, box=None, padding=(0, 2, 0, 0))
    for header in ("wall s", "CPU s", *headers):
        table.add_column(header, justify="right")
    for repeat in repeats:
        energy = [figure(total) for total in repeat.totals]
        table.add_row(
            str(repeat.index + 1), str(repeat.exit_code), f"{repeat.wall_s:.4g}", f"{repeat.cpu_s:.4g}", *energy
        )
    if len(repeats) > 1:
        walls = median(repeat.wall_s for repeat in repeats)
        cpus = median(repeat.cpu_s for repeat in repeats)
        joules = [median(repeat.totals[i].joules for repeat in repeats) for i in range(len(headers))]
        figures = [f"{value:.4g}" for value in (walls, cpus, *joules)]
        table.add_row("median", "", *figures, style="bold")
    return table


def heading(total: Energy, all_totals: Sequence[Energy]) -> str:
    """What a column of energy holds; the node is named only when there are several."""
    where = f" on {total.node}" if len({other.node for other in all_totals}) > 1 else ""
    return f"{total.domain.value} J{where}\n{total.kind.value}"


def figure(total: Energy) -> str:
    """Joules, marked when a reset hid part of them, or readings failed."""
    marks = (" or more" if total.lower_bound else "") + (f" ({total.gaps} gaps)" if total.gaps else "")
    return f"{total.joules:.4g}{marks}"
