"""Power saved and slowdown of a sweep's points against the hold, with a line for each power mode.

There is one plot for each combination of the other values of the matrix, e.g. for each topology.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lull import _core
from lull.report import svg
from lull.simulation.latency import PICOSECONDS
from lull.simulation.sweep import Sweep, in_words
from lull.simulation.sweep_table import MeanOverSeeds, SweepRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOLD, MODE = "power.hold", "power.mode"
LOOKS: tuple[dict[str, Any], ...] = (  # styles of lines, in the simulator's order of power modes
    {"color": svg.INK, "marker": "D", "linestyle": "none"},  # active: a point, because it has no hold
    {"color": svg.PALETTE[0], "marker": "o", "linestyle": "-"},
    {"color": svg.PALETTE[1], "marker": "s", "linestyle": (0, (5, 2))},
    {"color": svg.PALETTE[2], "marker": "^", "linestyle": (0, (1.5, 1.5))},
    {"color": svg.PALETTE[3], "marker": "v", "linestyle": (0, (6, 1.5, 1.5, 1.5))},
    {"color": svg.PALETTE[4], "marker": "P", "linestyle": (0, (3, 1))},
)
PANELS = (("power_saved_percent", "power saved, %"), ("slowdown_percent", "slowdown, %"))

Line = list[tuple[float, SweepRow]]  # hold in µs


def against_hold(sweep: Sweep, rows: Sequence[SweepRow]) -> dict[str, str]:
    """SVG texts by file name; empty if the matrix does not vary the hold."""
    if HOLD not in sweep.factors:
        return {}
    holds = {point.name: point.description.hold_ps / PICOSECONDS * 1e6 for point in sweep.points}
    modes = {point.name: point.description.mode for point in sweep.points}
    plots: dict[str, dict[str, Line]] = {}
    for row in rows:
        if modes[row.point] == "active":
            continue  # the baseline has no hold
        rest = {key: value for key, value in row.factors.items() if key not in (HOLD, MODE)}
        title = ", ".join(f"{key} {in_words(value)}" for key, value in rest.items())
        plots.setdefault(title, {}).setdefault(modes[row.point], []).append((holds[row.point], row))
    return {
        f"hold{'-' if title else ''}{re.sub(r'[^A-Za-z0-9]+', '-', title).strip('-')}.svg": _plot(title, lines, place)
        for place, (title, lines) in enumerate(plots.items())
    }


def _plot(title: str, lines: dict[str, Line], place: int) -> str:
    with svg.drawing():
        figure, panels = svg.panels(2, 2.8)
        for axes, (name, label) in zip(panels, PANELS, strict=True):
            for mode, points in lines.items():
                _line(axes, mode, sorted(points, key=lambda one: one[0]), name)
            axes.set_xlabel("hold, µs")
            axes.set_ylabel(label)
            axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
            axes.grid(alpha=0.25, linewidth=0.5)
        if title:
            figure.suptitle(title, fontsize=9, x=0.01, ha="left")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)
        words = f"Power saved and slowdown against the hold, simulated{': ' if title else ''}{title}"
        return svg.text_of(figure, f"hold-{place}", words)


def _line(axes: Axes, mode: str, points: Line, name: str) -> None:
    shown: list[tuple[float, MeanOverSeeds]] = [
        (hold, f) for hold, row in points if (f := row.figures[name]) is not None
    ]
    if not shown:
        return
    look = LOOKS[_core.power_modes().index(mode) % len(LOOKS)]
    axes.errorbar(
        [hold for hold, _ in shown],
        [figure.value for _, figure in shown],
        yerr=[figure.half or 0.0 for _, figure in shown] if any(f.half for _, f in shown) else None,
        label=mode, linewidth=1.4, markersize=4.5, capsize=2, **look,
    )  # fmt: skip
