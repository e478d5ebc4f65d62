"""The form of a record: what run.json and samples.parquet hold. A change of its meaning raises `SCHEMA`.

Units are in the field names: `_s` seconds, `_j` joules, `_w` watts; bytes are plain counts. An energy figure without a
kind does not exist: see `EnergyKind`, ordered from the most to the least direct.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

SCHEMA: Final = 2
RUN_FILE = "run.json"
SAMPLES_FILE = "samples.parquet"

SAMPLES_SCHEMA = pa.schema(
    [
        ("repeat", pa.int32()),
        ("time_s", pa.float64()),
        ("node", pa.string()),
        ("channel", pa.string()),
        ("domain", pa.string()),
        ("kind", pa.string()),
        ("joules", pa.float64()),
    ]
)


class EnergyKind(StrEnum):
    """How an energy figure was obtained, from the most to the least direct."""

    MEASURED = "measured"
    VENDOR_MODEL = "vendor-model"
    DERIVED = "derived"
    ESTIMATED = "estimated"
    SIMULATED = "simulated"


def weakest(kinds: list[EnergyKind]) -> EnergyKind:
    """The kind that labels a sum: its least direct part. `kinds` must not be empty."""
    order = list(EnergyKind)
    return max(kinds, key=order.index)


class Domain(StrEnum):
    """What an energy figure covers."""

    NODE = "node"
    PACKAGE = "package"
    DRAM = "dram"
    GPU = "gpu"
    NIC = "nic"
    WIRE = "wire"


class Model(BaseModel):
    """Base of all parts of a record: unknown fields are errors, infinities and NaN are not written."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class Host(Model):
    """One node a run used."""

    node: str
    boot_id: str
    processor: str
    cores: int = Field(ge=1)
    memory_bytes: int = Field(ge=0)
    kernel: str
    clock_error_s: float | None = Field(default=None, ge=0)  # how far its clock may be off the first host's


class Channel(Model):
    """One stream of energy readings on one node."""

    name: str  # unique on its node, e.g. "powercap:package-0", "net:eth0", "estimate:package"
    source: str  # the source it belongs to, e.g. "powercap"
    node: str
    domain: Domain
    kind: EnergyKind
    interval_s: float = Field(ge=0)  # how often the value changes by itself; 0: at every reading
    basis: str  # where the figure comes from: a path, or coefficients with their citation


class Energy(Model):
    """Energy of one channel, or of a labelled sum of channels, over a repeat or a region.

    `low_j` and `high_j` bound the systematic uncertainty of the source: a band of its own, not shrunk by repeats.
    """

    node: str
    domain: Domain
    channel: str  # a channel's name, or the sum in words: "package + dram"
    kind: EnergyKind
    joules: float = Field(ge=0)
    low_j: float = Field(ge=0)
    high_j: float = Field(ge=0)
    bytes: int | None = Field(default=None, ge=0)  # what crossed the wire, for the domain `wire`
    wraps: int = Field(default=0, ge=0)
    gaps: int = Field(default=0, ge=0)
    resets: int = Field(default=0, ge=0)
    stale: int = Field(default=0, ge=0)
    lower_bound: bool = False  # a reset hid part of it: the truth is at least this


class IdlePower(Model):
    """Power of one channel, or of a labelled sum of channels, while nothing of the program ran on the node."""

    node: str
    domain: Domain
    channel: str  # as in an energy: a channel's name, or the sum in words: "package + dram"
    kind: EnergyKind
    watts: float = Field(ge=0)
    low_w: float = Field(ge=0)  # systematic band of the source
    high_w: float = Field(ge=0)
    seconds: float = Field(gt=0)  # how long it was measured


class Combination(StrEnum):
    """How the figures of several processes become one metric."""

    SUM = "sum"
    MEAN = "mean"  # over processes, each counting the same
    MIN = "min"
    MAX = "max"


class Metric(Model):
    """A figure the program reported itself, e.g. the number of updates it made."""

    value: float
    unit: str = ""
    combination: Combination | None = None  # of several processes' figures; None: it is of the run as a whole
    processes: int = Field(default=1, ge=1)  # that reported it


class RegionShare(Model):
    """What one PE did in a region. It tells who was busy there, not whose the energy was: that is the node's."""

    node: str
    pe: int | None = None  # None: it was not started by a launcher
    cpu_s: float = Field(ge=0)
    share: float = Field(ge=0, le=1)  # of the CPU time that all PEs of the node spent in the region; 0 when none did


class Region(Model):
    """A named part of the program. Times are seconds since the repeat began, over all PEs: first begin, last end.

    A region entered several times has `count` > 1 and `wall_s` is the sum over its visits of (last end - first begin).
    On several nodes `wall_s` is that of the node where it is longest, and each node's energy is that of its own visits.
    """

    name: str
    begin_s: float
    end_s: float
    wall_s: float = Field(ge=0)
    cpu_s: float = Field(ge=0)  # CPU time of all PEs inside it
    count: int = Field(ge=1)
    pes: int = Field(ge=1)
    energy: list[Energy]
    shares: list[RegionShare] = []  # a PE each


class Rank(Model):
    """One process of a job in which each process was started below a `lull measure` of its own."""

    rank: int = Field(ge=0)
    node: str = ""  # empty: it is not known where it ran
    begin_s: float | None = None  # since the repeat began; None: it never began, or left no report
    end_s: float | None = None
    cpu_s: float = Field(default=0, ge=0)
    exit_code: int | None = None  # as a shell would see it; None: no report


class WaitingRow(Model):
    """What waiting for one operation, of one range of sizes or at one call site, cost; summed over PEs.

    CPU seconds are those of the waiting thread, in its waits.
    """

    operation: str  # e.g. "put", "get", "barrier", "MPI_Recv"
    site: str = ""  # of MPI: where it is called, "FUNCTION+OFFSET" or "FILE+OFFSET" of the program
    up_to_bytes: int = Field(ge=0)  # the end of its range of sizes, a power of two; 0: it has no size
    count: int = Field(ge=0)  # of operations, waited for or not
    bytes: int = Field(ge=0)
    waits: int = Field(ge=0)  # that were not over at once
    waited_s: float = Field(ge=0)
    asleep_s: float = Field(ge=0)  # of the seconds waited
    cpu_s: float = Field(ge=0)
    sleeps: int = Field(ge=0)
    timeouts: int = Field(
        ge=0
    )  # sleeps that ended by LULL_WAIT_TIMEOUT_MS, or after the 10 ms that MPI programs sleep at most
    missed: int = Field(ge=0)  # time-outs that found what they waited for: a wake-up nobody sent


class RewrittenPuts(Model):
    """Puts to other nodes that the OpenSHMEM runtime rewrote (LULL_TRANSFORM); sums over PEs."""

    coalesced_puts: int = Field(ge=0)  # that left in a message with others
    coalesced_bytes: int = Field(ge=0)
    messages: int = Field(ge=0)  # in which they left
    late_messages: int = Field(ge=0)  # of these, such that left by their deadline (LULL_COALESCE_US)
    copied_puts: int = Field(ge=0)  # blocking ones whose source was copied
    copied_bytes: int = Field(ge=0)


class TransfersByRdma(Model):
    """Transfers to other nodes that the network carried out by itself (LULL_RDMA); sums over PEs."""

    puts: int = Field(ge=0)
    put_bytes: int = Field(ge=0)
    gets: int = Field(ge=0)
    got_bytes: int = Field(ge=0)
    atomics: int = Field(ge=0)  # of which the old value was wanted
    rings: int = Field(ge=0)  # puts and atomics that woke the PE they went to, by a message: it waited for them


class Waiting(Model):
    """What the waiting of one OpenSHMEM job, or of the ranks of one node of an MPI job, cost; counted under LULL_STATS.

    It holds no energy: that of a row is the processors' energy in the repeat times the row's share of the CPU seconds
    of the PEs, of a kind no better than `derived`.
    """

    policy: str  # as LULL_WAIT names it
    pes: int = Field(ge=1)  # or ranks
    nodes: int = Field(ge=1)  # emulated ones count
    wall_s: float = Field(ge=0)  # from shmem_init to shmem_finalize, or MPI_Init to MPI_Finalize
    cpu_s: float = Field(ge=0)  # of all PEs in this time, their progress threads included
    progress_cpu_s: float = Field(ge=0)  # of their progress threads
    frequency_changes: int = Field(ge=0)  # of cores, by the policies with +dvfs
    changing_frequency_s: float = Field(ge=0)
    rows: list[WaitingRow]
    rewritten: RewrittenPuts | None = None  # None: it was not counted, or there were no other nodes
    by_rdma: TransfersByRdma | None = None  # None: no network was known to do so, or it was not to


class OutputAmount(Model):
    """Files of a simulation's output."""

    files: int = Field(ge=0)
    bytes: int = Field(ge=0)


class OutputClients(Model):
    """The processes that compute, of a job whose output is staged; sums over them."""

    processes: int = Field(ge=0)
    wall_s: float = Field(ge=0)
    compute_s: float  # of that, neither stalled nor writing
    stall_s: float = Field(ge=0)  # in calls that begin or hand over a file, or wait for one
    write_s: float = Field(ge=0)  # by the program itself
    cpu_s: float = Field(ge=0)
    handed_over: OutputAmount
    wrote_itself: OutputAmount
    dropped: OutputAmount  # the buffer was full
    too_large: int = Field(ge=0)  # files among those it wrote itself: larger than its share of the buffer
    declined: int = Field(ge=0, default=0)  # files of kinds that are not staged
    late: int = Field(ge=0, default=0)  # files that were open when MPI ended
    appended: int = Field(ge=0, default=0)  # files that were opened again to be changed


class OutputServers(Model):
    """The processes set aside to write; sums over them."""

    processes: int = Field(ge=0)  # 0: there are none
    wall_s: float = Field(ge=0)
    idle_s: float
    write_s: float = Field(ge=0)
    cpu_s: float = Field(ge=0)
    written: OutputAmount
    failed: int = Field(ge=0)  # files that could not be written


class Output(Model):
    """What the output of one job cost, under `lull stage`.

    It holds no energy: that of a role is the processors' energy in the repeat times its share of the CPU seconds of
    clients and servers, of a kind no better than `derived`.
    """

    approach: str  # as LULL_STAGE names it
    nodes: int = Field(ge=1)  # emulated ones count
    outputs: int = Field(ge=0)  # files of a client
    clients: OutputClients
    servers: OutputServers


class Alternative(Model):
    """One way in which a choice may be made. Its costs are means, in nanoseconds of a process for an operation."""

    name: str
    predicted_ns: float | None = None  # by the constants of the machine alone; None: they do not say
    corrected_ns: float | None = None  # by what the job had measured at its end; None: nobody knows
    observed_ns: float | None = None  # of those that were timed; None: none was
    operations: int = Field(ge=0)  # that took it


class Choice(Model):
    """What a choice of the runtime came to, in one job; summed over processes. Under LULL_STATS; of output always.

    The cost of an alternative is what was observed, or else what is predicted with corrections.
    """

    choice: str  # wait, coalesce, copy-source, rdma-put, rdma-get, route, direct, hand-over or approach
    where: str = ""  # which of its operations; they are told apart where they are too unlike for one cost
    per: str  # what an operation is: a put, a get, a wait, an item, a phase, a file, a client
    processes: int = Field(ge=1)
    wall_s: float = Field(ge=0)  # of the job
    switches: int = Field(ge=0)  # how often another alternative took over
    alternatives: list[Alternative]
    regret_s: float = Field(
        ge=0
    )  # over alternatives and processes, operations times what one cost more than the best of them

    @property
    def regret_share(self) -> float:
        """Of the time of all processes."""
        return self.regret_s / (self.processes * self.wall_s) if self.wall_s > 0 else 0.0


class Repeat(Model):
    """One execution of the command.

    On several nodes `wall_s` is the longest of their times, each from the first begin to the last end by its own clock.
    """

    index: int = Field(ge=0)
    started: datetime
    wall_s: float = Field(ge=0)
    cpu_s: float = Field(ge=0)
    max_rss_bytes: int = Field(ge=0)
    exit_code: int  # as a shell would see it: 128 + n for signal n
    energy: list[Energy]  # one per channel
    totals: list[Energy]  # per node: the energy total that counts nothing twice, and the wire beside it
    regions: list[Region] = []
    metrics: dict[str, Metric] = {}
    ranks: list[Rank] = []  # empty: the command was started once, not once for each rank
    waiting: list[Waiting] = []  # of each OpenSHMEM job in it, and each node of each MPI job; empty: without LULL_STATS
    output: list[Output] = []  # of each job in it whose output is staged
    choices: list[Choice] = []  # of each job in it
    left_behind: int = Field(default=0, ge=0)  # processes that ran on when the command had ended
    others_cpu_s: float | None = Field(default=None, ge=0)  # CPU time of everything else on the node; None: not known
    visits_missing: int = Field(default=0, ge=0)  # to regions, by processes that left no account of them


def succeeded(repeats: Iterable[Repeat]) -> list[Repeat]:
    """The repeats that count in medians and comparisons: a command that fails early would look fast."""
    return [repeat for repeat in repeats if repeat.exit_code == 0]


class Run(Model):
    """Everything in run.json."""

    schema_version: Literal[2] = Field(default=SCHEMA, alias="schema")
    lull_version: str
    label: str
    command: list[str]
    created: datetime
    sampling_hz: float = Field(gt=0)
    settings: dict[str, str]  # every LULL_* setting in force
    factors: dict[str, str | int | float] = {}  # the point of a study's matrix this run stands for
    hosts: list[Host]
    channels: list[Channel]
    idle: list[IdlePower] = []  # per node and channel, when it was measured; node totals may stand among them
    repeats: list[Repeat]

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True, populate_by_name=True)

    @property
    def succeeded(self) -> list[Repeat]:
        """The repeats that count."""
        return succeeded(self.repeats)


def is_simulated(run: Run) -> bool:
    """Whether a record is of a simulation: nothing in it was measured."""
    return bool(run.channels) and all(channel.kind is EnergyKind.SIMULATED for channel in run.channels)
