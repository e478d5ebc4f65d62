"""The form of a record: the content of run.json and samples.parquet. A change of meaning increments `SCHEMA`.

Units are in the field names: `_s` seconds, `_j` joules, `_w` watts; bytes are plain counts. Every energy figure has a
kind: see `EnergyKind`, ordered from the most to the least direct.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from lull.base.energy_kind import EnergyKind

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
    """One node that a run used."""

    node: str  # its name
    boot_id: str  # changes with each start of the system
    processor: str  # name of its processor
    cores: int = Field(ge=1)  # hardware threads
    memory_bytes: int = Field(ge=0)  # size of its memory
    kernel: str  # release of its kernel
    clock_error_s: float | None = Field(default=None, ge=0)  # possible error of its clock relative to the first host's


class Channel(Model):
    """One stream of energy readings on one node."""

    name: str  # unique on its node, e.g. "powercap:package-0", "net:eth0", "estimate:package"
    source: str  # its source, e.g. "powercap"
    node: str  # name of its node
    domain: Domain  # what it covers
    kind: EnergyKind  # how the figure is obtained
    interval_s: float = Field(ge=0)  # interval at which the value changes; 0: at every reading
    basis: str  # origin of the figure: a path, or coefficients with their citation


class Energy(Model):
    """Energy of one channel, or of a labelled sum of channels, over a repeat or a region.

    `low_j` and `high_j` bound the systematic uncertainty of the source, which repeats do not reduce.
    """

    node: str  # name of the node
    domain: Domain  # what it covers
    channel: str  # a channel's name, or the sum in words: "package + dram"
    kind: EnergyKind  # how it was obtained
    joules: float = Field(ge=0)  # the energy
    low_j: float = Field(ge=0)  # lower end of the band
    high_j: float = Field(ge=0)  # upper end of the band
    bytes: int | None = Field(default=None, ge=0)  # bytes that crossed the wire, for the domain `wire`
    wraps: int = Field(default=0, ge=0)  # times the counter wrapped around to 0
    gaps: int = Field(default=0, ge=0)  # readings that failed
    resets: int = Field(default=0, ge=0)  # jumps of the counter that cannot be consumption
    stale: int = Field(default=0, ge=0)  # readings that should have changed and did not
    lower_bound: bool = False  # a reset hid part of the energy: the true value is at least this


class IdlePower(Model):
    """Power of one channel, or of a labelled sum of channels, while no process of the program ran on the node."""

    node: str  # name of the node
    domain: Domain  # what it covers
    channel: str  # a channel's name, or the sum in words, as in an energy: "package + dram"
    kind: EnergyKind  # how it was obtained
    watts: float = Field(ge=0)  # mean power
    low_w: float = Field(ge=0)  # systematic band of the source
    high_w: float = Field(ge=0)  # upper end of this band
    seconds: float = Field(gt=0)  # how long it was measured


class Combination(StrEnum):
    """How the figures of several processes are combined into one metric."""

    SUM = "sum"
    MEAN = "mean"  # over processes, with equal weights
    MIN = "min"
    MAX = "max"


class Metric(Model):
    """A figure that the program reported, e.g. the number of updates it made."""

    value: float  # the figure
    unit: str = ""  # its unit; empty for a number
    combination: Combination | None = None  # of the processes' figures; None: the metric describes the run as a whole
    processes: int = Field(default=1, ge=1)  # number of processes that reported it


class RegionShare(Model):
    """A PE's share of a region. It shows which PEs were busy, not which PE used the energy: that is the node's."""

    node: str  # name of the PE's node
    pe: int | None = None  # None: the process was not started by a launcher
    cpu_s: float = Field(ge=0)  # CPU time of the PE in the region
    share: float = Field(ge=0, le=1)  # of the CPU time that all PEs of the node spent in the region; 0 if none did


class Region(Model):
    """A named part of the program. Times are seconds since the repeat began: first begin and last end over all PEs.

    A region entered several times has `count` > 1 and `wall_s` is the sum over its visits of (last end - first begin).
    On several nodes, `wall_s` is that of the node where it is longest, and each node's energy is that of its visits.
    """

    name: str  # its name
    begin_s: float  # first begin
    end_s: float  # last end
    wall_s: float = Field(ge=0)  # time in the region
    cpu_s: float = Field(ge=0)  # CPU time of all PEs in the region
    count: int = Field(ge=1)  # number of visits
    pes: int = Field(ge=1)  # number of PEs that entered it
    energy: list[Energy]  # one per channel
    shares: list[RegionShare] = []  # one per PE


class Rank(Model):
    """One process of a job whose launcher started a `lull measure` for each process."""

    rank: int = Field(ge=0)  # number of the process in the job
    node: str = ""  # empty: unknown
    begin_s: float | None = None  # seconds since the repeat began; None: it never began, or left no report
    end_s: float | None = None  # seconds since the repeat began; None like `begin_s`
    cpu_s: float = Field(default=0, ge=0)  # CPU time of the process
    exit_code: int | None = None  # as in a shell; None: no report
    cpus: str = ""  # hardware threads to which it was bound, as for taskset -c: 0-3,8; empty: unknown


class WaitingRow(Model):
    """The cost of waiting for one operation, of one range of sizes or at one call site, summed over PEs.

    CPU seconds are those that the waiting thread spent in its waits.
    """

    operation: str  # e.g. "put", "get", "barrier", "MPI_Recv"
    site: str = ""  # for MPI: the call site in the program, "FUNCTION+OFFSET" or "FILE+OFFSET"
    up_to_bytes: int = Field(ge=0)  # upper end of the range of sizes, a power of two; 0: no size
    count: int = Field(ge=0)  # number of operations, with or without a wait
    bytes: int = Field(ge=0)  # bytes of these operations
    waits: int = Field(ge=0)  # number of waits that did not end at once
    waited_s: float = Field(ge=0)  # time in these waits
    asleep_s: float = Field(ge=0)  # part of waited_s
    cpu_s: float = Field(ge=0)  # CPU time in these waits
    sleeps: int = Field(ge=0)  # number of sleeps in these waits
    timeouts: int = Field(
        ge=0
    )  # sleeps that ended by LULL_WAIT_TIMEOUT_MS, or after 10 ms, the longest sleep in MPI programs
    missed: int = Field(ge=0)  # sleeps that timed out although the awaited data was there (missed wake-ups)


class RewrittenPuts(Model):
    """Puts to other nodes that the OpenSHMEM runtime rewrote (LULL_TRANSFORM); sums over PEs."""

    coalesced_puts: int = Field(ge=0)  # puts sent in one message with others
    coalesced_bytes: int = Field(ge=0)  # bytes of these
    messages: int = Field(ge=0)  # messages that carried them
    late_messages: int = Field(ge=0)  # messages sent because their deadline had passed (LULL_COALESCE_US)
    copied_puts: int = Field(ge=0)  # blocking puts whose source was copied
    copied_bytes: int = Field(ge=0)  # bytes of these


class TransfersByRdma(Model):
    """Transfers to other nodes that the network carried out without the target's CPU (LULL_RDMA); sums over PEs."""

    puts: int = Field(ge=0)  # number of puts
    put_bytes: int = Field(ge=0)  # bytes of these
    gets: int = Field(ge=0)  # number of gets
    got_bytes: int = Field(ge=0)  # bytes of these
    atomics: int = Field(ge=0)  # fetching atomics
    rings: int = Field(ge=0)  # puts and atomics followed by a message that woke the target PE, which waited for them


class Waiting(Model):
    """The cost of waiting in one OpenSHMEM job, or for the ranks of an MPI job on one node; counted under LULL_STATS.

    It contains no energy. The energy of a row is the processors' energy in the repeat times the row's share of the CPU
    seconds of the PEs, of the kind `derived` or weaker.
    """

    policy: str  # the value of LULL_WAIT
    pes: int = Field(ge=1)  # number of PEs or ranks
    nodes: int = Field(ge=1)  # emulated nodes included
    wall_s: float = Field(ge=0)  # from shmem_init to shmem_finalize, or MPI_Init to MPI_Finalize
    cpu_s: float = Field(ge=0)  # of all PEs in this time, including their progress threads
    progress_cpu_s: float = Field(ge=0)  # of the progress threads
    frequency_changes: int = Field(ge=0)  # changes of a core's frequency by policies with +dvfs
    changing_frequency_s: float = Field(ge=0)  # time spent in these changes
    rows: list[WaitingRow]  # by operation, and by size or call site
    rewritten: RewrittenPuts | None = None  # None: not counted, or no other nodes
    by_rdma: TransfersByRdma | None = None  # None: no network was known to do so, or RDMA was off


class OutputAmount(Model):
    """Files of a simulation's output."""

    files: int = Field(ge=0)  # number of files
    bytes: int = Field(ge=0)  # bytes of these


class SharedOutput(Model):
    """Files that several processes write together, by MPI-IO; sums over processes."""

    calls: int = Field(ge=0, default=0)  # writes of the program
    pieces: int = Field(ge=0, default=0)  # of these: contiguous ranges of the file
    bytes: int = Field(ge=0, default=0)  # of these
    reads: int = Field(ge=0, default=0)  # of the program
    reads_waited: int = Field(ge=0, default=0)  # of these, for pieces that were not written yet
    declined: int = Field(ge=0, default=0)  # calls that the MPI library carried out


class OutputClients(Model):
    """The computing processes of a job whose output is staged; sums over them."""

    processes: int = Field(ge=0)  # number of these processes
    wall_s: float = Field(ge=0)  # from MPI_Init to MPI_Finalize
    compute_s: float  # part of wall_s, neither stalled nor writing
    stall_s: float = Field(ge=0)  # in calls that open or submit a file, or wait for one
    write_s: float = Field(ge=0)  # in writes by the program itself
    cpu_s: float = Field(ge=0)  # CPU time
    handed_over: OutputAmount  # files handed to servers
    wrote_itself: OutputAmount  # files that the program wrote itself
    dropped: OutputAmount  # files dropped because the buffer was full
    too_large: int = Field(ge=0)  # files that the program wrote itself because they exceeded its share of the buffer
    declined: int = Field(ge=0, default=0)  # files of kinds that are not staged
    late: int = Field(ge=0, default=0)  # files still open when MPI ended
    appended: int = Field(ge=0, default=0)  # files that were reopened for changes
    shared: SharedOutput = SharedOutput()  # files written together


class OutputServers(Model):
    """The processes dedicated to writing; sums over them."""

    processes: int = Field(ge=0)  # 0: there are none
    wall_s: float = Field(ge=0)  # run time
    idle_s: float  # waiting for files
    write_s: float = Field(ge=0)  # writing
    cpu_s: float = Field(ge=0)  # CPU time
    written: OutputAmount  # files written
    failed: int = Field(ge=0)  # files that could not be written
    shared_writes: int = Field(ge=0, default=0)  # calls of the system for files that several processes write together


class Output(Model):
    """The cost of the output of one job under `lull stage`.

    It contains no energy. The energy of a role is the processors' energy in the repeat times the role's share of the
    CPU seconds of clients and servers, of the kind `derived` or weaker.
    """

    approach: str  # the value of LULL_STAGE
    nodes: int = Field(ge=1)  # emulated nodes included
    outputs: int = Field(ge=0)  # files of one client
    clients: OutputClients  # computing processes
    servers: OutputServers  # writing processes


class Alternative(Model):
    """One alternative of a choice. Its costs are means, in nanoseconds of a process for each operation."""

    name: str  # its name, e.g. a wait policy
    predicted_ns: float | None = None  # from the machine's constants alone; None: these give no prediction
    corrected_ns: float | None = None  # with the job's corrections at its end; None: unknown
    observed_ns: float | None = None  # mean of the timed operations; None: none was timed
    operations: int = Field(ge=0)  # number of operations that used it


class Choice(Model):
    """The results of a choice of the runtime in one job, summed over processes. With LULL_STATS; for output always.

    The cost of an alternative is the observed one, or else the corrected prediction.
    """

    choice: str  # wait, coalesce, copy-source, rdma-put, rdma-get, route, direct, hand-over or approach
    where: str = ""  # the operations concerned, where operations differ too much for one cost
    per: str  # what an operation is: a put, a get, a wait, an item, a phase, a file, a client
    processes: int = Field(ge=1)  # number of processes that made it
    wall_s: float = Field(ge=0)  # of the job
    switches: int = Field(ge=0)  # number of changes to another alternative
    alternatives: list[Alternative]  # those among which it chose
    regret_s: float = Field(
        ge=0
    )  # sum over alternatives and processes of operations * (cost of one - cost of the best)

    @property
    def regret_share(self) -> float:
        """The regret as a share of the time of all processes."""
        return self.regret_s / (self.processes * self.wall_s) if self.wall_s > 0 else 0.0


class Repeat(Model):
    """One execution of the command.

    On several nodes, `wall_s` is the longest of their times, from the first begin to the last end by the node's clock.
    """

    index: int = Field(ge=0)  # number of the repeat, from 0
    started: datetime  # when the command began
    wall_s: float = Field(ge=0)  # from the begin of the command to its end
    cpu_s: float = Field(ge=0)  # CPU time of the command and what it started
    max_rss_bytes: int = Field(ge=0)  # largest resident memory of a process
    exit_code: int  # as in a shell: 128 + n for signal n
    energy: list[Energy]  # one per channel
    totals: list[Energy]  # per node: the total, which counts nothing twice, and separately the wire
    regions: list[Region] = []  # named parts of the program
    metrics: dict[str, Metric] = {}  # figures that the program reported, by name
    ranks: list[Rank] = []  # empty: the command was started once, not once for each rank
    waiting: list[Waiting] = []  # one per OpenSHMEM job, and per node of each MPI job; empty without LULL_STATS
    output: list[Output] = []  # one per job whose output is staged
    choices: list[Choice] = []  # those of each job
    left_behind: int = Field(default=0, ge=0)  # processes that still ran after the command had ended
    others_cpu_s: float | None = Field(default=None, ge=0)  # CPU time of everything else on the node; None: unknown
    node_cpus: int | None = Field(default=None, ge=1)  # hardware threads of the node; None: unknown
    visits_missing: int = Field(default=0, ge=0)  # visits to regions that processes did not report


def succeeded(repeats: Iterable[Repeat]) -> list[Repeat]:
    """The repeats used in medians and comparisons; failed ones are excluded, since an early failure looks fast."""
    return [repeat for repeat in repeats if repeat.exit_code == 0]


class Run(Model):
    """The content of run.json."""

    schema_version: Literal[2] = Field(default=SCHEMA, alias="schema")  # version of this form
    lull_version: str  # version of Lull that measured
    label: str  # name in tables and plots
    command: list[str]  # words of the command
    created: datetime  # when the record was made
    sampling_hz: float = Field(gt=0)  # readings of the meter per second
    settings: dict[str, str]  # every LULL_* setting in force
    factors: dict[str, str | int | float] = {}  # the point of a study's matrix that this run measures
    hosts: list[Host]  # one per node
    channels: list[Channel]  # one per channel of a node
    idle: list[IdlePower] = []  # per node and channel, if measured; may include node totals
    series: str = ""  # the same in records of commands that ran in turn: repeats of one index ran in one round
    repeats: list[Repeat]  # executions of the command

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True, populate_by_name=True)

    @property
    def succeeded(self) -> list[Repeat]:
        """The repeats used in medians and comparisons."""
        return succeeded(self.repeats)


def is_simulated(run: Run) -> bool:
    """Whether a record is that of a simulation, in which nothing was measured."""
    return bool(run.channels) and all(channel.kind is EnergyKind.SIMULATED for channel in run.channels)
