"""Plots of simulations: latencies, link use, and time in each power state.

Colours are those of Lull's other plots. Whatever a colour distinguishes, a marker, line style or label does, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lull.base.whole_file import write_whole
from lull.report import svg
from lull.simulation import tolerance_plot
from lull.simulation.account import LatencyAccount, RepeatAccount, SimulationFile
from lull.simulation.latency import percentile
from lull.simulation.result import STATES
from lull.statistics import formatting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Named = Sequence[tuple[str, SimulationFile]]

STATE_LOOKS: dict[str, dict[str, Any]] = {
    "active": {"facecolor": svg.PALETTE[5]},
    "slow rate": {"facecolor": svg.PALETTE[1], "hatch": "///"},
    "fast wake": {"facecolor": svg.PALETTE[4], "hatch": "..."},
    "deep sleep": {"facecolor": svg.PALETTE[0]},
}
LINES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (9, 2)))
KIND_WORDS = {"injection": "from nodes", "ejection": "to nodes", "network": "between switches"}


def write_plots(folder: Path, named: Named, form: str = "svg") -> list[Path]:
    """Write every plot of these simulations into `folder`, in the format `form`: svg or pdf.

    Raises:
        LullError: The folder cannot be written.
    """
    made = {
        "latency": latency_distribution(named),
        "link-use": link_use(named),
        "states": time_in_states(named),
        "tolerance": tolerance_plot.slowdowns(named),
    }
    there = {name: plot for name, plot in made.items() if plot is not None}
    if form == "pdf":
        return _write(folder, {f"{name}.pdf": plot.pdf() for name, plot in there.items()})
    return write_files(folder, {f"{name}.svg": plot.svg(name) for name, plot in there.items()})


def write_files(folder: Path, texts: dict[str, str]) -> list[Path]:
    """Write standalone SVG files, black on white.

    Raises:
        LullError: The folder cannot be written.
    """
    return _write(folder, {name: alone(text).encode() for name, text in texts.items()})


def _write(folder: Path, contents: dict[str, bytes]) -> list[Path]:
    for name, content in contents.items():
        write_whole(folder / name, content, "plot", "--plots", sync=False)
    return [folder / name for name in contents]


def alone(text: str) -> str:
    """An SVG made for a page, as a standalone file on white, because a dark viewer would hide it."""
    return text.replace("<svg ", '<svg style="background:#fff;color:#000" ', 1)


def latency_distribution(named: Named) -> svg.Plot | None:
    """The share of packets that exceed each latency, on logarithmic axes, which show the tail.

    None if nothing was delivered.
    """
    lines = [(name, latency) for name, file in named if (latency := _merged(file.repeats)) is not None]
    if not lines:
        return None
    with svg.drawing():
        figure, (axes,) = svg.panels(1, 3.0)
        for place, (name, latency) in enumerate(lines):
            edges = np.array([upper for _, upper, _ in latency.bins])
            counts = np.array([count for _, _, count in latency.bins], dtype=np.float64)
            longer = 1 - np.cumsum(counts) / counts.sum()
            axes.plot(
                np.concatenate([[latency.bins[0][0]], edges]), np.concatenate([[1.0], longer]),
                color=_colour(place), linestyle=_line(place), linewidth=1.5, label=name,
            )  # fmt: skip
        fewest = min(1 / latency.count for _, latency in lines)
        axes.set_yscale("log")
        axes.set_ylim(max(fewest, 1e-6) / 2, 1.5)
        _log_time_axis(axes)
        axes.set_xlabel("packet latency, creation of the message to delivery")
        axes.set_ylabel("share of packets slower")
        axes.grid(alpha=0.25, linewidth=0.5)
        if len(lines) > 1:
            figure.legend(loc="outside upper left", ncols=3)
        words = "; ".join(
            f"{n}: median {formatting.si(v.median_s, 's')}, 99 % {formatting.si(v.p99_s, 's')}" for n, v in lines
        )
        return svg.Plot(figure, f"Distribution of packet latency. {words}")


def link_use(named: Named) -> svg.Plot:
    """The distribution of the share of time in which links transmit, with a panel for each kind of link."""
    kinds = [kind for kind in KIND_WORDS if all(kind in repeat.link_use for _, f in named for repeat in f.repeats)]
    with svg.drawing():
        figure, panels = svg.panels(len(kinds), 2.5)
        for axes, kind in zip(panels, kinds, strict=True):
            for place, (name, file) in enumerate(named):
                counts = np.sum([repeat.link_use[kind].histogram for repeat in file.repeats], axis=0)
                edges = np.linspace(0, 100, len(counts) + 1)
                axes.stairs(
                    100 * counts / counts.sum(), edges, color=_colour(place), linestyle=_line(place), linewidth=1.4,
                    fill=len(named) == 1, alpha=0.75 if len(named) == 1 else 1, label=name,
                )  # fmt: skip
            axes.set_title(f"links {KIND_WORDS[kind]}")
            axes.set_xlim(0, _most_used(named, kind))
            axes.set_ylim(bottom=0)
            axes.set_xlabel("time transmitting, %")
        panels[0].set_ylabel("links, %")
        if len(named) > 1:
            handles, labels = panels[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside upper left", ncols=3)
        words = "; ".join(
            f"{name}: "
            + ", ".join(f"{KIND_WORDS[k]} {formatting.percent(f.repeats[0].link_use[k].mean)}" for k in kinds)
            for name, f in named
        )
        return svg.Plot(figure, f"Use of links. Means: {words}")


def time_in_states(named: Named) -> svg.Plot:
    """Share of time that links spend in each power state, stacked, with the power saved at the end of the bar."""
    order = ("deep sleep", "fast wake", "slow rate", "active")
    means = [
        (name, {state: float(np.mean([r.power.states[state] for r in file.repeats])) for state in STATES},
         float(np.mean([r.power.saved for r in file.repeats])))
        for name, file in named
    ]  # fmt: skip
    shown = [state for state in order if any(states[state] > 0 for _, states, _ in means)]
    with svg.drawing():
        from matplotlib.patches import Patch

        figure, (axes,) = svg.panels(1, 1.15 + 0.34 * len(named))
        for row, (_, states, saved) in enumerate(means):
            reached = 0.0
            for state in shown:
                axes.barh(
                    row, 100 * states[state], 0.62, left=reached, edgecolor="white", linewidth=0.6, **STATE_LOOKS[state]
                )
                reached += 100 * states[state]
            axes.text(101.5, row, f"saves {formatting.percent(saved)}", va="center", fontsize=8.5)
        axes.set_yticks(range(len(means)), [name for name, _, _ in means])
        axes.set_ylim(len(means) - 0.4, -0.6)
        axes.set_xlim(0, 122)
        axes.set_xticks(range(0, 101, 20))
        axes.set_xlabel("share of time of all links, %")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        figure.legend(
            handles=[Patch(label=state, edgecolor="white", **STATE_LOOKS[state]) for state in shown],
            loc="outside upper left", ncols=4,
        )  # fmt: skip
        words = "; ".join(f"{name} saves {formatting.percent(saved)}" for name, _, saved in means)
        return svg.Plot(figure, f"Time of links in each power state, simulated. {words}")


def _merged(repeats: Sequence[RepeatAccount]) -> LatencyAccount | None:
    """The merged packet latencies of all repeats."""
    found = [repeat.packet_latency for repeat in repeats if repeat.packet_latency is not None]
    if len(found) < 2:
        return found[0] if found else None
    bins: dict[tuple[float, float], int] = {}
    for latency in found:
        for low, high, count in latency.bins:
            bins[low, high] = bins.get((low, high), 0) + count
    ordered = sorted((low, high, count) for (low, high), count in bins.items())
    edges = np.array([ordered[0][0], *(high for _, high, _ in ordered)])
    counts = np.array([count for _, _, count in ordered])
    least, most = min(one.least_s for one in found), max(one.most_s for one in found)
    total = int(counts.sum())
    return LatencyAccount(
        count=total,
        mean_s=sum(one.mean_s * one.count for one in found) / total,
        mean_low_s=None,
        mean_high_s=None,
        median_s=percentile(edges, counts, 0.5, least, most),
        p99_s=percentile(edges, counts, 0.99, least, most),
        least_s=least,
        most_s=most,
        bins=ordered,
    )


def _most_used(named: Named, kind: str) -> float:
    """The upper edge of the bin after the last that contains a link, in percent."""
    last = max(int(np.flatnonzero(repeat.link_use[kind].histogram)[-1]) for _, file in named for repeat in file.repeats)
    bins = len(named[0][1].repeats[0].link_use[kind].histogram)
    return min(100.0, 100 * (last + 2) / bins)


def _colour(place: int) -> str:
    return svg.PALETTE[place % len(svg.PALETTE)]


def _line(place: int) -> Any:
    return LINES[place % len(LINES)]


def _log_time_axis(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    def prefixed(value: float) -> str:
        factor, unit = formatting.scale(value, "s")
        return f"{value / factor:.9g} {unit}"

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    subs = (1.0,) if high / low > 50 else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(LogLocator(10, subs=subs, numticks=9))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: prefixed(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
