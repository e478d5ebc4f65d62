"""Drawings and tables of a grid of simulations, for each topology: power saved and slowdown against the number of
processes, or their distributions for each power setting, or one against the other (trade_off.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from lull.report import svg
from lull.report.tabled_plot import TabledPlot
from lull.statistics import bootstrap
from lull.study.file import Value
from lull.study.simulations.description import Figure
from lull.study.simulations.grids import ACTIVE
from lull.study.simulations.rows import Row
from lull.study.simulations.settings import mappings_of, rows_at, setting_of, settings_of, short, values_of
from lull.study.simulations.trade_off import LINEAR_PERCENT, trade_offs
from lull.study.simulations.verdicts import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUANTITIES = (("saved", "power saved, %"), ("slowdown", "slowdown, %"))
COLOURS = {"deep-sleep": svg.PALETTE[0], "fast-wake": svg.PALETTE[1], "hybrid": svg.PALETTE[2]}
MARKERS = ("o", "s", "^", "D", "v", "P")  # by hold


def drawings(figures: Sequence[Figure], rows: Sequence[Row]) -> list[TabledPlot]:
    """All figures of a study whose rows exist."""
    made = {"by-processes": _by_processes, "distribution": _distributions, "trade-off": trade_offs}
    found: list[TabledPlot] = []
    for figure in figures:
        chosen = [
            row for row in rows if row.grid == figure.grid and row.is_at(figure.only) and row.factors["mode"] != ACTIVE
        ]
        for topology in dict.fromkeys(str(row.factors["topology"]) for row in chosen):
            there = [row for row in chosen if row.factors["topology"] == topology]
            found += made[figure.kind](f"{figure.name}, {topology}", there, len(found) + 1)
    return found


def _panels(rows: Sequence[Row], draw: Callable[[Axes, str, str], None]) -> Any:
    """A row of panels for each quantity, with a panel for each mapping and a common scale."""
    mappings = mappings_of(rows)
    figure, axes = svg.panels(len(QUANTITIES) * len(mappings), 3.0)
    for place, panel in enumerate(axes):
        (name, label), mapping = QUANTITIES[place // len(mappings)], mappings[place % len(mappings)]
        draw(panel, name, mapping)
        panel.set_title(mapping)
        panel.grid(alpha=0.25, linewidth=0.5)
        if name == "slowdown":
            panel.set_yscale("symlog", linthresh=LINEAR_PERCENT)
            panel.set_ylim(bottom=min([0.0, *values_of(rows, name)]))
            panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        if place % len(mappings) == 0:
            panel.set_ylabel(label)
    for first in range(0, len(axes), len(mappings)):
        alike = axes[first : first + len(mappings)]
        ends = [panel.get_ylim() for panel in alike]
        for panel in alike:
            panel.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
            if panel is not alike[0]:
                panel.set_yticklabels([])
    return figure, axes


def _by_processes(title: str, rows: list[Row], number: int) -> list[TabledPlot]:
    """One drawing for each application: a line for each power setting over the number of processes."""
    found = []
    for place, application in enumerate(dict.fromkeys(str(row.factors["application"]) for row in rows)):
        own = [row for row in rows if row.factors["application"] == application]
        found.append(_of_application(f"{title}: {application}", own, f"figure-{number + place}"))
    return found


def _of_application(title: str, rows: list[Row], name: str) -> TabledPlot:
    settings = settings_of(rows)
    sizes = sorted({int(row.factors["processes"]) for row in rows})

    def draw(panel: Axes, quantity: str, mapping: str) -> None:
        for setting in settings:
            points = [
                (int(row.factors["processes"]), value)
                for row in rows_at(rows, mapping, setting)
                for value in values_of([row], quantity)
            ]
            if points:
                panel.plot(*zip(*sorted(points), strict=True), label=short(setting), **_look(setting, settings))
        panel.set_xscale("log", base=2)
        panel.set_xticks(sizes, [str(size) for size in sizes], rotation=45)
        panel.minorticks_off()
        panel.set_xlabel("processes")

    with svg.drawing():
        figure, axes = _panels(rows, draw)
        svg.legend_below(figure, axes[0])
        cells = [_row_of_table(rows, mapping, setting, sizes) for mapping in mappings_of(rows) for setting in settings]
        words = "; ".join(f"{row[0]}, {row[1]}: {', '.join(row[2:])}" for row in cells)
        plot = svg.Plot(figure, f"{title}. Power saved and slowdown by processes. {words}")
    headings = ["mapping", "power", *(f"saved, {size}" for size in sizes), *(f"slowdown, {size}" for size in sizes)]
    return TabledPlot(name, title, plot, headings, cells, texts=(0, 1))


def _row_of_table(rows: Sequence[Row], mapping: str, setting: str, sizes: Sequence[int]) -> list[str]:
    of_size = {int(row.factors["processes"]): row for row in rows_at(rows, mapping, setting)}
    cells = [mapping, setting]
    for quantity, _ in QUANTITIES:
        for size in sizes:
            value = of_size[size].quantity(quantity) if size in of_size else None
            cells.append("–" if value is None else shown(value))
    return cells


def _look(setting: str, settings: Sequence[str]) -> dict[str, Any]:
    """Colour by mode, marker by the position of the hold among those of the mode."""
    modes = list(dict.fromkeys(one.partition(",")[0] for one in settings))
    mode = setting.partition(",")[0]
    place = [one for one in settings if one.partition(",")[0] == mode].index(setting)
    others = [one for one in modes if one not in COLOURS]
    rest = svg.PALETTE[len(COLOURS) :]
    colour = COLOURS[mode] if mode in COLOURS else rest[others.index(mode) % len(rest)]
    return {"color": colour, "marker": MARKERS[place % len(MARKERS)], "linewidth": 1.1, "markersize": 4}


def _distributions(title: str, rows: list[Row], number: int) -> list[TabledPlot]:
    """Violins for each power setting: of power saved over workloads, of slowdown over jobs."""
    rows, settings = _with_all_settings(rows), settings_of(rows)

    def draw(panel: Axes, quantity: str, mapping: str) -> None:
        for place, setting in enumerate(settings):
            values = values_of(rows_at(rows, mapping, setting), quantity)
            if not values:
                continue
            colour = _look(setting, settings)["color"]
            _violin(panel, place, values, quantity, colour)
            panel.plot([place, place], [min(values), max(values)], color=colour, linewidth=0.8)
            panel.plot([place], [median(values)], color=colour, marker="_", markersize=9, markeredgewidth=2)
            text = shown(median(values) / 100).removesuffix(" %")
            # Upright, because violins are narrower than the text of their medians.
            look: dict[str, Any] = {"ha": "center", "va": "bottom", "rotation": 90, "fontsize": 6}
            panel.annotate(text, (place, median(values)), (0, 3), textcoords="offset points", **look)
        panel.set_xticks(range(len(settings)), [short(setting) for setting in settings], rotation=90)

    with svg.drawing():
        figure, _ = _panels(rows, draw)
        cells = [
            [mapping, setting, *(_spread(values_of(rows_at(rows, mapping, setting), name)) for name, _ in QUANTITIES)]
            for mapping in mappings_of(rows)
            for setting in settings
        ]
        words = "; ".join(f"{row[0]}, {row[1]}: saved {row[2]}, slowdown {row[3]}" for row in cells)
        plot = svg.Plot(figure, f"{title}. Medians, least and most: {words}")
    headings = ["mapping", "power", "saved", "slowdown"]
    return [
        TabledPlot(f"figure-{number}", title, plot, headings, cells, texts=(0, 1), aside=": median (least to most)")
    ]


def _with_all_settings(rows: list[Row]) -> list[Row]:
    """Rows of workloads that have all settings with their mapping, so that all settings have the same jobs; all rows if
    there is no such workload."""
    found: dict[tuple[Value, Value], set[str]] = defaultdict(set)
    for row in rows:
        found[row.factors["workload"], row.factors["mapping"]].add(setting_of(row))
    all_of_them = set(settings_of(rows))
    whole = [row for row in rows if found[row.factors["workload"], row.factors["mapping"]] == all_of_them]
    return whole or rows


def _violin(panel: Axes, place: int, values: Sequence[float], quantity: str, colour: str) -> None:
    """Draw the density on the scale of the axis, not on that of the values."""
    from matplotlib.scale import SymmetricalLogTransform
    from matplotlib.transforms import IdentityTransform

    scale = SymmetricalLogTransform(10, LINEAR_PERCENT, 1) if quantity == "slowdown" else IdentityTransform()
    shape = bootstrap.density(scale.transform(np.array(values)))
    if shape is None:
        return
    at, height = shape
    wide = 0.42 * height / height.max()
    panel.fill_betweenx(
        scale.inverted().transform(at), place - wide, place + wide, color=colour, alpha=0.45, linewidth=0
    )


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "–"
    middle, least, most = (shown(value / 100) for value in (median(values), min(values), max(values)))
    return f"{middle} ({least} to {most})"
