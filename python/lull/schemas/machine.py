"""The outputs of `lull sources`, `settings`, `apps` and `top`: what there is on this machine."""

from __future__ import annotations

from typing import Literal

from lull.live.node_reading import NodeReading
from lull.record import Domain, EnergyKind, Model


class SourceChannel(Model):
    """One stream of energy readings of a source."""

    name: str  # unique on the node: "powercap:package-0"
    domain: Domain  # what it covers
    kind: EnergyKind  # how the figure is obtained
    interval_s: float  # interval at which the value changes; 0: at every reading
    basis: str  # origin of the figure: a path, or coefficients with their citation


class EnergySource(Model):
    """One energy source that Lull knows, readable on this machine or not."""

    name: str  # as in LULL_METER_SOURCES: "powercap"
    kind: EnergyKind  # how its figures are obtained
    unit: str  # unit of its raw values: "uJ"
    interval_s: float  # interval at which its values change; 0: at every reading
    range: str  # when its counter wraps around; empty: never
    permission: str  # the permission that a reader needs
    readable: bool  # whether it can be read now
    used: bool  # whether a measurement reads it by default
    reason: str  # why it is not readable, or not used; empty otherwise
    fix: str  # what makes it readable; empty if nothing is known
    left_out: str  # channels that do not count, and why; empty if all do
    channels: list[SourceChannel]  # what it can read here


class SettingInForce(Model):
    """One setting, and the value in force."""

    variable: str  # name of the environment variable
    value: str  # the text in force, even if it is not valid; empty: none
    origin: str  # default, environment, or file and line: /etc/lull.toml:3
    problem: str  # why the value is not valid; empty: it is
    type: Literal["text", "choice", "integer", "real", "size"]  # type of the value
    default: str  # value without a setting; empty: none
    choices: str  # "a|b|c" for a choice, "min..max" for numbers, otherwise empty
    meaning: str  # what it does


class InstalledApplication(Model):
    """One application that comes with Lull."""

    name: str  # its name
    does: str  # the first line of its help
    path: str  # the program


class PowerTotal(Model):
    """Power of a node, or of its wires, which counts nothing twice."""

    domain: Domain  # what it covers
    scope: str  # a channel's name, or the sum in words: "package + dram"
    kind: EnergyKind  # weakest kind of its parts
    watts: float  # mean over about the last second
    bytes_per_s: float | None  # null if no bytes are counted


class PowerReading(NodeReading):
    """One node at one moment, with its totals."""

    totals: list[PowerTotal]  # of the node, and of its wires
