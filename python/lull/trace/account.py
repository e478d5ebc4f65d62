"""The analysis of a trace as data, which `lull archive info --format json` prints.

Times are split by the activity of a process; the head of `src/trace/analysis.hpp` describes how.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from lull import _core
from lull.base.errors import LullError
from lull.base.native import native_errors
from lull.base.packages import this_system
from lull.record import Model

STATES = ("compute", "late sender", "late receiver", "imbalance", "polling", "transfer", "files", "setup")
WAITING = STATES[1:5]
BINS = 240

Progress = Callable[[int, int], bool]


class Shares(Model):
    """Seconds by activity, of a process or of all, summed over threads."""

    compute: float  # outside the communication library
    late_sender: float  # in receives, waiting until their message was sent
    late_receiver: float  # in sends, waiting until their receive was posted
    imbalance: float  # in collectives, waiting for other processes
    polling: float  # in tests and probes that found nothing
    transfer: float  # the rest of communication
    files: float  # in MPI's file operations
    setup: float  # in initialization and finalization of the communication library

    @classmethod
    def of(cls, seconds: NDArray[np.float64]) -> Shares:
        """Shares from an array in the order of `STATES`."""
        named = {state.replace(" ", "_"): max(float(value), 0.0) for state, value in zip(STATES, seconds, strict=True)}
        return cls(**named)

    @property
    def total(self) -> float:
        """The sum of all activities."""
        return sum(self.seconds(state) for state in STATES)

    @property
    def waiting(self) -> float:
        """The time spent waiting for other processes."""
        return sum(self.seconds(state) for state in WAITING)

    def seconds(self, state: str) -> float:
        """The seconds of one of `STATES`."""
        value = getattr(self, state.replace(" ", "_"))
        assert isinstance(value, float)
        return value


class ProcessAccount(Model):
    """One process."""

    name: str  # name of the process in the trace
    node: str  # name of its node
    time: Shares  # its seconds by activity
    sent_messages: int  # point to point
    sent_bytes: int  # bytes of these
    received_messages: int  # point to point
    received_bytes: int  # bytes of these
    burstiness: float | None  # of the gaps between its sends: -1 regular, 0 random, towards 1 in bursts


class Pair(Model):
    """The communication from one process to another."""

    source: int = Field(serialization_alias="from")  # index in `processes`
    target: int = Field(serialization_alias="to")  # index in `processes`
    messages: int  # point to point
    bytes: int  # bytes of these
    one_sided: int  # puts, gets and atomics, in the direction of the data
    one_sided_bytes: int  # bytes of these


class SizeClass(Model):
    """Point-to-point messages of a range of sizes."""

    from_bytes: int  # the smallest size
    to_bytes: int  # the largest
    messages: int  # number of messages
    bytes: int  # bytes of these


class CollectiveAccount(Model):
    """One collective operation; calls and bytes are summed over processes."""

    operation: str  # name of the operation
    calls: int  # number of calls
    sent_bytes: int  # bytes sent
    received_bytes: int  # bytes received


class FunctionAccount(Model):
    """One function or region; calls and seconds are summed over processes."""

    name: str  # name of the function or region
    paradigm: str  # mpi, shmem, user, other
    calls: int  # number of calls
    seconds: float  # including the functions that it calls


class Burstiness(Model):
    """How unevenly the program sends."""

    gaps: float | None  # of all gaps between sends of a process: -1 regular, 0 random, towards 1 in bursts
    peak_over_mean: float | None  # bytes in the busiest bin over the mean, point to point and one-sided
    silent_share: float  # share of bins in which no process sends


class Faults(Model):
    """Inconsistencies in the trace."""

    unmatched_sends: int  # sends whose receive is not in the trace
    unmatched_receives: int  # receives whose send is not in the trace
    incomplete_collectives: int  # collectives that lack a process
    received_too_early: int  # messages received before they were sent, by the clocks
    most_too_early_s: float  # the largest of these errors of clocks


class TraceAccount(Model):
    """The content of `lull archive info`."""

    seconds: float  # from the first event to the last
    events: int  # number of events
    threads: int  # number of threads
    nodes: list[str]  # names of the nodes
    communicators: int  # number of communicators
    windows: int  # number of windows of memory for one-sided operations
    messages: int  # point to point
    message_bytes: int  # bytes of these
    one_sided: int  # number of puts, gets and atomics
    one_sided_bytes: int  # bytes of these
    time: Shares  # seconds by activity, of all processes
    burstiness: Burstiness  # how unevenly it sends
    processes: list[ProcessAccount]  # one for each process
    pairs: list[Pair]  # one for each pair that communicates
    sizes: list[SizeClass]  # messages by size
    collectives: list[CollectiveAccount]  # one for each operation
    functions: list[FunctionAccount]  # one for each function
    faults: Faults  # inconsistencies


@dataclass(frozen=True)
class Analysis:
    """The account of a trace, and quantities over time."""

    account: TraceAccount
    bin_s: float
    states: NDArray[np.float64]  # seconds by process, bin, state
    message_bytes: NDArray[np.float64]  # by bin, point to point and one-sided
    collective_bytes: NDArray[np.float64]
    watts: dict[str, NDArray[np.float64]]  # by metric, in each bin; NaN for a bin without readings
    remarks: tuple[str, ...] = ()  # what is missing in a merged trace, in lines


def require_otf2(asked: str) -> None:
    """Raise `LullError` if Lull was built without OTF2."""
    if not _core.HAS_OTF2:
        raise LullError(
            asked, "this Lull was built without OTF2", f"{this_system().install('otf2-headers')}, and build Lull again"
        )


def analyse(path: Path, *, bins: int = BINS, progress: Progress | None = None) -> Analysis:
    """Read an archive, of Lull or of another tool, or a merged trace, from begin to end.

    Args:
        path: Its folder, or its `.otf2` or `.lulltrace` file.
        bins: Number of equal intervals of the run for quantities over time.
        progress: Called with the events read and their total; if it returns False, reading ends with an error.

    Raises:
        LullError: There is no archive, or it is damaged.
    """
    require_otf2(f"read the trace {path}")
    with native_errors():
        found = _core.analyse_trace(str(path), bins, progress)
    states = np.maximum(np.asarray(found.binned_seconds, dtype=np.float64), 0.0)
    watts = {
        metric.name: np.asarray(values, dtype=np.float64)
        for metric, values in zip(found.metrics, found.metrics_in_bins, strict=True)
        if metric.unit == "W"
    }
    return Analysis(
        account=_account(found),
        bin_s=found.seconds / found.bins,
        states=states,
        message_bytes=np.asarray(found.message_bytes_in_bins, dtype=np.float64),
        collective_bytes=np.asarray(found.collective_bytes_in_bins, dtype=np.float64),
        watts=watts,
        remarks=tuple(found.remarks),
    )


def _account(found: _core.TraceAnalysis) -> TraceAccount:
    seconds = np.asarray(found.state_seconds)
    return TraceAccount(
        seconds=found.seconds,
        events=found.events,
        threads=found.threads,
        nodes=sorted({process.host for process in found.processes}),
        communicators=found.communicators,
        windows=found.windows,
        messages=int(found.sent.sum()),
        message_bytes=int(found.sent_bytes.sum()),
        one_sided=int(found.pair_one_sided.sum()),
        one_sided_bytes=int(found.pair_one_sided_bytes.sum()),
        time=Shares.of(seconds.sum(axis=0)),
        burstiness=_burstiness(found),
        processes=[
            ProcessAccount(
                name=process.name,
                node=process.host,
                time=Shares.of(seconds[place]),
                sent_messages=int(found.sent[place]),
                sent_bytes=int(found.sent_bytes[place]),
                received_messages=int(found.received[place]),
                received_bytes=int(found.received_bytes[place]),
                burstiness=_of_gaps(found.gaps[place], found.gap_mean_s[place], found.gap_squares[place]),
            )
            for place, process in enumerate(found.processes)
        ],
        pairs=_pairs(found),
        sizes=[
            SizeClass(from_bytes=1 << place >> 1, to_bytes=(1 << place) - 1, messages=messages, bytes=of_bytes)
            for place, (messages, of_bytes) in enumerate(zip(found.size_messages, found.size_bytes, strict=True))
            if messages
        ],
        collectives=sorted(
            (
                CollectiveAccount(operation=name, calls=calls, sent_bytes=sent, received_bytes=received)
                for name, calls, sent, received in found.collectives
            ),
            key=lambda one: -one.calls,
        ),
        functions=sorted(
            (
                FunctionAccount(name=region.name, paradigm=region.paradigm, calls=int(calls), seconds=float(took))
                for region, calls, took in zip(found.regions, found.function_calls, found.function_seconds, strict=True)
                if calls and region.paradigm != "program"
            ),
            key=lambda one: -one.seconds,
        ),
        faults=Faults(
            unmatched_sends=found.unmatched_sends,
            unmatched_receives=found.unmatched_receives,
            incomplete_collectives=found.incomplete_collectives,
            received_too_early=found.too_early,
            most_too_early_s=found.most_too_early_s,
        ),
    )


def _pairs(found: _core.TraceAnalysis) -> list[Pair]:
    columns = (
        found.pair_from, found.pair_to, found.pair_messages, found.pair_bytes, found.pair_one_sided,
        found.pair_one_sided_bytes,
    )  # fmt: skip
    rows = sorted(tuple(int(value) for value in row) for row in zip(*columns, strict=True))
    return [
        Pair(source=source, target=target, messages=messages, bytes=size, one_sided=times, one_sided_bytes=moved)
        for source, target, messages, size, times, moved in rows
    ]


def _of_gaps(count: float, mean: float, squares: float) -> float | None:
    """Goh and Barabási (2008): (σ - µ) / (σ + µ) of the gaps; None for fewer than two."""
    if count < 2 or mean <= 0:
        return None
    deviation = math.sqrt(squares / (count - 1))
    return float((deviation - mean) / (deviation + mean))


def _burstiness(found: _core.TraceAnalysis) -> Burstiness:
    counts = np.asarray(found.gaps, dtype=np.float64)
    means, squares = np.asarray(found.gap_mean_s), np.asarray(found.gap_squares)
    pooled = None
    if counts.sum() >= 2:
        mean = float((counts * means).sum() / counts.sum())
        pooled = _of_gaps(counts.sum(), mean, float((squares + counts * (means - mean) ** 2).sum()))
    sent = np.asarray(found.message_bytes_in_bins, dtype=np.float64)
    return Burstiness(
        gaps=pooled,
        peak_over_mean=float(sent.max() / sent.mean()) if sent.sum() > 0 else None,
        silent_share=float((sent == 0).mean()),
    )
