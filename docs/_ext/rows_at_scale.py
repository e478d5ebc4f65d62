"""Numbers of the page on aggregation at scale: simulated points, constants of the machine, the study that measures."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

import rows_aggregation
from rows_numbers import number, span
from rows_runs import RESULTS

from lull.model.machine import known_machines

MACHINE = "slingshot-4608"
ASLEEP = "deep-sleep, hold 2 Ts"
INTERFACES = 4  # of a node of Frontier


@cache
def _points() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((RESULTS / "aggregation-at-scale.json").read_text())["points"]
    return found


def _time(application: str, way: str, nodes: int, links: str = "active") -> float:
    return float(_points()[f"{application}, {way}, {nodes}, {links}"]["run_time_s"])


def _speedups(application: str, ways: str, least: int, most: int) -> Iterator[float]:
    for point in _points().values():
        here = point["application"] == application and least <= point["nodes"] <= most and point["links"] == "active"
        if here and point["way"] in ways.split(", "):
            yield _time(application, "direct", point["nodes"]) / point["run_time_s"]


def speedups(application: str, least: int, most: int, digits: int = 0, ways: str = "one hop, two hops") -> str:
    """How many times as fast it is aggregated on so many nodes, with links always active."""
    return span(_speedups(application, ways, least, most), digits)


def times_asleep(application: str, way: str, nodes: int = 4608, digits: int = 1) -> str:
    """How many times as long it takes if links sleep."""
    return number(_time(application, way, nodes, ASLEEP) / _time(application, way, nodes), digits)


def _joules(point: dict[str, Any], *names: str) -> float:
    return float(sum(point["joules"][name]["joules"] for name in names))


@cache
def _ratios() -> tuple[float, ...]:
    """Energy of the network over that of nodes, with links always active."""
    return tuple(
        _joules(point, "links", "switches", "nics") / _joules(point, "nodes")
        for point in _points().values()
        if point["links"] == "active"
    )


def network_over_node() -> str:
    """This ratio, the same in all points."""
    return span(_ratios(), 3)


def wire_over_node() -> str:
    """The measured study's energy on the wire over that of nodes, by bytes alone."""
    return rows_aggregation.wire_over_node()


@cache
def _watts() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(known_machines()[MACHINE].read_text(encoding="utf-8"))["watts"]
    return found


def watts(name: str, which: str = "value") -> str:
    """A power of the machine file: of a link, a nic, an idle or a busy node; `low` is the end of its band."""
    return f"{_watts()[name][which]:g} W"


@cache
def _drawn() -> tuple[float, float, int]:
    """The power of a node's part of the network and of a node, as simulated, and the links of a node's part."""
    point = next(point for point in _points().values() if point["links"] == "active")
    seconds = point["run_time_s"] * point["nodes"]
    links = _joules(point, "links") / seconds / _watts()["link"]["value"]
    return (
        _joules(point, "links", "switches", "nics") / seconds,
        _joules(point, "nodes") / seconds,
        round(links),
    )


def links_of_a_node() -> str:
    """The directions of links in a node's part of the network."""
    return str(_drawn()[2])


def network(interfaces: int = 1) -> str:
    """The power of a node's part of so many networks."""
    return f"{number(interfaces * _drawn()[0], 0)} W"


def node(which: str = "simulated") -> str:
    """The power of a node: as simulated, `busy` or `idle low`."""
    return f"{number(_node(which), 0)} W"


def _node(which: str) -> float:
    return {"simulated": _drawn()[1], "busy": _watts()["busy_node"]["value"], "idle low": _watts()["idle_node"]["low"]}[
        which
    ]


def over(which: str = "simulated", interfaces: int = 1) -> str:
    """Network over node."""
    return number(interfaces * _drawn()[0] / _node(which))
