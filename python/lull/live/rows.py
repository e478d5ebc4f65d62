"""The rows of `lull top`: for every node its totals and each channel, with their history over the last minute."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from lull.live.node_reading import NodeReading, totals
from lull.record import Domain, EnergyKind
from lull.statistics import formatting

KEPT = 60  # readings of each row: one minute at one per second
BARS = "▁▂▃▄▅▆▇█"
HEADINGS = ("node", "domain", "source", "power", "kind", "energy", "bytes/s", "last minute")


class Sort(Enum):
    """The order of rows; the value is shown to the user."""

    PLACE = "node, totals first"
    POWER = "power"
    DOMAIN = "domain"
    SOURCE = "source"

    @property
    def following(self) -> Sort:
        """The next order, cyclically."""
        every = list(Sort)
        return every[(every.index(self) + 1) % len(every)]


@dataclass(frozen=True)
class PowerRow:
    """One channel of a node, or one of its totals."""

    node: str
    domain: Domain
    source: str  # a channel, or the parts of a total
    kind: EnergyKind
    watts: float | None
    joules: float | None  # since the start of the meter; None for totals
    bytes_per_s: float | None
    is_total: bool

    @property
    def key(self) -> str:
        """A unique key of the row."""
        return f"{self.node}/{'total' if self.is_total else 'channel'}/{self.domain.value}/{self.source}"

    def cells(self, history: Sequence[float]) -> list[str]:
        """The texts of its cells, in the order of `HEADINGS`."""
        return [
            self.node,
            f"{self.domain.value}{' in all' if self.is_total else ''}",
            self.source,
            "–" if self.watts is None else formatting.si(self.watts, "W"),
            self.kind.value,
            "" if self.joules is None else formatting.si(self.joules, "J"),
            "" if self.bytes_per_s is None else formatting.si(self.bytes_per_s, "B/s"),
            sparkline(history),
        ]


def rows(readings: Sequence[NodeReading]) -> Iterator[PowerRow]:
    """The rows of every node: its totals, then its channels."""
    for reading in readings:
        for total in totals(reading):
            yield PowerRow(
                reading.node, total.domain, total.scope, total.kind, total.watts, None, total.bytes_per_s, True
            )
        for one in reading.channels:
            yield PowerRow(
                reading.node, one.domain, one.channel, one.kind, one.watts, one.joules, one.bytes_per_s, False
            )


def ordered(found: Sequence[PowerRow], by: Sort) -> list[PowerRow]:
    """The rows in another order; the sort is stable."""
    if by is Sort.POWER:
        return sorted(found, key=lambda row: -(row.watts or 0.0))
    if by is Sort.DOMAIN:
        return sorted(found, key=lambda row: (list(Domain).index(row.domain), not row.is_total))
    if by is Sort.SOURCE:
        return sorted(found, key=lambda row: row.source)
    return list(found)


class History:
    """The power of each row over the last readings."""

    def __init__(self) -> None:
        self._watts: dict[str, deque[float]] = {}

    def add(self, found: Sequence[PowerRow]) -> None:
        """Add the newest rows."""
        for row in found:
            if row.watts is not None:
                self._watts.setdefault(row.key, deque(maxlen=KEPT)).append(row.watts)

    def of(self, row: PowerRow) -> list[float]:
        """The power of a row, the oldest value first."""
        return list(self._watts.get(row.key, ()))


def sparkline(values: Sequence[float]) -> str:
    """Bars on a scale from 0 to the highest value."""
    highest = max(values, default=0.0)
    if highest <= 0:
        return BARS[0] * len(values)
    return "".join(BARS[min(len(BARS) - 1, int(value / highest * len(BARS)))] for value in values)


def what_is_measured(readings: Sequence[NodeReading]) -> str:
    """The progress of measurements, in one line; empty if none is known."""
    said = {}
    for reading in readings:
        if (at := reading.measuring) is not None:
            which = f"{'warm-up ' if at.warmup else 'run '}{at.run}/{at.runs}"
            said[at.label] = f"{at.label}: {which}, {at.elapsed_s:.0f} s"
    return "; ".join(said.values())
