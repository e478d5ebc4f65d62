"""Plots of records: runs side by side, energy by domain, power over time.

GPS-UP is in `lull.report.quadrant`, weak scaling in `lull.report.scaling`.

Every plot of energy states its kind. Kinds without a meter are hatched.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lull.comparison.quantity import Quantity
from lull.record import Domain, Energy, EnergyKind, Repeat, Run, weakest
from lull.record.totals import counted
from lull.report import svg
from lull.report.quadrant import gps_up
from lull.statistics import bootstrap, formatting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["energy_by_domain", "gps_up", "power_over_time", "runs_of_each"]

HATCHES = {EnergyKind.DERIVED: "---", EnergyKind.ESTIMATED: "///", EnergyKind.SIMULATED: "xxx"}
ORDER = (Domain.PACKAGE, Domain.DRAM, Domain.NODE, Domain.GPU, Domain.WIRE, Domain.NIC)
COLOURS = dict(zip(ORDER, svg.PALETTE, strict=True))
MOST_POINTS = 400  # most points of a line over time, more than a page can show
LONGEST_NAME = 26  # most letters of a record's name on one line next to a plot
MOST_TIPS = 250  # most runs with tips; more are too dense to point at, and make the page large


def runs_of_each(named: Sequence[tuple[str, Quantity]]) -> svg.Plot:
    """Time and energy of every run as points on the violin of their density, with median and quartiles."""
    tips = svg.Tips()
    with svg.drawing():
        figure, axes = svg.panels(2, 0.9 + 0.5 * len(named))
        kinds = list(dict.fromkeys(quantity.kind.value for _, quantity in named))
        energy = f"Energy, {kinds[0]}" if len(kinds) == 1 else "Energy"
        rows = [_folded(name) for name, _ in named]
        if len(kinds) > 1:
            rows = [f"{row}\n{of.kind.value} energy" for row, (_, of) in zip(rows, named, strict=True)]
        pointed = sum(len(quantity.samples) for _, quantity in named) <= MOST_TIPS
        for panel, column, title, unit in ((axes[0], 0, "Time", "s"), (axes[1], 1, energy, "J")):
            everything = np.concatenate([np.array(quantity.rows)[:, column] for _, quantity in named])
            logarithmic = svg.wants_logarithm(everything)
            if logarithmic:
                panel.set_xscale("log")
            for row, (name, quantity) in enumerate(named):
                _violin(panel, row, np.array(quantity.rows)[:, column], logarithmic=logarithmic)
                said = [
                    f"{name}, run {sample.index + 1}: {formatting.si(value, unit)}"
                    + (f", {sample.kind.value}" if column else "")
                    for sample, value in zip(quantity.samples, np.array(quantity.rows)[:, column], strict=True)
                ]
                _points(panel, row, np.array(quantity.rows)[:, column], said, tips if pointed else None)
            panel.set_title(title)
            panel.set_ylim(len(named) - 0.4, -0.6)
            panel.set_yticks(range(len(named)), rows if column == 0 else [""] * len(rows))
            panel.tick_params(axis="y", length=0)
            panel.spines["left"].set_visible(False)
            svg.prefixed_ticks(panel.xaxis, unit, logarithmic=logarithmic)
        words = "; ".join(f"{name}: {formatting.count(len(quantity.rows), 'run')}" for name, quantity in named)
        return svg.Plot(figure, f"Time and energy of every run. {words}", tips.words)


def energy_by_domain(named: Sequence[tuple[str, Sequence[Sequence[Energy]]]]) -> svg.Plot:
    """Mean energy of each record by domain, stacked; the wire is a separate bar, never part of the stack.

    Args:
        named: For each record its name and the energies of its repeats, or of a region in each.
    """
    tips = svg.Tips()
    with svg.drawing():
        from matplotlib.patches import Patch

        bars = [(name, *_mean_parts(repeats)) for name, repeats in named]
        lines = [
            (name, *row) for name, node, wire in bars for row in ((name, node), ("" if node else name, wire)) if row[1]
        ]
        figure, (axes,) = svg.panels(1, 1.1 + 0.34 * len(lines))
        most = max(sum(parts.values()) for _, _, parts in lines)
        seen: dict[tuple[Domain, EnergyKind], Patch] = {}
        place, ticks = 0.0, []
        for record, name, parts in lines:
            place += 1.0 if name else 0.62
            ticks.append((place, name))
            reached = 0.0
            for (domain, kind), joules in parts.items():
                look: dict[str, Any] = {"facecolor": COLOURS[domain], "edgecolor": "white", "hatch": HATCHES.get(kind)}
                bar = axes.barh(place, joules, 0.62 if name else 0.34, left=reached, linewidth=0.6, **look)
                tips.add(bar.patches[0], f"{record}, {domain.value}: {formatting.si(joules, 'J')}, {kind.value}")
                seen.setdefault((domain, kind), Patch(label=f"{domain.value}, {kind.value}", **look))
                reached += joules
            kind = weakest([kind for _, kind in parts])
            only_wire = all(domain is Domain.WIRE for domain, _ in parts)
            words = f"wire {formatting.si(reached, 'J')}" if only_wire else formatting.si(reached, "J")
            axes.text(reached + most * 0.01, place, f"{words}, {kind.value}", va="center", fontsize=8.5)
        axes.set_ylim(place + 0.6, 0.4)
        axes.set_yticks([at for at, _ in ticks], [_folded(name) for _, name in ticks])
        axes.set_xlim(0, most * 1.34)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        svg.prefixed_ticks(axes.xaxis, "J", logarithmic=False)
        figure.legend(handles=list(seen.values()), loc="outside upper left", ncols=3)
        words = "; ".join(f"{name} {formatting.si(sum(node.values()), 'J')}" for name, node, _ in bars)
        return svg.Plot(figure, f"Energy of each record by domain. {words}", tips.words)


def power_over_time(run: Run, samples: pa.Table, repeat: int) -> svg.Plot | None:
    """Power of one repeat over time by domain, summed over nodes, with shaded regions; None without samples."""
    one = next((r for r in run.repeats if r.index == repeat), None)
    series = _power(run, samples, one) if one is not None else {}
    if one is None or not series:
        return None
    tips = svg.Tips()
    with svg.drawing():
        figure, (axes,) = svg.panels(1, 2.5)
        for (domain, kind), (times, watts) in series.items():
            dashes = "-" if kind in (EnergyKind.MEASURED, EnergyKind.VENDOR_MODEL) else (0, (3, 1.5))
            axes.stairs(
                watts, times, baseline=None, color=COLOURS[domain], linewidth=1.2, linestyle=dashes,
                label=f"{domain.value}, {kind.value}",
            )  # fmt: skip
        axes.set_xlim(0, one.wall_s)
        axes.set_ylim(0, max(float(watts.max()) for _, watts in series.values()) * 1.08 or 1.0)
        axes.set_ylabel("power, W")
        axes.set_xlabel("time since the repeat began, s")
        _regions(axes, one, tips)
        figure.legend(loc="outside upper left", ncols=4)
        return svg.Plot(figure, f"Power of {run.label} over time, repeat {repeat + 1}", tips.words)


def typical_repeat(run: Run) -> int | None:
    """The index of the successful repeat whose time is nearest the median; None if all failed."""
    good = run.succeeded
    if not good:
        return None
    middle = bootstrap.median([repeat.wall_s for repeat in good])
    return min(good, key=lambda repeat: abs(repeat.wall_s - middle)).index


def _folded(name: str) -> str:
    """A long name on several lines, to leave room for the plot."""
    return "\n".join(textwrap.wrap(name, LONGEST_NAME)) if len(name) > LONGEST_NAME else name


def _violin(axes: Axes, row: int, values: np.ndarray, *, logarithmic: bool) -> None:
    """Draw the density of the runs around a row, a bar over the quartiles and a line at the median."""
    of = bootstrap.spread(values)
    shape = bootstrap.density(np.log(values) if logarithmic else values)
    if shape is not None:
        at, height = shape
        height = 0.4 * height / height.max()
        at = np.exp(at) if logarithmic else at
        axes.fill_between(at, row - height, row + height, color=svg.PALETTE[0], alpha=0.16, linewidth=0)
    axes.plot([of.quartile_low, of.quartile_high], [row, row], color=svg.INK, linewidth=4, alpha=0.3, zorder=2)
    axes.plot([of.median] * 2, [row - 0.31, row + 0.31], color=svg.INK, linewidth=1.4, zorder=4)


def _points(axes: Axes, row: int, values: np.ndarray, said: list[str], tips: svg.Tips | None) -> None:
    """Draw the runs of one row as points, shifted up and down alternately; tips, if given, identify each."""
    shift = 0.16 * np.array([((i * 5) % 9 - 4) / 4 for i in range(len(values))])
    if tips is None:
        axes.scatter(values, row + shift, s=11, color=svg.PALETTE[0], alpha=0.85, linewidth=0, zorder=3)
        return
    for value, up, words in zip(values, row + shift, said, strict=True):
        look: dict[str, Any] = {"markersize": 3.6, "color": svg.PALETTE[0], "alpha": 0.85, "markeredgewidth": 0}
        (mark,) = axes.plot([value], [up], "o", zorder=3, **look)
        tips.add(mark, words)


Parts = dict[tuple[Domain, EnergyKind], float]


def _mean_parts(repeats: Sequence[Sequence[Energy]]) -> tuple[Parts, Parts]:
    """Mean joules by domain and kind: of the parts of the node totals, and of the wire."""
    node: Parts = defaultdict(float)
    wire: Parts = defaultdict(float)
    for energies in repeats:
        for part in (part for parts in counted(list(energies)).values() for part in parts):
            node[part.domain, part.kind] += part.joules / len(repeats)
        for energy in energies:
            if energy.domain is Domain.WIRE:
                wire[energy.domain, energy.kind] += energy.joules / len(repeats)
    return dict(node), dict(wire)


def _power(run: Run, samples: pa.Table, one: Repeat) -> dict[tuple[Domain, EnergyKind], tuple[np.ndarray, np.ndarray]]:
    """Edges of time, and the power between them, of the channels in the node totals of one repeat."""
    wanted = {(e.node, e.channel): e for parts in counted(one.energy).values() for e in parts}
    readings: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in samples.to_pylist():
        if row["repeat"] == one.index and (row["node"], row["channel"]) in wanted:
            readings[row["node"], row["channel"]].append((row["time_s"], row["joules"]))
    slowest = max((c.interval_s for c in run.channels if (c.node, c.name) in wanted), default=0.0)
    steps = int(min(one.wall_s / max(1 / run.sampling_hz, slowest), MOST_POINTS))
    if steps < 2:
        return {}
    edges = np.linspace(0, one.wall_s, steps + 1)
    joules: dict[tuple[Domain, EnergyKind], np.ndarray] = {}
    for name, points in readings.items():
        if len(points) < 2:
            continue
        times, reached = np.array(sorted(points)).T
        of = (wanted[name].domain, wanted[name].kind)
        joules[of] = joules.get(of, np.zeros(steps)) + np.diff(np.interp(edges, times, reached))
    return {of: (edges, each / np.diff(edges)) for of, each in joules.items()}


def _regions(axes: Axes, one: Repeat, tips: svg.Tips) -> None:
    """Shade every second region, and write the names of those that are wide enough above the lines."""
    top = axes.get_ylim()[1]
    axes.set_ylim(0, top * 1.12)
    for place, region in enumerate(sorted(one.regions, key=lambda region: region.begin_s)):
        shade = 0.10 if place % 2 == 0 else 0.04
        span = axes.axvspan(region.begin_s, region.end_s, color=svg.INK, alpha=shade, linewidth=0)
        times = f"{formatting.si_range(region.begin_s, region.end_s, 's')} after the beginning"
        visits = f", in {region.count} visits" if region.count > 1 else ""
        tips.add(span, f"region {region.name}: {formatting.si(region.wall_s, 's')}{visits}, {times}")
        if (region.end_s - region.begin_s) / one.wall_s > 0.011 * (len(region.name) + 1):
            axes.text(
                (region.begin_s + region.end_s) / 2, top * 1.06, region.name, ha="center", va="center", fontsize=8.5
            )
