"""Draw a network: levels for a tree, groups on a circle for a dragonfly, a grid for a torus or HyperX.

Dots are switches or, of a large network, groups of them (contraction.py) with their number. Lines are cables; parallel
ones are drawn as one thicker line. Switches with nodes are filled. A cable that would run through a third switch is
drawn as an arc.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lull import _core
from lull.base.errors import UsageError
from lull.base.native import native_errors
from lull.report import svg
from lull.simulation.topology.contraction import Graph, graph_of, levels_of
from lull.statistics import formatting

MOST_DOTS = 200
MOST_NUMBERED = 100
Places = NDArray[np.float64]  # x and y of every dot


def draw_network(choice: _core.NetworkChoice, path: Path) -> None:
    """Draw the network into the SVG file `path`.

    Raises:
        UsageError: The network has too many groups of switches for a drawing, or its parameters contradict each other.
        LullError: The file cannot be written.
    """
    from lull.simulation.plots import write_files

    with native_errors():
        cables = _core.topology_links(choice.name, choice.parameters)
    nodes_at = Counter(int(switch) for switch in cables.attach_switch)
    switches = 1 + int(max([*cables.from_switch, *cables.to_switch, *cables.attach_switch]))
    joined = Counter(
        (min(a, b), max(a, b))
        for a, b in zip(cables.from_switch.tolist(), cables.to_switch.tolist(), strict=True)
    )  # fmt: skip
    graph = graph_of(choice, switches, nodes_at, joined, MOST_DOTS)
    if len(graph.switches) > MOST_DOTS:
        found = f"it has {switches:,} switches in {len(graph.switches):,} groups"
        raise UsageError(f"draw the {choice.name}", found, f"draw one of at most {MOST_DOTS} groups, with --set")
    words = _in_words(choice, graph, len(cables.attach_switch), sum(joined.values()))
    write_files(path.parent, {path.name: _drawn(choice, graph, words)})


def _in_words(choice: _core.NetworkChoice, graph: Graph, nodes: int, cables: int) -> str:
    switches = sum(graph.switches)
    size = f"{choice.preset or choice.name}: {nodes:,} nodes, {switches:,} switches, {cables:,} cables between them"
    if graph.contracted:
        sizes = sorted(set(graph.switches))
        between = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
        return f"{size}; a dot is {between} switches, a filled one has nodes"
    per_switch = sorted(set(graph.nodes_at.values()))
    each = formatting.count(per_switch[0], "node")
    return f"{size}; {f'{each} at each filled switch' if len(per_switch) == 1 else 'nodes at filled switches'}"


def _places(graph: Graph, choice: _core.NetworkChoice) -> Places:
    if "groups" in choice.parameters:
        return _on_circles(len(graph.switches), graph.group)
    if graph.dimensions:
        return _on_grid(list(graph.dimensions), len(graph.switches))
    return _in_levels(levels_of(len(graph.switches), graph.nodes_at, graph.joined))


def _in_levels(levels: Sequence[int]) -> Places:
    """A row for each level."""
    places = np.zeros((len(levels), 2))
    widest = max(Counter(levels).values())
    for row in range(max(levels) + 1):
        here = [dot for dot, level in enumerate(levels) if level == row]
        for place, dot in enumerate(here):
            places[dot] = ((place + 0.5) / len(here) * widest, row * max(widest * 0.22, 1.2))
    return places


def _on_circles(switches: int, group: int) -> Places:
    """Positions of groups on a large circle, and of the switches of each on a small one."""
    groups = math.ceil(switches / group)
    small = 1.0 if group > 1 else 0.0
    large = max(1.35 * small / math.sin(math.pi / groups), 1.2) if groups > 1 else 0.0
    places = np.zeros((switches, 2))
    for switch in range(switches):
        which, place = divmod(switch, group)
        at = math.pi / 2 - 2 * math.pi * which / groups
        inner = at + 2 * math.pi * place / group
        places[switch] = (
            large * math.cos(at) + small * math.cos(inner),
            large * math.sin(at) + small * math.sin(inner),
        )
    return places


def _on_grid(dimensions: list[int], switches: int) -> Places:
    """The first two dimensions as a grid, the third as a small shift, and more as grids of grids."""
    steps = [np.array([1.0, 0.0]), np.array([0.0, -1.0])]
    extent = np.array([dimensions[0], dimensions[1] if len(dimensions) > 1 else 1], dtype=np.float64)
    for place, _ in enumerate(dimensions[2:]):
        along = place % 2
        if place == 0:
            steps.append(np.array([0.28, 0.34]) if dimensions[2] <= 3 else np.array([0.85, 1.0]) / dimensions[2])
        else:
            steps.append(np.array([(extent[0] + 1.5) * (1 - along), -(extent[1] + 1.5) * along]))
    places = np.zeros((switches, 2))
    for switch in range(switches):
        rest = switch
        for size, step in zip(dimensions, steps, strict=False):
            places[switch] += (rest % size) * step
            rest //= size
    return places


def _drawn(choice: _core.NetworkChoice, graph: Graph, words: str) -> str:
    places = _places(graph, choice)
    with svg.drawing():
        from matplotlib.collections import LineCollection
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path as Curve

        size = np.ptp(places, axis=0) + 1.0
        figure, (axes,) = svg.panels(1, float(np.clip(svg.WIDTH_IN * size[1] / size[0], 1.6, svg.WIDTH_IN)))
        spacing = _spacing(places)
        straight, bent, widths, bent_widths = [], [], [], []
        for (a, b), number in graph.joined.items():
            width = _width(number, graph.contracted)
            if _passes_another(places, a, b, spacing):
                bent.append(_arc(places[a], places[b]))
                bent_widths.append(width)
            else:
                straight.append([places[a], places[b]])
                widths.append(width)
        faint = 0.75 if len(graph.joined) < 150 else 0.4
        axes.add_collection(LineCollection(straight, colors=svg.INK, linewidths=widths, alpha=faint, zorder=1))
        for points, width in zip(bent, bent_widths, strict=True):
            curve = Curve(points, [Curve.MOVETO, Curve.CURVE3, Curve.CURVE3])
            axes.add_patch(PathPatch(curve, fill=False, edgecolor=svg.INK, linewidth=width, alpha=faint, zorder=1))
        with_nodes = [dot for dot in range(len(places)) if graph.nodes_at[dot]]
        without = [dot for dot in range(len(places)) if not graph.nodes_at[dot]]
        numbered = graph.contracted and len(places) <= MOST_NUMBERED
        smallest, largest = (60, 160) if numbered else (9, 70)
        dot = float(np.clip(9000 / len(places) / max(size), smallest, largest))
        axes.scatter(places[with_nodes, 0], places[with_nodes, 1], s=dot, color=svg.PALETTE[0], zorder=3, linewidth=0)
        axes.scatter(
            places[without, 0],
            places[without, 1],
            s=dot,
            facecolor="white",
            edgecolor=svg.PALETTE[0],
            zorder=3,
            linewidth=1.2,
        )
        if numbered:
            for at, number in enumerate(graph.switches):
                ink = "white" if graph.nodes_at[at] else svg.INK
                axes.annotate(f"{number}", places[at], ha="center", va="center", fontsize=5, color=ink, zorder=4)
        margin = 0.06 * max(size) + 0.3
        axes.set_xlim(places[:, 0].min() - margin, places[:, 0].max() + margin)
        axes.set_ylim(places[:, 1].min() - margin, places[:, 1].max() + margin)
        axes.set_aspect("equal" if {"groups", "dimensions"} & choice.parameters.keys() else "auto")
        axes.axis("off")
        axes.set_title(words, fontweight="normal", fontsize=8)
        return svg.text_of(figure, "network", words)


def _width(cables: int, between_groups: bool) -> float:
    """Of a line, in points: between groups by octaves."""
    return 0.5 + (0.3 * math.log2(cables) if between_groups else 0.35 * (cables - 1))


def _spacing(places: Places) -> float:
    """The smallest distance between two switches."""
    if len(places) < 2:
        return 1.0
    apart = np.linalg.norm(places[:, None, :] - places[None, :, :], axis=2)
    return float(apart[np.triu_indices(len(places), 1)].min())


def _passes_another(places: Places, a: int, b: int, spacing: float) -> bool:
    """Whether the straight line between two switches would run through a third."""
    along = places[b] - places[a]
    length = float(np.linalg.norm(along))
    if length <= 1.5 * spacing:
        return False
    offset = places - places[a]
    across = np.abs(offset[:, 0] * along[1] - offset[:, 1] * along[0]) / length
    share = (offset @ along) / length**2
    return bool(np.any((across < 0.15 * spacing) & (share > 0.01) & (share < 0.99)))


def _arc(start: NDArray[np.float64], end: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """A curve next to the straight line: start, control point, end."""
    along = end - start
    return [start, (start + end) / 2 + 0.22 * np.array([-along[1], along[0]]), end]
