"""The outputs of `lull topology` and `lull simulate --keys`: networks, and the keys of a simulation's file."""

from __future__ import annotations

from typing import Final

from lull.record import Model


class Parameter(Model):
    """One parameter of a topology."""

    name: str  # its key in [topology]
    meaning: str  # what it is
    default: list[int]  # its value or values if it is not set
    allowed: str  # its allowed values, in words
    list: bool  # whether it is a list of numbers


class TopologyEntry(Model):
    """One topology that can be simulated."""

    name: str  # its name in [topology]
    meaning: str  # what it is
    parameters: list[Parameter]  # its parameters, in order


class Preset(Model):
    """One named set of parameters of a topology."""

    name: str  # its name
    topology: str  # name of the topology
    meaning: str  # what it is
    parameters: dict[str, list[int]]  # the values that it sets


class Topologies(Model):
    """All topologies and presets."""

    topologies: list[TopologyEntry]  # one for each topology
    presets: list[Preset]  # one for each preset


class NetworkFigures(Model):
    """One network: its parameters and metrics."""

    name: str  # name of the topology
    parameters: dict[str, list[int]]  # all parameters, with their values
    nodes: int  # number of nodes
    switches: int  # number of switches
    radix: int  # most ports of a switch
    node_cables: int  # cables between nodes and switches
    switch_cables: int  # cables between switches
    diameter: int  # most links of a shortest path, including those of the nodes
    mean_links: float  # links of a shortest path, mean over all pairs of different nodes
    bisection: int  # links in one direction between the halves of the nodes


METRICS: Final = tuple(name for name in NetworkFigures.model_fields if name not in ("name", "parameters"))


class SimulationKeyEntry(Model):
    """One key of a simulation's file."""

    name: str  # the key, without its table
    default: str  # its value if it is not set, in words
    allowed: str  # its allowed values, in words
    meaning: str  # what it is
    when: str  # when it applies; empty: always


SimulationKeys = dict[str, list[SimulationKeyEntry]]  # by table; "" for the keys before all tables
