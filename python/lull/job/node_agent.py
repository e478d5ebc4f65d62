"""The thread of a rank's wrapper that takes part in its node: it reads the meter for all, or reports to the reader.

It is a separate thread because the command runs at the same time: a member must notice at once that its reader has
died, and a reader must accept members. The main thread of the wrapper waits until it may begin, runs the command, calls
`report` and waits for the end. A descriptor signals both events, so that the main thread can also wait for signals.

States of the thread: elect -> read | belong; belong -> elect when the reader dies or leaves; either -> end.

A wrapper whose command failed must end soon, because launchers end a job when a rank fails, and the other ranks might
wait for the failed one without end. A member ends when the reader has its report. A reader gives up its role; the
energy that the next reader reports is a lower bound, for a run that failed anyway.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.base.errors import LullError
from lull.job.election import Line, Reader, elect
from lull.job.launchers import JobRank
from lull.job.node import Identity, digest, take_anchor
from lull.job.node_exchange import NodeExchange
from lull.job.part import MeasurementRequest, Report, compose
from lull.job.siblings import Siblings, all_on_this_node, siblings_of
from lull.meter.meter import Meter

TAKEOVER_S = 2.0  # time for members of a dead reader, which notice at once, to connect to the next one
SOON_S = 0.05
SELDOM_S = 1.0
SELDOM_LOOKS = 4  # checks per timeout by nodes that are not the first to merge
ABANDON_S = 10.0  # time for the thread to remove its files once the main thread has given up
ALONE_S = 4.0  # time after which a rank without members checks whether any will come
LEAVING_S = 0.3  # time for which a reader whose command failed waits for the others before it leaves
FOLDER_SUFFIX = ".job-"


@dataclass(frozen=True)
class Job:
    """The job, equal in all of its ranks."""

    place: JobRank
    target: Path  # the record to write or extend
    asked: MeasurementRequest
    timeout_s: float

    @property
    def key(self) -> str:
        """The job's name in addresses and folders."""
        return digest(self.place.launcher, self.place.job, str(self.target))

    @property
    def folder(self) -> Path:
        """The folder of the exchange between its nodes."""
        return self.target.parent / f".{self.target.name}{FOLDER_SUFFIX}{self.key}"


@dataclass
class _Member:
    """A rank of this node, from the view of its reader."""

    line: Line | None = None  # None: the reader's own rank, or one that has not connected to this reader yet
    report: Report | None = None
    lost: bool = False


class _AbandonedError(Exception):
    """The main thread has given up; this is not reported."""


class NodeAgent:
    """This rank on its node.

    Args:
        job: The measured job.
        identity: This node.
        deliver: Called in the thread of the reader that merges, when all parts exist.
    """

    def __init__(self, job: Job, identity: Identity, deliver: Callable[[NodeExchange], None]) -> None:
        self._job = job
        self._identity = identity
        self._deliver = deliver
        self._address = f"lull-{os.getuid()}-{digest(job.key, identity.host.node, identity.host.boot_id)}"
        self._news = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)  # wakes the main thread
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)  # wakes the thread of the agent
        self._report: Report | None = None
        self._abandoned = False
        self._may_begin = False
        self._error: BaseException | None = None
        self._ended = False
        self._members: dict[int, _Member] = {}
        self._open = False  # whether the ranks of this node may begin
        self._inherited: dict[int, Report] = {}  # reports of ended ranks, from a reader that left
        self._began = self._looked_around = 0.0
        self._next_look_s = ALONE_S
        self._unnamed: list[Line] = []  # connections that have not sent their rank yet
        self._thread = threading.Thread(target=self._run, name="lull node", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def news(self) -> int:
        """A descriptor that becomes readable whenever `may_begin` or `ended` may have changed."""
        return self._news

    @property
    def may_begin(self) -> bool:
        """Whether the meter of the node runs and its ranks have connected."""
        return self._may_begin

    @property
    def ended(self) -> bool:
        """Whether the thread has finished; raises its error, if any."""
        if self._ended:
            self._thread.join()  # it has finished, and must not run during the end of the interpreter
            if self._error is not None:
                raise self._error
        return self._ended

    def report(self, report: Report) -> None:
        """Submit this rank's report; called once."""
        self._report = report
        os.eventfd_write(self._wake, 1)

    def abandon(self) -> None:
        """Stop taking part; a reader removes its files from the folder of the job."""
        self._abandoned = True
        os.eventfd_write(self._wake, 1)
        self._thread.join(ABANDON_S)

    def _tell_main(self) -> None:
        os.eventfd_write(self._news, 1)

    def _run(self) -> None:
        try:
            while True:
                seat = elect(self._address)
                try:
                    if self._abandoned:  # before a file exists
                        raise _AbandonedError
                    if isinstance(seat, Reader):
                        self._read(seat)
                        return
                    if self._belong(seat):
                        return
                finally:
                    seat.close()
        except BaseException as error:  # the main thread raises it
            self._error = error
        finally:
            self._ended = True
            self._tell_main()

    # A member

    def _belong(self, reader: Line) -> bool:
        """Report to the reader; False if the reader died before the end."""
        sent = False
        alive = reader.send({"rank": self._job.place.rank})
        while alive:
            if self._report is not None and not sent:
                sent = True
                alive = reader.send({"report": self._report.model_dump(mode="json", by_alias=True)})
                continue
            ready = _ready([reader.fileno(), self._wake], None)
            if self._wake in ready:
                os.eventfd_read(self._wake)
                if self._abandoned:
                    raise _AbandonedError
            if reader.fileno() in ready:
                messages = reader.receive()
                if messages is None:
                    return False
                for message in messages:
                    if message.get("late"):
                        raise LullError(
                            f"measure rank {self._job.place.rank}",
                            "the record of its job was closed before it began",
                            "raise LULL_NODE_TIMEOUT_S",
                        )
                    if message.get("done") or (message.get("have") and self._report and self._report.failed):
                        return True
                    for report in message.get("leaving", []):
                        left = Report.model_validate(report)
                        self._inherited[left.rank] = left
                    if message.get("go"):
                        self._may_begin = True
                        self._tell_main()
        return False

    # The reader

    def _read(self, seat: Reader) -> None:
        """Read the meter for this node; after an error, remove this node's files from the folder of the job."""
        job, host = self._job, self._identity.host
        meter = Meter(host.node, job.asked.hz)
        shared = NodeExchange(job.folder, self._identity.key, host.node, job.place.size, job.timeout_s)
        try:
            self._read_for_all(seat, meter, shared)
        except BaseException:
            shared.withdraw()
            raise

    def _read_for_all(self, seat: Reader, meter: Meter, shared: NodeExchange) -> None:
        """Measure the node until its ranks have ended, submit its part, and ensure that the record is written."""
        job = self._job
        known = {*shared.announced_here(), *self._inherited, job.place.rank}
        self._began = self._looked_around = time.monotonic()
        self._members = {rank: _Member(report=self._inherited.get(rank)) for rank in known}
        self._members[job.place.rank].report = self._report  # exists if our command ended under an earlier reader
        first = take_anchor()
        meter.start()
        takeover_ends = time.monotonic() + TAKEOVER_S
        shared.announce(self._members)
        finished = False
        leaves_at: float | None = None  # set once our own command has failed
        while not finished:
            self._hear(seat, SELDOM_S if self._open and not self._all_ended() else SOON_S, closed=False)
            if time.monotonic() > takeover_ends:
                self._give_up_strangers()
            shared.announce(self._members)
            self._look_around(shared)
            if not self._open and self._all_here(shared):
                self._let_begin()
            finished = self._all_ended() and (self._all_here(shared) or self._stopped())
            if self._report is not None and self._report.failed and not finished:
                leaves_at = leaves_at or time.monotonic() + LEAVING_S
                if time.monotonic() > leaves_at:
                    self._leave(seat)
                    return
        series = meter.stop()
        reports = [member.report for member in self._members.values() if member.report is not None]
        lost = sorted(rank for rank, member in self._members.items() if member.lost)
        shared.submit(compose(job.asked, self._identity, series, first, reports, lost))
        self._see_it_written(seat, shared)
        for member in self._members.values():
            if member.line is not None:
                member.line.send({"done": True})

    def _see_it_written(self, seat: Reader, shared: NodeExchange) -> None:
        """Merge, or wait until another node has merged; only briefly if our own command has failed."""
        failed = self._report is not None and self._report.failed
        seldom_s = 0.0 if failed or self._stopped() or shared.has_rank_zero() else self._job.timeout_s / SELDOM_LOOKS
        leaves_at = time.monotonic() + LEAVING_S
        next_look = 0.0
        left = False
        while not shared.is_over():
            now = time.monotonic()
            if now >= next_look:
                next_look = now + seldom_s
                if shared.is_complete(hurry=self._stopped()) and shared.claim():
                    try:
                        self._deliver(shared)
                    finally:
                        shared.close()
                    return
            if left:
                return
            self._hear(seat, SOON_S, closed=True)
            self._look_around(shared)
            left = failed and time.monotonic() > leaves_at
            if not shared.is_over():
                shared.announce(self._members, submitted=True, left=left)

    def _leave(self, seat: Reader) -> None:
        """Pass the role of the reader and all reports to a member whose command still runs."""
        reports = [member.report for member in self._members.values() if member.report is not None]
        seat.close()
        for member in self._members.values():
            if member.line is not None:
                member.line.send({"leaving": [report.model_dump(mode="json", by_alias=True) for report in reports]})
                member.line.close()

    def _all_here(self, shared: NodeExchange) -> bool:
        """Whether all ranks of this node have connected, or there was no news for the timeout.

        If the launcher does not give the number on a node, all ranks of the job must be known on some node.
        """
        expected = self._job.place.on_node
        return shared.all_known() if expected is None else len(self._members) >= expected or shared.is_quiet()

    def _look_around(self, shared: NodeExchange) -> None:
        """Check whether the missing ranks will come, if this one has been alone for some seconds."""
        now = time.monotonic()
        if len(self._members) > 1 or shared.knows_others():
            shared.no_more_ranks = False
        elif self._job.place.size > 1 and min(now - self._began, now - self._looked_around) > self._next_look_s:
            self._looked_around = now
            self._next_look_s = SELDOM_S
            there = siblings_of(self._job.place)
            shared.no_more_ranks = there is Siblings.UNMEASURED or (
                there is Siblings.NONE and all_on_this_node(self._job.place)
            )

    def _let_begin(self) -> None:
        """Let all ranks of this node begin at once, so that none is measured while wrappers of others still start."""
        self._open = True
        for member in self._members.values():
            if member.line is not None:
                member.line.send({"go": True})
        self._may_begin = True
        self._tell_main()

    def _stopped(self) -> bool:
        """Whether a signal has ended our own rank: the job is ending, and no more ranks will come."""
        return self._report is not None and self._report.interrupted

    def _all_ended(self) -> bool:
        return all(member.report is not None or member.lost for member in self._members.values())

    def _give_up_strangers(self) -> None:
        """Give up ranks that an earlier reader knew but that have not connected: they died with it."""
        for rank, member in self._members.items():
            if member.line is None and member.report is None and rank != self._job.place.rank:
                member.lost = True

    def _hear(self, seat: Reader, seconds: float, *, closed: bool) -> None:
        """Wait at most `seconds` for members, their messages and our own report, and process them."""
        lines = [member.line for member in self._members.values() if member.line is not None and not member.lost]
        heard = [*self._unnamed, *lines]
        ready = _ready([seat.listener.fileno(), self._wake, *(line.fileno() for line in heard)], seconds)
        if self._wake in ready:
            os.eventfd_read(self._wake)
            if self._abandoned:
                raise _AbandonedError
            self._members[self._job.place.rank].report = self._report
        if seat.listener.fileno() in ready and (line := seat.accept()) is not None:
            self._unnamed.append(line)
        for line in heard:
            if line.fileno() in ready:
                self._take_in(line, line.receive(), closed=closed)

    def _take_in(self, line: Line, messages: list[dict[str, object]] | None, *, closed: bool) -> None:
        if messages is None:
            if line in self._unnamed:
                self._unnamed.remove(line)
            for member in self._members.values():
                if member.line is line:
                    member.line = None
                    member.lost = member.report is None
            line.close()
            return
        for message in messages:
            if "rank" in message:
                self._unnamed.remove(line)
                rank = int(str(message["rank"]))
                if closed and rank not in self._members:
                    line.send({"late": True})
                    continue
                self._members[rank] = _Member(line)
                if self._open:
                    line.send({"go": True})
            elif "report" in message:
                report = Report.model_validate(message["report"])
                self._members[report.rank] = _Member(line, report)
                line.send({"have": True})


def _ready(descriptors: Sequence[int], seconds: float | None) -> set[int]:
    """The readable descriptors, after waiting at most `seconds`; unlike `select`, without limits on their number."""
    waiting = select.poll()
    for descriptor in descriptors:
        waiting.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in waiting.poll(None if seconds is None else seconds * 1e3)}
