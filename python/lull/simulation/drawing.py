"""Draw a network: levels for a tree, groups on a circle for a dragonfly, a grid for a torus or HyperX.

Lines are cables; parallel ones are drawn as one thicker line. Switches with nodes are filled. A cable that would run
through a third switch is drawn as an arc.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lull import _core
from lull.base.errors import UsageError
from lull.base.native import native_errors
from lull.report import svg
from lull.statistics import formatting

MOST_SWITCHES = 200
Places = NDArray[np.float64]  # x and y of every switch


def draw_network(choice: _core.NetworkChoice, path: Path) -> None:
    """Draw the network into the SVG file `path`.

    Raises:
        UsageError: The network has too many switches for a drawing, or its parameters contradict each other.
        LullError: The file cannot be written.
    """
    from lull.simulation.plots import write_files

    with native_errors():
        cables = _core.topology_links(choice.name, choice.parameters)
    nodes_at = Counter(int(switch) for switch in cables.attach_switch)
    switches = 1 + int(max([*cables.from_switch, *cables.to_switch, *cables.attach_switch]))
    if switches > MOST_SWITCHES:
        asked = f"draw the {choice.name}"
        raise UsageError(asked, f"it has {switches:,} switches", f"draw one of at most {MOST_SWITCHES}, with --set")
    joined = Counter(
        (min(a, b), max(a, b))
        for a, b in zip(cables.from_switch.tolist(), cables.to_switch.tolist(), strict=True)
    )  # fmt: skip
    places = _places(choice, switches, nodes_at, joined)
    text = _drawn(choice, places, nodes_at, joined, len(cables.attach_switch))
    write_files(path.parent, {path.name: text})


def _places(
    choice: _core.NetworkChoice, switches: int, nodes_at: Counter[int], joined: Counter[tuple[int, int]]
) -> Places:
    if "groups" in choice.parameters:
        return _on_circles(switches, _group_size(choice))
    if "dimensions" in choice.parameters:
        return _on_grid(choice.parameters["dimensions"], switches)
    return _in_levels(switches, nodes_at, joined)


def _group_size(choice: _core.NetworkChoice) -> int:
    """The number of switches in a group of a dragonfly, whose switches are numbered group by group."""
    of = choice.parameters
    return of["routers"][0] if "routers" in of else of["rows"][0] * of["columns"][0]


def _in_levels(switches: int, nodes_at: Counter[int], joined: Counter[tuple[int, int]]) -> Places:
    """Positions by distance from the nodes, with a row for each level."""
    level = {switch: 0 for switch in nodes_at}
    beside: dict[int, list[int]] = {switch: [] for switch in range(switches)}
    for a, b in joined:
        beside[a].append(b)
        beside[b].append(a)
    front = list(level)
    while front:
        following = []
        for switch in front:
            for other in beside[switch]:
                if other not in level:
                    level[other] = level[switch] + 1
                    following.append(other)
        front = following
    places = np.zeros((switches, 2))
    rows = max(level.values()) + 1
    widest = max(Counter(level.values()).values())
    for row in range(rows):
        here = sorted(switch for switch, at in level.items() if at == row)
        for place, switch in enumerate(here):
            places[switch] = ((place + 0.5) / len(here) * widest, row * max(widest * 0.22, 1.2))
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


def _drawn(
    choice: _core.NetworkChoice,
    places: Places,
    nodes_at: Counter[int],
    joined: Counter[tuple[int, int]],
    nodes: int,
) -> str:
    with svg.drawing():
        from matplotlib.collections import LineCollection
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path as Curve

        size = np.ptp(places, axis=0) + 1.0
        figure, (axes,) = svg.panels(1, float(np.clip(svg.WIDTH_IN * size[1] / size[0], 1.6, svg.WIDTH_IN)))
        spacing = _spacing(places)
        straight, bent, widths, bent_widths = [], [], [], []
        for (a, b), number in joined.items():
            if _passes_another(places, a, b, spacing):
                bent.append(_arc(places[a], places[b]))
                bent_widths.append(0.5 + 0.35 * (number - 1))
            else:
                straight.append([places[a], places[b]])
                widths.append(0.5 + 0.35 * (number - 1))
        faint = 0.75 if len(joined) < 150 else 0.4
        axes.add_collection(LineCollection(straight, colors=svg.INK, linewidths=widths, alpha=faint, zorder=1))
        for points, width in zip(bent, bent_widths, strict=True):
            curve = Curve(points, [Curve.MOVETO, Curve.CURVE3, Curve.CURVE3])
            axes.add_patch(PathPatch(curve, fill=False, edgecolor=svg.INK, linewidth=width, alpha=faint, zorder=1))
        with_nodes = [switch for switch in range(len(places)) if nodes_at[switch]]
        without = [switch for switch in range(len(places)) if not nodes_at[switch]]
        dot = float(np.clip(9000 / len(places) / max(size), 9, 70))
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
        margin = 0.06 * max(size) + 0.3
        axes.set_xlim(places[:, 0].min() - margin, places[:, 0].max() + margin)
        axes.set_ylim(places[:, 1].min() - margin, places[:, 1].max() + margin)
        axes.set_aspect("equal" if {"groups", "dimensions"} & choice.parameters.keys() else "auto")
        axes.axis("off")
        per_switch = sorted(set(nodes_at.values()))
        each = formatting.count(per_switch[0], "node")
        hanging = f"{each} at each filled switch" if len(per_switch) == 1 else "nodes at filled switches"
        name = choice.preset or choice.name
        words = f"{name}: {nodes:,} nodes, {len(places)} switches, {sum(joined.values()):,} cables between them"
        axes.set_title(f"{words}; {hanging}", fontweight="normal", fontsize=8)
        return svg.text_of(figure, "network", words)


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
