"""A plot of what programs bear: how much slower they are with longer messages, and with less bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lull.report import svg
from lull.simulation.account import SimulationFile
from lull.simulation.tolerance import BYTE, MESSAGE, Tolerance
from lull.statistics import formatting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P")


def slowdowns(named: Sequence[tuple[str, SimulationFile]]) -> svg.Plot | None:
    """Slowdown over the added latency of each message and over the bandwidth of nodes, on logarithmic axes.

    None if no program has a tolerance.
    """
    found = [
        (name if len(file.repeats[0].jobs) == 1 else f"{name}: {job.name}", job.tolerance)
        for name, file in named
        for job in file.repeats[0].jobs
        if job.tolerance is not None
    ]
    if not found:
        return None
    with svg.drawing():
        from matplotlib.ticker import LogLocator, NullLocator

        figure, (latency, bandwidth) = svg.panels(2, 2.8)
        for place, (name, one) in enumerate(found):
            _line(latency, place, name, one, [(delay, time) for delay, time in one.of(MESSAGE).run_times])
            _line(bandwidth, place, name, one, [(100 * share, time) for share, time in _by_bandwidth(one)])
        for axes in (latency, bandwidth):
            axes.axhline(100 * found[0][1].slowdown, color=svg.INK, linewidth=0.8, linestyle=(0, (1, 2)))
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_locator(NullLocator())
            axes.grid(alpha=0.25, linewidth=0.5)
        if latency.lines[:-1]:
            latency.set_xscale("log")
            svg.prefixed_ticks(latency.xaxis, "s", logarithmic=True)
        latency.set_xlabel("longer latency of each message")
        bandwidth.set_xlabel("bandwidth of nodes, % of the present one")
        bandwidth.set_xlim(0, 100)
        latency.set_ylabel("slower, %")
        if len(found) > 1:
            figure.legend(*latency.get_legend_handles_labels(), loc="outside upper left", ncols=3)
        words = "; ".join(f"{name}: {_in_words(one)}" for name, one in found)
        return svg.Plot(figure, f"Slowdown by the critical path. {words}")


def _line(axes: Axes, place: int, name: str, one: Tolerance, points: Sequence[tuple[float, float]]) -> None:
    slower = [(x, 100 * (time / one.run_time_s - 1)) for x, time in points]
    shown = [(x, y) for x, y in slower if y > 0]
    if shown:
        colour = svg.PALETTE[place % len(svg.PALETTE)]
        axes.plot(
            *zip(*shown, strict=True), color=colour, marker=MARKERS[place % len(MARKERS)], markersize=4, label=name
        )


def _by_bandwidth(one: Tolerance) -> list[tuple[float, float]]:
    """Pairs of bandwidth, as a share of the present one, and run time."""
    delay = one.of(BYTE)
    if one.bandwidth is None or delay.most_s is None or one.bandwidth >= 1:
        return []
    present_s = delay.most_s * one.bandwidth / (1 - one.bandwidth)  # of a byte
    return [(present_s / (present_s + more), time) for more, time in delay.run_times]


def _in_words(one: Tolerance) -> str:
    most = one.of(MESSAGE).most_s
    longer = "any latency" if most is None else f"{formatting.si(most, 's')} more for each message"
    enough = "any bandwidth" if one.bandwidth is None else f"{formatting.percent(one.bandwidth)} of the bandwidth"
    return f"{formatting.percent(one.slowdown)} slower with {longer}, or with {enough}"
