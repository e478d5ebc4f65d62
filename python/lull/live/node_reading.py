"""The state of one node's meter at a moment: its counts, the present power, and the measurement in progress.

Displays, the file that a measurement publishes, and the metrics for Prometheus are made from it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from pydantic import ConfigDict, Field

from lull.meter.meter import CounterTotals
from lull.record import Channel, Domain, Energy, EnergyKind, Model
from lull.record.totals import add, counted, node_totals

WINDOW_S = 1.0  # power is the mean over this time; in less, sources that change every 100 ms would fluctuate
LAG = 4.0  # factor by which powers of one moment may differ although both meters are right
SHORTEST_S = 0.2  # shortest time between readings from which power is computed


class ChannelReading(Model):
    """One channel of the meter."""

    channel: str  # unique on the node: "powercap:package-0"
    source: str  # source of the channel
    domain: Domain  # what it covers
    kind: EnergyKind  # how the figure is obtained
    joules: float = Field(ge=0)  # since the start of the meter
    bytes: int | None = None  # since the start of the meter, if bytes are counted
    watts: float | None = None  # mean over about the last second; null before that
    bytes_per_s: float | None = None  # the same for bytes


class Progress(Model):
    """The progress of a measurement."""

    label: str  # label of the command
    run: int  # number of the run, from 1; of the warm-up runs if `warmup` is true
    runs: int  # least number of runs
    warmup: bool  # whether it is a warm-up run
    elapsed_s: float = Field(ge=0)  # since the begin of this run


class NodeReading(Model):
    """One node at one moment."""

    schema_version: Literal[1] = Field(default=1, alias="schema")  # version of this form
    node: str  # name of the node
    time: datetime  # time of the reading
    channels: list[ChannelReading]  # one per channel
    measuring: Progress | None = None  # progress of a measurement; null without one

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True, populate_by_name=True)


class Recent:
    """The newest readings of one meter, and the power between them."""

    def __init__(self, node: str, channels: Sequence[Channel]) -> None:
        self.node = node
        self.channels = channels
        self._readings: deque[CounterTotals] = deque()

    def add(self, newest: CounterTotals) -> None:
        """Add a reading; the first one of another series discards the earlier ones."""
        if self._readings and self._readings[-1].series != newest.series:
            self._readings.clear()
        if self._readings and self._readings[-1].time_ns >= newest.time_ns:
            return
        self._readings.append(newest)
        while len(self._readings) > 2 and (newest.time_ns - self._readings[1].time_ns) / 1e9 >= WINDOW_S:
            self._readings.popleft()

    def reading(self, measuring: Progress | None = None) -> NodeReading | None:
        """The present reading of the node; None before the first one."""
        if not self._readings:
            return None
        last = self._readings[-1]
        rows = []
        for place, channel in enumerate(self.channels):
            # In a gap the joules are constant, and then jump, so power is computed between two good readings.
            good = [one for one in self._readings if not (one.is_gap and one.is_gap[place])]
            first = good[0] if good else last
            seconds = (last.time_ns - first.time_ns) / 1e9
            octets, before = last.bytes[place], first.bytes[place]
            known = seconds >= SHORTEST_S and good[-1] is last
            rows.append(
                ChannelReading(
                    channel=channel.name,
                    source=channel.source,
                    domain=channel.domain,
                    kind=channel.kind,
                    joules=last.joules[place],
                    bytes=octets,
                    watts=max(0.0, last.joules[place] - first.joules[place]) / seconds if known else None,
                    bytes_per_s=None if not known or octets is None else (octets - (before or 0)) / seconds,
                )
            )
        return NodeReading(node=self.node, time=datetime.now(UTC), channels=rows, measuring=measuring)


@dataclass(frozen=True)
class Power:
    """Power of a part of a node, or of the whole node."""

    domain: Domain
    watts: float
    kind: EnergyKind
    scope: str  # a channel's name, or the sum in words
    bytes_per_s: float | None = None


def totals(reading: NodeReading) -> list[Power]:
    """The power of the node, which counts nothing twice, and the sum of its wires."""
    return [_power(total) for total in node_totals(_in_a_second(reading))]


def parts(reading: NodeReading) -> list[Power]:
    """The power of each domain in the node's total; that of the node if it is metered as a whole."""
    found = counted(_in_a_second(reading)).get(reading.node, [])
    domains = dict.fromkeys(one.domain for one in found)
    sums = [(domain, [one for one in found if one.domain is domain]) for domain in domains]
    return [_power(add(of, domain, " + ".join(one.channel for one in of))) for domain, of in sums]


def _in_a_second(reading: NodeReading) -> list[Energy]:
    """Powers as energies of one second, so that the rule of energies adds them."""
    return [
        Energy(
            node=reading.node,
            domain=one.domain,
            channel=one.channel,
            kind=one.kind,
            joules=one.watts,
            low_j=one.watts / LAG,  # a slow meter lags behind the others
            high_j=one.watts * LAG,
            bytes=None if one.bytes_per_s is None else round(one.bytes_per_s),
        )
        for one in reading.channels
        if one.watts is not None
    ]


def _power(of: Energy) -> Power:
    return Power(of.domain, of.joules, of.kind, of.channel, of.bytes)
