"""The result of a simulation in SI units: plain data, with one numpy array per quantity of the links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lull.simulation.latency import Latency
from lull.simulation.tolerance import Tolerance

KINDS = ("injection", "ejection", "network")  # kinds of links; `Links.kind` holds indices into it
STATES = ("active", "fast wake", "deep sleep", "slow rate")


@dataclass(frozen=True)
class Links:
    """Every link, one direction each. Nodes and switches have separate numbers; `kind` says which end is a node."""

    source: NDArray[np.int64]  # a node if kind is injection, otherwise a switch
    target: NDArray[np.int64]  # a node if kind is ejection, otherwise a switch
    kind: NDArray[np.int8]
    packets: NDArray[np.int64]
    bytes: NDArray[np.int64]
    wakes: NDArray[np.int64]
    busy_s: NDArray[np.float64]  # time of transmission, at the link's rate at that time
    deep_sleep_s: NDArray[np.float64]
    fast_wake_s: NDArray[np.float64]
    slow_s: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.source)

    @property
    def used(self) -> NDArray[np.bool_]:
        """A mask of the links that carried a packet."""
        return np.asarray(self.packets > 0)

    @property
    def between_switches(self) -> NDArray[np.bool_]:
        """A mask of the links that do not end at a node."""
        return np.asarray(self.kind == KINDS.index("network"))


@dataclass(frozen=True)
class Power:
    """Mean power of links as a share of their active power, and the share of time in each state."""

    share: float  # 1: always active
    states: dict[str, float]  # by STATES; the sum is 1
    wakes: int

    @property
    def saved(self) -> float:
        """The share of active power that was not drawn."""
        return 1 - self.share


@dataclass(frozen=True)
class Saving:
    """What a power mode would save if its wake-ups delayed no packet, from the pauses of active links."""

    settings: dict[str, Any]  # its entry in [[savings]], with all defaults that apply
    power: Power  # of all links
    network_power: Power  # of links between switches
    used_power: Power  # of links that carried a packet

    @property
    def mode(self) -> str:
        """The power mode."""
        return str(self.settings["mode"])


@dataclass(frozen=True)
class ProcessTime:
    """The time of a program's processes by activity, in seconds: the mean over the processes.

    The overhead of sends counts as sending, that of receives as waiting.
    """

    computing_s: float
    sending_s: float  # until messages have left
    waiting_s: float  # for messages, answers and collectives

    def share(self, part_s: float) -> float:
        """`part_s` as a share of the whole time."""
        whole = self.computing_s + self.sending_s + self.waiting_s
        return part_s / whole if whole > 0 else 0.0


@dataclass(frozen=True)
class Sampled:
    """How much of a sampled simulation was simulated; the other figures of the result are those of the whole."""

    simulated_s: float  # time that was simulated
    packet_hops: float  # of the whole, estimated
    share: float  # of the packet-hops of the whole that were simulated
    units: tuple[int, int]  # that were measured, and of the whole, over the jobs


@dataclass(frozen=True)
class JobResult:
    """The results of one job."""

    name: str
    processes: int
    started_s: float
    ended_s: float  # for an unfinished job, when the simulation was cut off
    finished: bool  # False: cut off by `end`
    messages: int  # number delivered
    bytes: int
    latency: Latency | None  # of messages: creation to the last byte delivered
    iteration_ends_s: NDArray[np.float64]
    time: ProcessTime | None = None  # for programs
    memory_messages: int = 0  # messages within a node, not included in `messages`
    memory_bytes: int = 0
    remarks: tuple[str, ...] = ()  # what a reader must know
    run_ends_s: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))  # of programs: of each whole run
    together: bool = False  # it ran again and again until every program had ended a run
    estimated_s: float | None = None  # of a run of a sampled job
    tolerance: Tolerance | None = None  # of a program with links always active, if the description wants it
    active_run_time_s: float | None = None  # with links always active; None if not simulated
    slowdown: float | None = None  # against the same job with active links: 0.03 is 3 %; None if not simulated

    @property
    def run_time_s(self) -> float:
        """Time from the start of the job to its last message.

        Of jobs that ran together it is the mean time of a run; of sampled jobs, the estimated time of a run.
        """
        if self.estimated_s is not None:
            return self.estimated_s
        if self.together and self.runs:
            return float(self.run_ends_s[-1] - self.started_s) / self.runs
        return self.ended_s - self.started_s

    @property
    def runs(self) -> int:
        """Whole runs of a program; of a sampled one, those of the whole."""
        if self.estimated_s:
            return int((self.ended_s - self.started_s) / self.estimated_s + 1e-9)
        return len(self.run_ends_s)

    def compared_with(self, active: JobResult) -> JobResult:
        """This job with its slowdown against the same job with links always active."""
        if not (self.finished and active.finished):
            return self
        own = replace(self, tolerance=active.tolerance)
        return replace(own, active_run_time_s=active.run_time_s, slowdown=slowdown_between(self, active))


@dataclass(frozen=True)
class Result:
    """One simulation. `description` has every setting that applies; `lull.simulate` repeats the simulation from it."""

    description: dict[str, Any]
    simulated_s: float
    events: int
    packets: int  # number delivered
    packet_hops: int
    bytes_delivered: int
    messages_created: int
    messages_delivered: int
    stopped: bool  # by the progress function
    ended_early: bool  # by `end`, before everything was delivered
    virtual_channels: int
    queues: str  # the model of queues: explicit or fifo
    why_not_fifo: str
    simulator_cpu_s: float
    packet_latency: Latency | None  # creation of the message to delivery of the packet
    network_latency: Latency | None  # first bit at the source to last bit at the destination
    hops: NDArray[np.int64]  # packets by the number of links they crossed
    jobs: tuple[JobResult, ...]
    links: Links
    power: Power  # of all links
    network_power: Power  # of links between switches
    used_power: Power  # of links that carried a packet
    nodes: int
    link_watts: float | None
    savings: tuple[Saving, ...] = ()  # of the entries of [[savings]], in their order
    sampled: Sampled | None = None  # None: all was simulated
    active: Result | None = field(default=None, repr=False)  # the same with links always active

    @property
    def mode(self) -> str:
        """The power mode."""
        return str(self.description["power"]["mode"])

    @property
    def slowdown(self) -> float | None:
        """The largest slowdown of a job; None without a simulation of active links."""
        found = [job.slowdown for job in self.jobs if job.slowdown is not None]
        return max(found) if found else None

    @property
    def joules(self) -> float | None:
        """Energy of all links; None if the power of a link was not given."""
        if self.link_watts is None:
            return None
        return self.power.share * len(self.links) * self.link_watts * self.simulated_s

    @property
    def executed_s(self) -> float:
        """The time that was simulated; of a sampled simulation, that of the part."""
        return self.simulated_s if self.sampled is None else self.sampled.simulated_s

    @property
    def throughput(self) -> float:
        """Bytes delivered per second and node that sends or receives; of a sampled simulation, in the part."""
        processes = sum(job.processes for job in self.jobs)
        return self.bytes_delivered / self.executed_s / processes if self.executed_s > 0 else 0.0

    @property
    def link_use(self) -> NDArray[np.float64]:
        """Share of time in which each link transmits, at its rate at that time; in the part if it is sampled."""
        return np.asarray(self.links.busy_s / self.executed_s if self.executed_s > 0 else self.links.busy_s)


class TimedJob(Protocol):
    """How long a job took."""

    @property
    def started_s(self) -> float:
        """When it began."""

    @property
    def run_time_s(self) -> float:
        """See JobResult."""

    @property
    def run_ends_s(self) -> Sequence[float] | NDArray[np.float64]:
        """See JobResult."""

    @property
    def together(self) -> bool:
        """See JobResult."""


def slowdown_between(job: TimedJob, active: TimedJob) -> float | None:
    """How much longer `job` takes than the same job with links always active, as a share.

    Jobs that run together end different numbers of runs; the time of as many runs as both have ended is compared.
    """
    runs = min(len(job.run_ends_s), len(active.run_ends_s))
    if job.together and runs:
        taken, least = (float(of.run_ends_s[runs - 1]) - of.started_s for of in (job, active))
    else:
        taken, least = job.run_time_s, active.run_time_s
    return taken / least - 1 if least > 0 else None


def power_of(links: Links, chosen: NDArray[np.bool_], seconds: float, shares: dict[str, float]) -> Power:
    """Mean power of the `chosen` links over `seconds`.

    Args:
        links: All links.
        chosen: Mask of the links that count.
        seconds: Simulated time.
        shares: Power over active power in `fast wake`, `deep sleep` and `slow rate`.
    """
    low = {"fast wake": links.fast_wake_s, "deep sleep": links.deep_sleep_s, "slow rate": links.slow_s}
    sums = {state: float(spent[chosen].sum()) for state, spent in low.items()}
    return mean_power(sums, int(links.wakes[chosen].sum()), seconds * int(chosen.sum()), shares)


def mean_power(sums: dict[str, float], wakes: int, seconds: float, shares: dict[str, float]) -> Power:
    """Mean power of links over `seconds` of all of them together.

    Args:
        sums: Seconds of all of them in each low-power state.
        wakes: Wake-ups of all of them.
        seconds: Simulated time times the number of links.
        shares: Power over active power in each low-power state.
    """
    if seconds <= 0:
        return Power(1.0, {state: float(state == "active") for state in STATES}, 0)
    states = {state: spent / seconds for state, spent in sums.items()}
    active = 1 - sum(states.values())
    share = active + sum(states[state] * shares[state] for state in states)
    return Power(share, {"active": active, **states}, wakes)
