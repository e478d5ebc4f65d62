"""Comparisons on the terminal: one screen for each, or one for several candidates; a narrow one omits columns.

Ratios, reductions and p are always shown. A terminal of 96 columns has room for the shift, one of 132 for the intervals
of the medians. JSON and Markdown contain everything.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lull.comparison.result import Comparison
from lull.comparison.table import Row, category_words, rows, scope_words, sensor_words
from lull.statistics import formatting
from lull.statistics.bootstrap import Interval

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPED_WIDTH = 160  # columns without a terminal; wide enough that no line of a table is folded
WIDTH_FOR_SHIFT = 96
WIDTH_FOR_INTERVALS = 132
WIDTH_FOR_EDP = 116


def render(found: Comparison, console: Console) -> None:
    """Print one comparison: its subject, a table, the verdict, and the caveats."""
    from rich.text import Text

    first, second = found.baseline, found.candidate
    console.print(
        Text.assemble((second.label, "bold"), " against ", (first.label, "bold"), f": {found.quantity}"),
        Text(f"Medians. Energy of {scope_words(found)}.", "dim"),
        sep="\n",
        soft_wrap=not console.is_terminal,
    )
    console.print(_details(found, console))
    console.print(Text(sensor_words(found), "dim"), soft_wrap=not console.is_terminal)
    console.print(Text(_sentence(found.verdict), _colour(found)), soft_wrap=not console.is_terminal)
    _print_notes(found.warnings, console)


def render_several(comparisons: Sequence[Comparison], console: Console) -> None:
    """Print several candidates compared with one baseline: a row and a verdict for each, and every caveat once."""
    from rich.text import Text

    first = comparisons[0].baseline
    kinds = " and ".join(dict.fromkeys([first.kind.value, *(found.candidate.kind.value for found in comparisons)]))
    console.print(
        Text.assemble(f"{len(comparisons)} records against ", (first.label, "bold"), f": {comparisons[0].quantity}"),
        Text(f"Medians; ratios with 95 % intervals. Energy, {kinds}, of {scope_words(comparisons[0])}.", "dim"),
        sep="\n",
        soft_wrap=not console.is_terminal,
    )
    wide = console.width >= WIDTH_FOR_EDP
    table = _table(console.is_terminal, tight=console.is_terminal and not wide)
    table.add_column("", overflow="fold", min_width=10)
    for heading in ("time", "energy"):
        table.add_column(heading, no_wrap=True, justify="right")
    for heading in ("Speedup", "Greenup", "Powerup", *(["EDP ratio"] if wide else [])):
        table.add_column(heading, no_wrap=True)
    table.add_column("cat.", no_wrap=True)
    if wide or " and " in kinds:
        table.add_column("energy is", no_wrap=wide, overflow="fold")
    for side, found in [(first, None), *((one.candidate, one) for one in comparisons)]:
        ratios: list[Interval | None] = [None] * 4
        if found is not None:
            ratios = [found.speedup, found.greenup, found.powerup, found.edp_ratio]
        words = ["" if one is None else formatting.ratio(one) for one in ratios[: 4 if wide else 3]]
        if not wide:
            words = [text.replace(" ", "\n") for text in words]
        number = "" if found is None else str(found.category or "–")
        colour = _colour(found) if found is not None else "default"
        medians = [formatting.si(side.time_s.median, "s"), formatting.si(side.energy_j.median, "J")]
        cells = [side.label, *medians, *words, number, side.kind.value]
        table.add_row(*cells[: len(table.columns)], style=colour)
    console.print(table)
    for found in comparisons:
        console.print(Text(_sentence(found.verdict), _colour(found)), soft_wrap=not console.is_terminal)
    for line in dict.fromkeys(sensor_words(found) for found in comparisons):
        console.print(Text(line, "dim"), soft_wrap=not console.is_terminal)
    _print_notes(list(dict.fromkeys(line for found in comparisons for line in found.warnings)), console)


def render_table(named: list[tuple[str, Comparison]], console: Console) -> None:
    """Print one row per named comparison, for a study."""
    table = _table(console.is_terminal)
    table.add_column("", no_wrap=True)
    for heading in ("Speedup", "Greenup", "Powerup"):
        table.add_column(heading, no_wrap=True, justify="left")
    table.add_column("category")
    table.add_column("energy", no_wrap=True)
    for name, found in named:
        ratios = [formatting.ratio(ratio) for ratio in (found.speedup, found.greenup, found.powerup)]
        table.add_row(name, *ratios, category_words(found), found.kind.value, style=_colour(found))
    console.print(table)


def console_for_tables() -> Console:
    """A console as wide as the terminal, or of PIPED_WIDTH if there is none."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=PIPED_WIDTH)


def _details(found: Comparison, console: Console) -> Table:
    table = _table(console.is_terminal, tight=console.is_terminal and console.width < WIDTH_FOR_SHIFT)
    table.add_column("", min_width=13)
    intervals = console.width >= WIDTH_FOR_INTERVALS
    for side in (found.baseline, found.candidate):
        table.add_column(side.label, justify="right", overflow="fold", min_width=12)
        if intervals:
            table.add_column("95 %", no_wrap=True, style="dim")
    table.add_column("", no_wrap=True)
    table.add_column("ratio (95 %)", no_wrap=True)
    table.add_column("saved", no_wrap=True, justify="right")
    shift = console.width >= WIDTH_FOR_SHIFT
    if shift:
        table.add_column("shift", no_wrap=True, justify="right")
    table.add_column("p", no_wrap=True, min_width=7)
    for row in rows(found):
        table.add_row(*_cells(row, intervals=intervals, shift=shift))
    return table


def _cells(row: Row, *, intervals: bool, shift: bool) -> list[str]:
    sides = [cell for pair in zip(row.values, row.intervals, strict=True) for cell in pair[: 2 if intervals else 1]]
    return [row.name, *sides, row.ratio_name, row.ratio, row.reduction, *([row.shift] if shift else []), row.p]


def _print_notes(lines: Sequence[str], console: Console) -> None:
    from rich.text import Text

    for line in lines:
        console.print(Text.assemble(("note: ", "yellow"), line), soft_wrap=not console.is_terminal)


def _sentence(words: str) -> str:
    return words if words.endswith(".") else f"{words}."


def _colour(found: Comparison) -> str:
    return {True: "cyan", False: "red", None: "default"}[found.saves]


def _table(terminal: bool, *, tight: bool = False) -> Table:
    from rich import box
    from rich.table import Table

    return Table(
        box=box.SIMPLE_HEAD if terminal else None,
        padding=(0, 0) if tight else (0, 1),
        pad_edge=False,
        show_edge=False,
        collapse_padding=terminal,
        header_style="bold",
    )
