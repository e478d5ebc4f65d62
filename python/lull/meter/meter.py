"""The energy meter for a piece of work: a series of readings, and the energy between two moments."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lull import _core
from lull.base.columns import numbers, texts
from lull.base.native import native_errors
from lull.base.text import readable
from lull.record import SAMPLES_SCHEMA, Channel, Domain, Energy, EnergyKind

Interval = tuple[int, int]  # begin and end, CLOCK_MONOTONIC in nanoseconds


@dataclass(frozen=True)
class Series:
    """The readings of one node's meter: `joules[i, c]` is the count of channel `c` at `time_ns[i]`."""

    channels: Sequence[Channel]
    time_ns: NDArray[np.int64]
    joules: NDArray[np.float64]
    totals: Sequence[_core.ChannelTotal]
    complaints: Sequence[str] = ()  # reasons of gaps, in lines

    def energy(self, intervals: Sequence[Interval]) -> list[Energy]:
        """Energy of every channel within `intervals`, which must not overlap.

        Power is assumed constant between two readings. The error of this is bounded, because a counter never
        decreases: the true value is between the readings just inside and just outside the interval, extended by the
        energy of one update interval of the counter. `low_j` and `high_j` are these bounds, extended by the uncertainty
        of the source. Wraps, gaps, resets and stale readings are those of the whole series, because their positions are
        unknown.
        """
        origin = int(self.time_ns[0])
        time = (self.time_ns - origin).astype(np.float64)
        last = len(time) - 1
        begin = np.array([b - origin for b, _ in intervals], dtype=np.float64).clip(0, time[-1])
        end = np.array([e - origin for _, e in intervals], dtype=np.float64).clip(0, time[-1])
        before_begin = (np.searchsorted(time, begin, side="right") - 1).clip(0, last)
        after_begin = np.searchsorted(time, begin, side="left").clip(0, last)
        before_end = (np.searchsorted(time, end, side="right") - 1).clip(0, last)
        after_end = np.searchsorted(time, end, side="left").clip(0, last)
        seconds = float((end - begin).sum()) / 1e9
        share = seconds / (time[-1] / 1e9) if time[-1] > 0 else 0.0

        energies = []
        for column, (channel, total) in enumerate(zip(self.channels, self.totals, strict=True)):
            counted = self.joules[:, column]
            joules = float((np.interp(end, time, counted) - np.interp(begin, time, counted)).sum())
            inside = float((counted[before_end] - counted[after_begin]).clip(0).sum())
            outside = float((counted[after_end] - counted[before_begin]).sum())
            update = joules / seconds * channel.interval_s * len(intervals) if seconds > 0 else 0.0
            if total.joules > 0:
                part = joules / total.joules
                low = (inside - update) * total.low_j / total.joules
                high = (outside + update) * total.high_j / total.joules
            else:
                part, low, high = share, 0.0, total.high_j * share
            energies.append(
                Energy(
                    node=channel.node,
                    domain=channel.domain,
                    channel=channel.name,
                    kind=channel.kind,
                    joules=max(joules, 0.0),
                    low_j=min(max(low, 0.0), max(joules, 0.0)),
                    high_j=max(high, joules, 0.0),
                    bytes=None if total.bytes is None else round(total.bytes * part),
                    wraps=total.wraps,
                    gaps=total.gaps,
                    resets=total.resets,
                    stale=total.stale,
                    lower_bound=total.lower_bound,
                )
            )
        return energies

    def table(self, repeat: int, zero_ns: int) -> pa.Table:
        """The readings as rows of samples.parquet, with times relative to `zero_ns`."""
        seconds = (self.time_ns - zero_ns) / 1e9
        rows, columns = self.joules.shape

        def per_channel(values: list[str]) -> pa.ChunkedArray:  # a chunk per channel: Arrow's texts end at 2 GiB
            return pa.chunked_array([texts([value] * rows) for value in values], pa.string())

        made = {
            "repeat": numbers(np.full(rows * columns, repeat, dtype=np.int32)),
            "time_s": numbers(np.tile(seconds, columns)),
            "node": per_channel([channel.node for channel in self.channels]),
            "channel": per_channel([channel.name for channel in self.channels]),
            "domain": per_channel([channel.domain.value for channel in self.channels]),
            "kind": per_channel([channel.kind.value for channel in self.channels]),
            # Copy, because the transposed array of one channel is a view of the sampler's, which Arrow would keep.
            "joules": numbers(self.joules.flatten(order="F")),
        }
        return pa.Table.from_arrays([made[name] for name in SAMPLES_SCHEMA.names], schema=SAMPLES_SCHEMA)


@dataclass(frozen=True)
class CounterTotals:
    """The counts of all channels since the construction of their meter, at one moment."""

    series: int  # number of starts of the meter; nothing is counted between two series
    time_ns: int  # CLOCK_MONOTONIC
    joules: tuple[float, ...]
    bytes: tuple[int | None, ...]  # None for channels without bytes
    is_gap: tuple[bool, ...] = ()  # whether a channel could not be read and has the joules of an earlier moment


class Meter:
    """The meter of this node, started and stopped around each repeat.

    Args:
        node: The name of this node in records.
        hz: Readings per second, 0.1 to 100.
        sysroot: Root below which sys/ and proc/ are read.
        sources: Names of the sources to read; default: those that `lull sources` marks as used.

    Raises:
        LullError: A source in `sources` or LULL_METER_SOURCES cannot be read, or `hz` is out of range.
    """

    def __init__(self, node: str, hz: float, *, sysroot: Path = Path("/"), sources: Sequence[str] = ()) -> None:
        with native_errors():
            self._sampler = _core.Sampler(sysroot=str(sysroot), hz=hz, sources=sources)
            self.channels = [
                Channel(
                    name=readable(channel.name),
                    source=channel.source,
                    node=node,
                    domain=Domain(channel.domain),
                    kind=EnergyKind(channel.kind),
                    interval_s=channel.interval_s,
                    basis=readable(channel.basis),
                )
                for channel in self._sampler.channels
            ]
            self.not_read = [
                readable(line) for line in self._sampler.not_read
            ]  # requested by a setting, but unreadable
        self._before: list[tuple[float, int | None]] = [(0.0, None) for _ in self.channels]  # counts of earlier series
        self._lock = threading.Lock()  # a count belongs either to the running series or to `_before`, never to both
        self._runs = False
        self._series = 0

    def start(self) -> None:
        """Start a new series; the first reading is taken before this returns."""
        with self._lock, native_errors():
            self._sampler.start()
            self._runs = True
            self._series += 1

    def stop(self) -> Series:
        """Take the last reading and return the series."""
        with self._lock:
            self._runs = False
            with native_errors():
                samples = self._sampler.stop()
            now = [(total.joules, total.bytes) for total in samples.totals]
            self._before = [_sum(before, one) for before, one in zip(self._before, now, strict=True)]
        complaints = [readable(line) for line in samples.complaints]
        return Series(self.channels, samples.time_ns, samples.joules, samples.totals, complaints)

    def latest(self) -> CounterTotals | None:
        """The counts up to the newest reading, over all series; None if none is running. Callable in any thread."""
        with self._lock:
            if not self._runs:
                return None
            with native_errors():
                time_ns, joules, octets, gaps = self._sampler.latest()
            now = zip(self._before, zip(joules, octets, strict=True), strict=True)
            sums = [_sum(before, one) for before, one in now]
        return CounterTotals(
            self._series,
            time_ns,
            tuple(joules for joules, _ in sums),
            tuple(octets for _, octets in sums),
            tuple(gaps),
        )


def _sum(before: tuple[float, int | None], now: tuple[float, int | None]) -> tuple[float, int | None]:
    return before[0] + now[0], None if now[1] is None else (before[1] or 0) + now[1]
