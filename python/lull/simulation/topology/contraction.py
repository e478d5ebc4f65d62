"""A network with too many switches for a drawing, contracted: groups of switches, and the cables between groups.

A group of a dragonfly, a line or plane of a torus or HyperX, and the switches of a level of a tree that are connected
below the top (a pod) become one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lull import _core


@dataclass(frozen=True)
class Graph:
    """Dots of a drawing, numbered from 0, and the cables between them."""

    switches: tuple[int, ...]  # of each dot
    nodes_at: Counter[int]  # nodes, by dot
    joined: Counter[tuple[int, int]]  # cables, by pair of dots
    dimensions: tuple[int, ...] = ()  # of a grid of dots
    group: int = 1  # dots in a group of a dragonfly

    @property
    def contracted(self) -> bool:
        """Whether some dot is several switches."""
        return any(number > 1 for number in self.switches)


def levels_of(switches: int, nodes_at: Counter[int], joined: Counter[tuple[int, int]]) -> list[int]:
    """The distance of each switch from the nearest one with nodes."""
    beside = _neighbours(switches, joined)
    level = dict.fromkeys(nodes_at, 0)
    front = list(level)
    while front:
        following = []
        for switch in front:
            for other in beside[switch]:
                if other not in level:
                    level[other] = level[switch] + 1
                    following.append(other)
        front = following
    return [level[switch] for switch in range(switches)]


def graph_of(
    choice: _core.NetworkChoice,
    switches: int,
    nodes_at: Counter[int],
    joined: Counter[tuple[int, int]],
    most: int,
) -> Graph:
    """The network with at most `most` dots if that can be: one for each switch, or for each group."""
    dimensions = tuple(choice.parameters.get("dimensions", ()))
    group = _group_size(choice) if "groups" in choice.parameters else 1
    if switches <= most:
        return Graph((1,) * switches, nodes_at, joined, dimensions, group)
    if group > 1:
        return _joined([switch // group for switch in range(switches)], nodes_at, joined)
    if dimensions:
        line = 1
        while switches // line > most and dimensions:
            line *= dimensions[0]
            dimensions = dimensions[1:]
        return _joined([switch // line for switch in range(switches)], nodes_at, joined, dimensions)
    levels = levels_of(switches, nodes_at, joined)
    pods = _pods(levels, joined)
    return _joined(pods if max(pods) < most else levels, nodes_at, joined)


def _group_size(choice: _core.NetworkChoice) -> int:
    """The number of switches in a group of a dragonfly, whose switches are numbered group by group."""
    of = choice.parameters
    return of["routers"][0] if "routers" in of else of["rows"][0] * of["columns"][0]


def _pods(levels: Sequence[int], joined: Counter[tuple[int, int]]) -> list[int]:
    """A number for each level of each part of a tree that is connected without the top level."""
    top = max(levels)
    below = Counter({pair: number for pair, number in joined.items() if top not in {levels[end] for end in pair}})
    beside = _neighbours(len(levels), below)
    part: dict[int, int] = {}
    for first, level in enumerate(levels):
        if level == top or first in part:
            continue
        reached = [first]
        part[first] = first
        while reached:
            for other in beside[reached.pop()]:
                if other not in part:
                    part[other] = first
                    reached.append(other)
    named = [(level, part.get(switch, 0)) for switch, level in enumerate(levels)]
    numbers = {name: number for number, name in enumerate(sorted(set(named)))}
    return [numbers[name] for name in named]


def _joined(
    dot_of: Sequence[int], nodes_at: Counter[int], joined: Counter[tuple[int, int]], dimensions: tuple[int, ...] = ()
) -> Graph:
    nodes: Counter[int] = Counter()
    for switch, number in nodes_at.items():
        nodes[dot_of[switch]] += number
    cables: Counter[tuple[int, int]] = Counter()
    for (a, b), number in joined.items():
        one, other = sorted((dot_of[a], dot_of[b]))
        if one != other:
            cables[one, other] += number
    sizes = Counter(dot_of)
    return Graph(tuple(sizes[dot] for dot in range(max(dot_of) + 1)), nodes, cables, dimensions)


def _neighbours(switches: int, joined: Counter[tuple[int, int]]) -> list[list[int]]:
    beside: list[list[int]] = [[] for _ in range(switches)]
    for a, b in joined:
        beside[a].append(b)
        beside[b].append(a)
    return beside
