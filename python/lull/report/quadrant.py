"""The GPS-UP plot: every comparison as a point in the plane of Speedup and Powerup, on logarithmic axes.

Below the diagonal P = S, energy is saved (G > 1); above it, energy is wasted. The plane has the numbers of the eight
categories.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lull.comparison.result import Comparison
from lull.comparison.words import category_words
from lull.report import svg
from lull.statistics import formatting
from lull.statistics.bootstrap import Interval
from lull.statistics.gpsup import DELTA

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

LEAST_SPAN = 1.25  # the axes extend at least by this factor to both sides of 1
CELLS = 48  # cells per side of the grid on which positions for the category numbers are searched
DISTANCES = (11, 15, 20, 27, 36, 50, 70, 95, 130, 170)  # possible distances of a name from its point, in pixels
ANGLES = (0, 180, 90, 270, 30, 330, 150, 210, 60, 300, 120, 240)
FAR = 22.0  # pixels beyond which a line leads from the name to the point
MOST_NAMES = 10  # more points than this get letters, and their names are listed next to the plane
LEGEND_ROWS = 26
Range = tuple[float, float]


def gps_up(named: Sequence[tuple[str, Comparison]]) -> svg.Plot:
    """The GPS-UP plot of named comparisons."""
    tips = svg.Tips()
    with svg.drawing():
        figure, (axes,) = svg.panels(1, 4.9)
        across = _range([found.speedup for _, found in named])
        up = _range([found.powerup for _, found in named])
        _plane(axes, across, up)
        labels = [f"{name} ({found.category or '–'})" for name, found in named]
        if len(named) > MOST_NAMES:
            letters = [_letters(place) for place in range(len(named))]
            _legend(figure, letters, labels)
            labels = letters
        for name, found in named:
            tips.add(_point(axes, found), _tip(name, found))
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # positions in pixels are final from here on
        boxes = _obstacles(axes, [found for _, found in named])
        _numbers(axes, across, up, boxes)
        _names(figure, axes, [found for _, found in named], labels, boxes)
        words = "; ".join(f"{name}: {found.verdict}" for name, found in named)
        return svg.Plot(figure, f"Speedup and Powerup of each comparison. {words}", tips.words)


def _tip(name: str, found: Comparison) -> str:
    ratios = (("Speedup", found.speedup), ("Greenup", found.greenup), ("Powerup", found.powerup))
    words = ", ".join(f"{what} {formatting.ratio(ratio)}" for what, ratio in ratios)
    return f"{name}: {words}. {category_words(found)}. Energy {found.kind.value}."


def _range(ratios: Sequence[Interval]) -> Range:
    """Limits of an axis, which include all intervals and 1, with room for names."""
    ends = [end for r in ratios for end in (r.value, r.low or r.value, r.high or r.value)]
    low, high = min([1 / LEAST_SPAN, *ends]), max([LEAST_SPAN, *ends])
    room = (high / low) ** 0.14
    return low / room, high * room


def _plane(axes: Axes, across: Range, up: Range) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*across)
    axes.set_ylim(*up)
    x = np.geomspace(*across, 60)
    axes.fill_between(x, x, up[0], color=svg.SAVES, alpha=0.10, linewidth=0, zorder=0)
    axes.fill_between(x, x, up[1], color=svg.WASTES, alpha=0.10, linewidth=0, zorder=0)
    for line in (axes.axhline, axes.axvline):
        line(1, color=svg.INK, linewidth=0.7, alpha=0.6, zorder=1)
    axes.plot(across, across, color=svg.INK, linewidth=0.9, linestyle=(0, (5, 3)), alpha=0.7, zorder=1)
    axes.set_xlabel("Speedup  (right: faster than the baseline)")
    axes.set_ylabel("Powerup  (up: draws more power)")
    _ticks(axes, across, up)
    edge: dict[str, Any] = {"fontsize": 8.5, "fontweight": "bold", "transform": axes.transAxes}
    axes.text(0.99, 0.015, "uses less energy", ha="right", va="bottom", color=svg.SAVES, **edge)
    axes.text(0.01, 0.985, "uses more energy", ha="left", va="top", color=svg.WASTES, **edge)


def _ticks(axes: Axes, across: Range, up: Range) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    for axis, (low, high) in ((axes.xaxis, across), (axes.yaxis, up)):
        wide = high / low > 8
        axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)) if wide else MaxNLocator(7, steps=[1, 2, 5, 10]))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _point(axes: Axes, found: Comparison) -> Artist:
    """Draw one comparison with its intervals; return its marker."""
    marker, colour = _look(found)
    errors = [
        None if ratio.low is None or ratio.high is None else [[ratio.value - ratio.low], [ratio.high - ratio.value]]
        for ratio in (found.speedup, found.powerup)
    ]
    drawn = axes.errorbar(
        found.speedup.value,
        found.powerup.value,
        xerr=errors[0],
        yerr=errors[1],
        fmt=marker,
        markersize=7,
        color=colour,
        markeredgecolor="white",
        markeredgewidth=0.8,
        elinewidth=1.2,
        capsize=2.5,
        zorder=4,
    )
    return drawn.lines[0]


def _look(found: Comparison) -> tuple[str, str]:
    """Marker and colour; saving, wasting and undecided never differ by colour alone."""
    if found.saves is None:
        return "D", svg.NEITHER
    return ("o", svg.SAVES) if found.saves else ("s", svg.WASTES)


def _obstacles(axes: Axes, comparisons: Sequence[Comparison]) -> list[Bbox]:
    """The boxes of markers, interval bars and the words in the corners, in pixels."""
    from matplotlib.transforms import Bbox

    boxes = [text.get_window_extent() for text in axes.texts]
    for found in comparisons:
        centre = axes.transData.transform((found.speedup.value, found.powerup.value))
        boxes.append(Bbox.from_extents(*(centre - 6), *(centre + 6)))
        for low, high, vertical in (
            (found.speedup.low, found.speedup.high, False),
            (found.powerup.low, found.powerup.high, True),
        ):
            if low is None or high is None:
                continue
            ends = [(found.speedup.value, end) if vertical else (end, found.powerup.value) for end in (low, high)]
            first, last = axes.transData.transform(ends)
            boxes.append(Bbox.from_extents(*(first - 2), *(last + 2)))
    return boxes


def _numbers(axes: Axes, across: Range, up: Range, boxes: list[Bbox]) -> None:
    """Write each category's number where its part of the plane has the most room, if any."""
    centres = (np.arange(CELLS) + 0.5) / CELLS
    x = across[0] * (across[1] / across[0]) ** centres
    y = up[0] * (up[1] / up[0]) ** centres
    speedup, powerup = np.meshgrid(x, y)
    fast, saves, more = speedup > 1, powerup < speedup, powerup > 1
    parts = {1: fast & ~more, 3: fast & more & saves, 4: ~fast & saves, 5: fast & ~saves}
    parts |= {6: ~fast & ~saves & ~more, 8: ~fast & more}
    pixels = axes.transData.transform(np.column_stack([speedup.ravel(), powerup.ravel()]))
    taken = np.zeros(len(pixels), dtype=bool)
    for box in boxes:
        near = box.padded(9)
        taken |= (
            (pixels[:, 0] > near.x0) & (pixels[:, 0] < near.x1) & (pixels[:, 1] > near.y0) & (pixels[:, 1] < near.y1)
        )
    for number, part in parts.items():
        place = _roomiest(part, part & ~taken.reshape(part.shape))
        if place is not None:
            _number(axes, number, float(x[place[1]]), float(y[place[0]]), boxes)
    for number, end in ((2, across[1]), (7, across[0])):
        if abs(math.log(end)) > 3 * DELTA:
            _number(axes, number, end**0.93, 1.0, boxes)


def _roomiest(part: np.ndarray, free: np.ndarray) -> tuple[int, int] | None:
    """The free cell of `part` farthest from its border; None if the part is too narrow."""
    from scipy.ndimage import distance_transform_edt

    if part.mean() < 0.015 or not free.any():
        return None
    distance = distance_transform_edt(np.pad(free, 1))[1:-1, 1:-1]
    row, column = np.unravel_index(int(np.argmax(distance)), distance.shape)
    return (int(row), int(column)) if distance[row, column] >= 2 else None


def _number(axes: Axes, number: int, x: float, y: float, boxes: list[Bbox]) -> None:
    colour = svg.SAVES if number <= 4 else svg.WASTES
    text = axes.text(
        x, y, str(number), ha="center", va="center", fontsize=12, color=colour, alpha=0.75, fontweight="bold", zorder=2
    )
    boxes.append(text.get_window_extent())


def _letters(place: int) -> str:
    """a to z, then aa, ab ...: letters that replace names if there are too many for the plane."""
    before = _letters(place // 26 - 1) if place >= 26 else ""
    return before + chr(ord("a") + place % 26)


def _legend(figure: Figure, letters: Sequence[str], labels: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(alpha=0, label=f"{letter}  {label}") for letter, label in zip(letters, labels, strict=True)]
    columns = math.ceil(len(handles) / LEGEND_ROWS)
    figure.set_figwidth(svg.WIDTH_IN + 1.2 * columns)
    figure.legend(handles=handles, handlelength=0, handletextpad=0, loc="outside right upper", ncols=columns)


def _names(
    figure: Figure, axes: Axes, comparisons: Sequence[Comparison], labels: Sequence[str], boxes: list[Bbox]
) -> None:
    """Write each point's label as near to it as possible without overlap; a thin line leads to a distant label."""
    scale = 72 / figure.dpi
    for words, found in zip(labels, comparisons, strict=True):
        point = (found.speedup.value, found.powerup.value)
        label = axes.annotate(
            words, point, xytext=(0, 0), textcoords="offset points", fontsize=8.5, va="center", zorder=5
        )
        box = _room(axes, label.get_window_extent(), axes.transData.transform(point), boxes)
        boxes.append(box)
        x, y = axes.transData.transform(point)
        left, up = box.x0 - x, (box.y0 + box.y1) / 2 - y
        label.set_position((left * scale, up * scale))
        nearest = (min(max(0.0, left), left + box.width), up)
        if math.hypot(*nearest) > FAR:
            axes.annotate(
                "",
                point,
                xytext=(nearest[0] * scale, nearest[1] * scale),
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": svg.INK, "alpha": 0.5},
            )


def _room(axes: Axes, size: Bbox, centre: np.ndarray, boxes: list[Bbox]) -> Bbox:
    """The nearest position for a label around `centre`, within the axes and outside `boxes`; otherwise next to it."""
    from matplotlib.transforms import Bbox

    def at(distance: float, degrees: int) -> Bbox:
        across, up = (distance * turn(math.radians(degrees)) for turn in (math.cos, math.sin))
        left = -size.width / 2 if degrees in (90, 270) else across - (size.width if across < 0 else 0)
        return Bbox.from_bounds(centre[0] + left, centre[1] + up - size.height / 2, size.width, size.height)

    inside = axes.get_window_extent()
    # First near the point and clear of the borders, then across a border, and only then farther away.
    for taken, distances in (([*boxes, *_lines(axes)], DISTANCES[:3]), (boxes, DISTANCES)):
        for distance in distances:
            for degrees in ANGLES:
                box = at(distance, degrees)
                within = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
                if within and not any(box.overlaps(other) for other in taken):
                    return box
    return at(DISTANCES[0], 0)


def _lines(axes: Axes) -> list[Bbox]:
    """The borders between the categories, as small boxes."""
    from matplotlib.transforms import Bbox

    x, y = (np.geomspace(*limits, 120) for limits in (axes.get_xlim(), axes.get_ylim()))
    ones = np.ones(120)
    points = [np.column_stack(pair) for pair in ((x, x), (x, ones), (ones, y))]
    return [
        Bbox.from_extents(*(place - 1.5), *(place + 1.5)) for place in axes.transData.transform(np.concatenate(points))
    ]
