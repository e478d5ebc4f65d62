"""Power against slowdown: for each application a line through all settings of links; the best are below and left. The
power is that still drawn, on a logarithmic scale, on which every halving has the same length.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lull.report import svg
from lull.report.tabled_plot import TabledPlot
from lull.study.simulations.rows import Row
from lull.study.simulations.settings import mappings_of, rows_at, setting_of, settings_of
from lull.study.simulations.verdicts import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#000000", *svg.PALETTE)  # by setting
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # by application
LINEAR_PERCENT = 1.0  # slowdown below which the axis is linear
TICKS = (5, 10, 20, 40, 80)  # power drawn, in percent


def trade_offs(title: str, rows: list[Row], number: int) -> list[TabledPlot]:
    """One drawing for each number of processes, with a panel for each mapping."""
    found = []
    for place, size in enumerate(sorted({int(row.factors["processes"]) for row in rows})):
        own = [row for row in rows if row.factors["processes"] == size and row.slowdown is not None]
        if own:
            found.append(_of_size(f"{title}: {size:,} processes", own, f"figure-{number + place}"))
    return found


def _of_size(title: str, rows: list[Row], name: str) -> TabledPlot:
    settings, mappings = settings_of(rows), mappings_of(rows)
    applications = list(dict.fromkeys(str(row.factors["application"]) for row in rows))
    tips = svg.Tips()
    with svg.drawing():
        figure, axes = svg.panels(len(mappings), 4.0)
        for panel, mapping in zip(axes, mappings, strict=True):
            of_mapping = [row for row in rows if row.factors["mapping"] == mapping]
            _draw(panel, of_mapping, settings, applications, tips)
            panel.set_title(mapping)
        axes[0].set_ylabel("power still drawn, %")
        _share_scale(axes)
        _name(figure, settings, applications)
        places = itertools.product(applications, mappings)
        cells = [_row_of_table(rows, application, mapping, settings) for application, mapping in places]
        words = "; ".join(f"{row[0]}, {row[1]}: {', '.join(row[2:])}" for row in cells)
        plot = svg.Plot(figure, f"{title}. Power saved and slowdown ({', '.join(settings)}): {words}", tips.words)
    headings = ["application", "mapping", *settings]
    return TabledPlot(name, title, plot, headings, cells, texts=(0, 1), aside=": power saved; slowdown")


def _draw(panel: Axes, rows: list[Row], settings: Sequence[str], applications: Sequence[str], tips: svg.Tips) -> None:
    for marker, application in zip(itertools.cycle(MARKERS), applications, strict=False):
        own = {setting_of(row): _place(row) for row in rows if row.factors["application"] == application}
        panel.plot(*zip(*sorted(own.values()), strict=True), color="0.6", linewidth=0.6, zorder=1)
        for colour, setting in zip(itertools.cycle(COLOURS), settings, strict=False):
            if setting not in own:
                continue
            slower, drawn = own[setting]
            (mark,) = panel.plot([slower], [drawn], color=colour, marker=marker, markersize=5, linestyle="none")
            tips.add(mark, f"{application}, {setting}: draws {drawn:.3g} %, slower by {slower:.3g} %")
    panel.set_xscale("symlog", linthresh=LINEAR_PERCENT)
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.set_xlabel("slowdown, %")
    panel.margins(0.08)
    panel.grid(alpha=0.25, linewidth=0.5)


def _place(row: Row) -> tuple[float, float]:
    return 100 * _slowdown(row), 100 * (1 - row.saved)


def _slowdown(row: Row) -> float:
    assert row.slowdown is not None, "trade_offs leaves out those without one"
    return row.slowdown


def _share_scale(axes: Sequence[Axes]) -> None:
    for panel in axes:
        panel.set_yscale("log")
    low, high = (choose(panel.get_ylim()[end] for panel in axes) for end, choose in ((0, min), (1, max)))
    left, right = (choose(panel.get_xlim()[end] for panel in axes) for end, choose in ((0, min), (1, max)))
    ticks = [tick for tick in TICKS if low <= tick <= high]
    for panel in axes:
        panel.set_xlim(left, right)
        panel.set_ylim(low, high)
        panel.set_yticks(ticks, [f"{tick}" for tick in ticks] if panel is axes[0] else [""] * len(ticks))
        panel.minorticks_off()


def _name(figure: Figure, settings: Sequence[str], applications: Sequence[str]) -> None:
    """Draw the legends below the panels: colours at the left, markers at the right."""
    from matplotlib.lines import Line2D

    colours = itertools.islice(itertools.cycle(COLOURS), len(settings))
    lines = [Line2D([], [], color=colour, linewidth=4) for colour in colours]
    figure.legend(lines, settings, loc="outside lower left", ncols=1)
    markers = itertools.islice(itertools.cycle(MARKERS), len(applications))
    marks = [Line2D([], [], color="0.4", marker=marker, linestyle="none") for marker in markers]
    figure.legend(marks, applications, loc="outside lower right", ncols=2)


def _row_of_table(rows: Sequence[Row], application: str, mapping: str, settings: Sequence[str]) -> list[str]:
    cells = [application, mapping]
    for setting in settings:
        there = [row for row in rows_at(rows, mapping, setting) if row.factors["application"] == application]
        cells.append("; ".join(shown(value) for row in there for value in (row.saved, _slowdown(row))) or "–")
    return cells
