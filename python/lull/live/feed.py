"""Sources of the newest readings of nodes: the meter of this node, or measurements in progress that publish them."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from lull import record
from lull.base.errors import UsageError
from lull.live.node_reading import WINDOW_S, NodeReading, Recent
from lull.live.published import read_published
from lull.meter.meter import Meter

READINGS_PER_SECOND = 5.0  # shows changes within a second, at half the cost of a measurement
SERIES_S = 3600.0  # a series keeps all readings; a new one each hour, which loses about 1 ms, bounds the memory


class Feed(Protocol):
    """A source of readings of one or more nodes."""

    def read(self) -> list[NodeReading]:
        """The newest reading of every node.

        Raises:
            LullError: There are no readings, or no new ones.
        """

    def close(self) -> None:
        """Close the feed."""


class ThisNode:
    """The meter of this node, which runs until `close`. Several threads may read it.

    Raises:
        LullError: A source that LULL_METER_SOURCES names cannot be read.
    """

    def __init__(self, sysroot: Path = Path("/")) -> None:
        node = record.this_host().node
        self._meter = Meter(node, READINGS_PER_SECOND, sysroot=sysroot)
        self._recent = Recent(node, self._meter.channels)
        self._lock = threading.Lock()
        self._meter.start()
        self._began = time.monotonic()

    def read(self) -> list[NodeReading]:
        """The newest reading."""
        with self._lock:
            if time.monotonic() - self._began > SERIES_S:
                self._meter.stop()
                self._meter.start()
                self._began = time.monotonic()
            counted = self._meter.latest()
            if counted is not None:
                self._recent.add(counted)
            reading = self._recent.reading()
        return [] if reading is None else [reading]

    def close(self) -> None:
        """Stop the meter."""
        self._meter.stop()


class Published:
    """The nodes of measurements in progress, by the records they will write."""

    def __init__(self, records: Sequence[Path]) -> None:
        self._records = records

    def read(self) -> list[NodeReading]:
        """The newest published readings."""
        return [reading for folder in self._records for reading in read_published(folder)]

    def close(self) -> None:
        """Do nothing."""


def feed_of(records: Sequence[Path], sysroot: Path | None) -> Feed:
    """The readings that measurements publish while they write `records`; without records, the meter of this node.

    Raises:
        UsageError: There are both records and a root for the meter.
        LullError: The meter cannot be read.
    """
    if records and sysroot is not None:
        raise UsageError(
            "read below --sysroot", "a measurement publishes its readings, no meter is read", "leave it out"
        )
    return Published(records) if records else ThisNode(sysroot or Path("/"))


def read_with_power(feed: Feed) -> list[NodeReading]:
    """The readings with the power of each channel; waits for the second that a meter needs after its start.

    Raises:
        LullError: There are no readings.
    """
    end = time.monotonic() + WINDOW_S + 1 / READINGS_PER_SECOND
    found = feed.read()
    while not _shows_power(found) and time.monotonic() < end:
        time.sleep(1 / READINGS_PER_SECOND)
        found = feed.read()
        if _shows_power(found):  # over a shorter time than possible
            time.sleep(max(0.0, end - time.monotonic()))
            return feed.read()
    return found


def _shows_power(found: Sequence[NodeReading]) -> bool:
    return bool(found) and all(one.watts is not None for reading in found for one in reading.channels)
