"""Plots of a trace: who sends to whom, time by activity of each process and over the run, and message sizes.

Colours distinguish the states; waits are hatched, too.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lull.base.whole_file import write_whole
from lull.report import svg
from lull.report.tabled_plot import TabledPlot
from lull.statistics import formatting
from lull.trace.account import STATES, Analysis, TraceAccount
from lull.trace.describe import shown_states, size_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS: dict[str, dict[str, Any]] = {
    "compute": {"facecolor": "#d9d9d9"},
    "late sender": {"facecolor": "#d55e00", "hatch": "////"},
    "late receiver": {"facecolor": "#e69f00", "hatch": "\\\\\\\\"},
    "imbalance": {"facecolor": "#cc79a7", "hatch": "...."},
    "polling": {"facecolor": "#f0e442", "hatch": "xxxx"},
    "transfer": {"facecolor": "#0072b2"},
    "files": {"facecolor": "#009e73"},
    "setup": {"facecolor": "#56b4e9"},
}
MOST_ROWS = 64  # most processes that have one bar each
MOST_CELLS = 512  # processes on a side of the matrix; with more, neighbours share a cell
NAMED = 24  # most processes with a label
PNG_DPI = 200


def plots_of(found: Analysis, name: str = "") -> list[TabledPlot]:
    """All plots of a trace, each with its table; titles begin with `name`."""
    account = found.account
    before = f"{name}: " if name else ""
    made = [_of_processes(account, before), _over_time(found, before)]
    if account.pairs:
        made.append(_matrix(account, before))
    if account.sizes:
        made.append(_sizes(account, before))
    return made


def write_plots(found: Analysis, folder: Path, form: str) -> list[Path]:
    """Write the plots of a trace to files; return their paths.

    Raises:
        LullError: The folder cannot be written.
    """
    made = []
    for one in plots_of(found):
        made.append(folder / f"{one.name}.{form}")
        write_whole(made[-1], _content(one, form), "plot", "--plots", sync=False)
    return made


def _titled(before: str, words: str) -> str:
    """A title, after the name of the record if there are several."""
    return before + words if before else words[0].upper() + words[1:]


def _content(one: TabledPlot, form: str) -> bytes:
    if form == "pdf":
        return one.plot.pdf()
    if form == "svg":
        return one.plot.svg(one.name).encode()
    out = io.BytesIO()
    with svg.drawing():
        one.plot.figure.savefig(out, format="png", dpi=PNG_DPI, facecolor="white")
    return out.getvalue()


def _legend(figure: Any, states: list[str]) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(label=state, edgecolor="white", linewidth=0, **LOOKS[state]) for state in states]
    figure.legend(handles=handles, loc="outside upper left", ncols=5 if len(states) <= 5 else 4)


def _of_processes(account: TraceAccount, before: str) -> TabledPlot:
    """A bar for each process, or for equal groups of processes, with the shares of its time."""
    states = shown_states(account)
    seconds = np.array([[one.time.seconds(state) for state in states] for one in account.processes])
    size = -(-len(seconds) // MOST_ROWS)
    groups = [np.arange(first, min(first + size, len(seconds))) for first in range(0, len(seconds), size)]
    rows = np.array([seconds[group].sum(axis=0) for group in groups])
    shares = 100 * rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-12)
    names = [_name_of(account, group) for group in groups]
    with svg.drawing():
        height = 0.9 + min(0.22 * len(rows), 7.5)
        figure, (axes,) = svg.panels(1, height)
        left = np.zeros(len(rows))
        thick = 0.8 if len(rows) <= NAMED else 1.0
        for place, state in enumerate(states):
            axes.barh(
                np.arange(len(rows)), shares[:, place], thick, left=left, edgecolor="white",
                linewidth=0.4 if len(rows) <= NAMED else 0, **LOOKS[state],
            )  # fmt: skip
            left += shares[:, place]
        _name_rows(axes, names)
        axes.set_xlim(0, 100)
        axes.set_xlabel("share of its time, %")
        _legend(figure, states)
        words = ", ".join(f"{state} {formatting.percent(account.time.seconds(state) / account.time.total)}"
                          for state in states) if account.time.total > 0 else "no time"  # fmt: skip
        plot = svg.Plot(figure, _titled(before, f"time of each process by activity. All: {words}"))
    table = [[name, *(f"{share:.1f} %" for share in row)] for name, row in zip(names, shares, strict=True)]
    return TabledPlot("trace-processes", _titled(before, "time of each process by activity"), plot,
                      ["process", *states], table, (0,))  # fmt: skip


def _name_of(account: TraceAccount, group: NDArray[np.int64]) -> str:
    first = account.processes[int(group[0])].name
    return first if len(group) == 1 else f"{first} … {account.processes[int(group[-1])].name}"


def _name_rows(axes: Axes, names: list[str]) -> None:
    axes.set_ylim(len(names) - 0.4, -0.6)
    step = -(-len(names) // NAMED)
    axes.set_yticks(range(0, len(names), step), names[::step])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _over_time(found: Analysis, before: str) -> TabledPlot:
    """Activities of the processes, bytes sent, and power over the run."""
    account = found.account
    states = shown_states(account)
    places = [STATES.index(state) for state in states]
    of_all = found.states.sum(axis=0)[:, places]
    shares = 100 * of_all / np.maximum(of_all.sum(axis=1, keepdims=True), 1e-12)
    edges = np.arange(len(shares) + 1) * found.bin_s
    rate = (found.message_bytes + found.collective_bytes) / found.bin_s
    watts = {name: values for name, values in found.watts.items() if np.isfinite(values).any()}
    heights = [2.0, 1.0, *([1.0] if watts else [])]
    with svg.drawing():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(svg.WIDTH_IN, 0.7 + 1.15 * sum(heights)), layout="constrained")
        panels = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        reached = np.zeros(len(shares))
        for place, state in enumerate(states):
            panels[0].stairs(
                reached + shares[:, place], edges, baseline=reached, fill=True, edgecolor="white", linewidth=0,
                **LOOKS[state],
            )  # fmt: skip
            reached += shares[:, place]
        panels[0].set_ylim(0, 100)
        panels[0].set_ylabel("share of processes, %")
        factor, unit = formatting.scale(float(rate.max()) or 1.0, "B/s")
        panels[1].stairs(rate / factor, edges, fill=True, color=svg.PALETTE[0], alpha=0.85)
        panels[1].set_ylabel(f"sent, {unit}")
        panels[1].set_ylim(bottom=0)
        if watts:
            _power(panels[2], watts, edges)
        panels[-1].set_xlim(0, edges[-1])
        svg.prefixed_ticks(panels[-1].xaxis, "s", logarithmic=False)
        panels[-1].set_xlabel("time since the begin")
        figure.align_ylabels(panels)
        _legend(figure, states)
        plot = svg.Plot(figure, _titled(before, "activities of the processes and bytes sent over the run"))
    few = np.array_split(np.arange(len(shares)), 12)
    table = [
        [
            f"{formatting.si(edges[part[0]], 's')} to {formatting.si(edges[part[-1] + 1], 's')}",
            *(f"{share:.1f} %" for share in _mean_shares(of_all[part])),
            formatting.si(float(rate[part].mean()), "B/s"),
        ]
        for part in few
        if len(part)
    ]
    return TabledPlot("trace-time", _titled(before, "activities of the processes over the run"), plot,
                      ["time", *states, "sent"], table, (0,))  # fmt: skip


def _mean_shares(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    summed = seconds.sum(axis=0)
    return np.asarray(100 * summed / max(float(summed.sum()), 1e-12))


def _power(axes: Axes, watts: dict[str, NDArray[np.float64]], edges: NDArray[Any]) -> None:
    middles = (edges[:-1] + edges[1:]) / 2
    for place, (name, values) in enumerate(list(watts.items())[: len(svg.PALETTE)]):
        there = np.isfinite(values)
        label = name.removeprefix("power of ")
        axes.plot(
            middles[there], values[there], color=svg.PALETTE[place], linewidth=1.2, drawstyle="steps-pre", label=label
        )
    axes.set_ylabel("power, W")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 0.97), fontsize=7.5, ncols=2, borderaxespad=0.2)


def _matrix(account: TraceAccount, before: str) -> TabledPlot:
    """Bytes from each process to each, by colour; on a logarithmic scale if a linear one would hide some."""
    count = len(account.processes)
    side = min(count, MOST_CELLS)
    cells = np.zeros((side, side))
    for pair in account.pairs:
        cells[pair.source * side // count, pair.target * side // count] += pair.bytes + pair.one_sided_bytes
    with svg.drawing():
        from matplotlib.colors import LogNorm, Normalize
        from matplotlib.figure import Figure

        figure = Figure(figsize=(svg.WIDTH_IN * 0.8, svg.WIDTH_IN * 0.68), layout="constrained")
        axes = figure.subplots()
        positive = cells[cells > 0]
        low, high = (float(positive.min()), float(positive.max())) if len(positive) else (1.0, 1.0)
        logarithmic = svg.wants_logarithm(positive)
        edges = np.linspace(-0.5, count - 0.5, side + 1)
        mesh = axes.pcolormesh(
            edges, edges, np.ma.masked_equal(cells, 0), cmap="viridis_r",
            norm=LogNorm(low, high) if logarithmic else Normalize(0, high), rasterized=side > MOST_ROWS, linewidth=0,
        )  # fmt: skip
        axes.set_aspect("equal")
        axes.invert_yaxis()
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xlabel("to")
        axes.set_ylabel("from")
        if count <= NAMED:
            names = [process.name for process in account.processes]
            axes.set_xticks(range(count), names, rotation=90 if count > 6 else 0)
            axes.set_yticks(range(count), names)
        for spine in axes.spines.values():
            spine.set_visible(True)
        axes.tick_params(length=0)
        bar = figure.colorbar(mesh, ax=axes, shrink=0.85)
        svg.prefixed_ticks(bar.ax.yaxis, "B", logarithmic=logarithmic)
        bar.ax.minorticks_off()
        if bar.solids is not None:
            bar.solids.set(rasterized=False, edgecolor="face")  # otherwise it becomes a separate image
        bar.outline.set_linewidth(0.7)
        most = max(account.pairs, key=lambda pair: pair.bytes + pair.one_sided_bytes)
        words = f"{account.processes[most.source].name} to {account.processes[most.target].name}"
        plot = svg.Plot(figure, _titled(before, f"bytes from each process to each; most {words}"))
    order = sorted(account.pairs, key=lambda pair: -(pair.bytes + pair.one_sided_bytes))[:100]
    table = [
        [
            account.processes[pair.source].name, account.processes[pair.target].name,
            f"{pair.messages + pair.one_sided:,}", formatting.si(pair.bytes + pair.one_sided_bytes, "B"),
        ]
        for pair in order
    ]  # fmt: skip
    aside = "" if len(order) == len(account.pairs) else f", the first {len(order)} of {len(account.pairs)} pairs"
    headings = ["from", "to", "messages", "bytes"]
    return TabledPlot("trace-matrix", _titled(before, "who sends to whom"), plot, headings, table, (0, 1), aside)


def _sizes(account: TraceAccount, before: str) -> TabledPlot:
    """The number of messages of each size, and their bytes."""
    with svg.drawing():
        figure, panels = svg.panels(2, 2.4)
        places = [one.to_bytes.bit_length() for one in account.sizes]
        for axes, values, unit, title in (
            (panels[0], [one.messages for one in account.sizes], "", "Messages"),
            (panels[1], [one.bytes for one in account.sizes], "B", "Bytes"),
        ):
            axes.bar(places, values, 0.86, color=svg.PALETTE[0])
            axes.set_xlim(min(places) - 2.5, max(places) + 2.5)
            axes.set_title(title)
            axes.set_xlabel("size of message")
            ticks = np.unique(np.linspace(min(places), max(places), min(5, max(places) - min(places) + 1)).round())
            axes.set_xticks(ticks, [_size_tick(int(tick)) for tick in ticks])
            if unit:
                svg.prefixed_ticks(axes.yaxis, unit, logarithmic=False)
            else:
                axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        plot = svg.Plot(figure, _titled(before, "sizes of messages, point to point"))
    table = [
        [size_words(one.from_bytes, one.to_bytes), f"{one.messages:,}", formatting.si(one.bytes, "B")]
        for one in account.sizes
    ]
    return TabledPlot(
        "trace-sizes", _titled(before, "sizes of messages"), plot, ["size", "messages", "bytes"], table, (0,)
    )


def _size_tick(place: int) -> str:
    """The least size of a class: 0, 1, 2, 4, … 1 KiB."""
    low = 1 << place >> 1
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if low >= 1 << power:
            return f"{low >> power} {unit}"
    return f"{low} B"
