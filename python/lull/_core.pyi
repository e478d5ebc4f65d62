"""The native module: settings, the meter, shares of energy, frequencies, the network simulator, output, traces.

It binds the C++ rooms base/, meter/, account/, wait/, netsim/, model/ and trace/.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

class CoreError(Exception):
    """A lull::error: one line with the action, what was found, and the fix."""

class CoreUsageError(CoreError):
    """A lull::usage_error: a setting, a file that a setting names, or an argument is invalid."""

class Setting:
    """One row of the settings table."""

    variable: str
    type: str  # "text" | "choice" | "integer" | "real" | "size"
    default: str
    choices: str  # "a|b|c" for a choice, "min..max" for numbers, otherwise ""
    meaning: str
    value: str  # the text in force, even if it is invalid
    origin: str  # "default" | "environment"
    problem: str  # why the value in force is invalid; "" if it is valid

def settings() -> list[Setting]:
    """Every setting of Lull, in the table's order."""

def unknown_variables() -> list[tuple[str, str]]:
    """(variable, nearest known one) for every LULL_* variable in the environment that is not a setting."""

class Channel:
    """One stream of energy readings."""

    name: str  # unique on the node, e.g. "powercap:package-0"
    source: str
    domain: str  # node | package | dram | gpu | nic | wire
    kind: str  # measured | vendor-model | derived | estimated
    interval_s: float
    basis: str  # path, or coefficients with citation

class Source:
    """One energy source of this machine, readable or not."""

    name: str  # "powercap", "nvml", "net", ...
    kind: str
    unit: str  # unit of its raw values, e.g. "uJ", "bytes"
    interval_s: float
    range: str  # e.g. "wraps at 262143328850 uJ"; "" if it does not wrap
    permission: str  # permission needed to read it, e.g. "root since Linux 5.10"
    readable: bool
    used: bool  # whether the sampler uses it by default on this machine
    reason: str  # why it is not readable, or not used; "" otherwise
    fix: str  # the fix, in one line; "" if none is known
    left_out: str  # channels that do not count, and why; "" if all do
    channels: list[Channel]

def sources(sysroot: str = "/") -> list[Source]:
    """All sources that Lull knows, in order of preference, with their state below `sysroot`."""

def share_of_command(
    channels: Sequence[tuple[str, str, str, float, float, float, float | None]],
    seconds: float,
    cpu_s: float,
    others_cpu_s: float,
    command_cpus: int,
    cpus: int,
) -> list[tuple[float, float, float, float]]:
    """(joules, low_j, high_j, held_j) of a command for each channel of a node, given as (name, domain, kind, joules,
    low_j, high_j, idle_w or None), which count nothing twice.
    """

def counted(channels: Sequence[tuple[str, str, str, float, float]]) -> list[int]:
    """Indices of the channels of one node that make up its total, which counts nothing twice.

    Args:
        channels: Name, domain, kind, and the bounds of the counted joules of each.

    Raises:
        CoreError: A domain or kind is unknown.
    """

def calibration_toml(idle: tuple[float, float], full: tuple[float, float], meter: str, when: str) -> str:
    """The table [calibration] of a site file: the line through two points (utilisation 0 to 1, watts) of `meter`.

    Raises:
        CoreError: The two loads differ by less than a tenth, or the line does not rise.
    """

def core_shares(sysroot: str, cpus: Sequence[int], shares: int) -> list[list[int]]:
    """The hardware threads of each of so many shares: whole cores, if there are enough.

    Args:
        sysroot: Root below which sys/ is read.
        cpus: The hardware threads to distribute.
        shares: Their number.
    """

def frequency_way(sysroot: str, cores: Sequence[int]) -> tuple[str, str]:
    """How to lower the frequency of a core in waits: the file below cpufreq/, and why it cannot be lowered; one is "".

    Args:
        sysroot: Root below which sys/ is read.
        cores: The hardware threads on which the process may run: all of one core.
    """

class ChannelTotal:
    """The counts of one channel between start() and stop()."""

    joules: float
    low_j: float
    high_j: float
    bytes: int | None  # for the domain wire
    wraps: int
    gaps: int
    resets: int
    stale: int
    lower_bound: bool

class Samples:
    """The samples of a sampler. Row i of `joules` is cumulative since start(), at `time_ns[i]` (CLOCK_MONOTONIC)."""

    time_ns: NDArray[np.int64]  # shape (n,), n >= 2: the first at start(), the last at stop()
    joules: NDArray[np.float64]  # shape (n, channels), never decreasing
    totals: list[ChannelTotal]  # one per channel
    complaints: list[str]  # reasons of gaps, a line for each source that knows

class Sampler:
    """Reads the meter at a fixed rate in a separate thread, without holding the GIL.

    Args:
        sysroot: Root below which sys/ and proc/ are read.
        hz: Samples per second, 0.1 to 100.
        sources: Names of the sources to use; empty: those with `used`.

    Raises:
        CoreError: A named source is not readable, or hz is out of range.
    """

    def __init__(self, sysroot: str = "/", hz: float = 10.0, sources: Sequence[str] = ()) -> None: ...
    @property
    def channels(self) -> list[Channel]: ...
    @property
    def not_read(self) -> list[str]:
        """A line for each source that a setting configures but that is not readable."""
    def start(self) -> None:
        """Start a new series; the first sample is taken before this returns."""
    def stop(self) -> Samples:
        """Take the last sample, end the thread and return the series. A sampler can be started again."""
    def latest(self) -> tuple[int, list[float], list[int | None], list[bool]]:
        """(time_ns; per channel joules and bytes since start(), and whether it could not be read) of the newest sample,
        while it runs.
        """

def now_ns() -> int:
    """CLOCK_MONOTONIC in nanoseconds: the clock of samples and regions."""

class TopologyParameter:
    """One parameter of a topology: a whole number, or a list of them."""

    name: str
    meaning: str
    default: list[int]
    allowed: str  # in words
    list: bool

class Topology:
    """One topology of the simulator."""

    name: str
    meaning: str
    parameters: list[TopologyParameter]
    small: dict[str, list[int]]  # parameters of a network that fits a drawing

class TopologyPreset:
    """A named set of parameters of a topology."""

    name: str
    topology: str
    meaning: str
    parameters: dict[str, list[int]]

class TopologyMetrics:
    """The metrics of a network."""

    nodes: int
    switches: int
    radix: int  # most ports of a switch
    node_cables: int
    switch_cables: int
    diameter: int  # most links of a shortest path, including those of the nodes
    mean_links: float  # mean of shortest paths over all ordered pairs of different nodes
    bisection: int  # links in one direction

class TopologyLinks:
    """The cables of a network, each once, and the switches of nodes."""

    from_switch: NDArray[np.uint32]
    to_switch: NDArray[np.uint32]
    attach_switch: NDArray[np.uint32]  # of every node

def topologies() -> list[Topology]:
    """Every topology, in the table's order."""

def topology_presets() -> list[TopologyPreset]:
    """Every named set of parameters."""

def topology_nodes(name: str, parameters: Mapping[str, Sequence[int]]) -> int:
    """The number of nodes.

    Raises:
        CoreUsageError: There is no such topology, or its parameters contradict each other; also for the next functions.
    """

def topology_metrics(name: str, parameters: Mapping[str, Sequence[int]]) -> TopologyMetrics:
    """Counts, diameter, mean links and bisection, computed by walking the network."""

def topology_links(name: str, parameters: Mapping[str, Sequence[int]]) -> TopologyLinks:
    """The cables between switches, and the switch of each node."""

class NetworkChoice:
    """A topology with all its parameters; `preset` is "" if none was named."""

    name: str
    preset: str
    parameters: dict[str, list[int]]

class SimulationKey:
    """One key of a simulation's file, in words."""

    name: str
    meaning: str
    default: str
    allowed: str
    when: str  # condition in words; "" for always
    only: dict[str, list[str]]  # the condition: other keys of the table -> their values

class SimulationTable:
    """One table of a simulation's file; `name` is "" for the keys before all tables."""

    name: str
    keys: list[SimulationKey]

class PowerPreset:
    """A link technology: its defaults for keys of [power], and its modes."""

    name: str
    modes: list[str]
    values: dict[str, str | float]
    must_be_given: list[str]

class DescribedJob:
    """The number of processes of a job, and where they run."""

    name: str
    processes: int | None  # None: determined by `nodes`, or by what other jobs leave
    per_node: int  # processes on each node; the last node may have fewer
    mapping: str  # linear or random; "" if `nodes` are listed
    nodes: list[int]

class SimulationDescription:
    """A whole, valid description of a simulation."""

    content: dict[str, Any]  # the content of the TOML, with all defaults that apply
    seed: int
    end_ps: int | None
    cable_delay_ps: int
    bandwidth: float  # of a link, bytes/s
    nic_bandwidth: float  # of a node's link, bytes/s
    input_buffer: int  # bytes
    network: NetworkChoice
    mode: str  # the power mode
    hold_ps: int  # 0 if the mode has none
    link_watts: float | None
    jobs: list[DescribedJob]

def simulation_tables() -> list[SimulationTable]:
    """Every table of a simulation's file, without the parameters of topologies."""

def power_modes() -> list[str]:
    """The names of all power modes, in the table's order."""

def power_presets() -> list[PowerPreset]:
    """Every named link technology."""

def nearest(wrong: str, right: Sequence[str]) -> str:
    """A fix for an unknown name: the nearest known one, or all."""

def read_network_choice(content: object, asked: str) -> NetworkChoice:
    """Read a single [topology]; raises like `read_simulation`."""

def read_simulation(content: object, asked: str) -> SimulationDescription:
    """Check a whole description.

    Args:
        content: The content of the TOML file: nested tables.
        asked: The action, with which errors begin.

    Raises:
        CoreUsageError: There is a mistake; the line has the first: key, value, allowed values.
    """

def check_placement(description: SimulationDescription, nodes: Sequence[Sequence[int]]) -> None:
    """Check that every job can run with its processes on these nodes.

    Raises:
        CoreUsageError: A job cannot run.
    """

class SimulatedLinks:
    """The results of every link, one direction each; times in picoseconds."""

    from_end: NDArray[np.uint32]
    to_end: NDArray[np.uint32]
    kind: NDArray[np.uint8]  # 0 injection, 1 ejection, 2 network
    packets: NDArray[np.uint64]
    bytes: NDArray[np.uint64]
    wakes: NDArray[np.uint64]
    deep_sleep_ps: NDArray[np.int64]
    fast_wake_ps: NDArray[np.int64]
    slow_ps: NDArray[np.int64]
    busy_ps: NDArray[np.int64]

class LatencyHistogram:
    """Latencies counted in bins; bin i covers lower_edges_ps[i] to lower_edges_ps[i + 1]."""

    counts: NDArray[np.uint64]
    lower_edges_ps: list[int]  # one more than counts
    count: int
    sum_ps: float
    least_ps: int
    most_ps: int
    batch_means_ps: NDArray[np.float64]  # means of consecutive batches
    batch_counts: NDArray[np.uint64]  # how many latencies each has

class ProcessTime:
    """The time of a program's processes by activity, in picoseconds, summed over them."""

    computing_ps: float
    sending_ps: float
    waiting_ps: float

class CriticalPath:
    """What the longest path of a program consists of."""

    computing_ps: float
    sending_ps: float
    latency_ps: float
    queueing_ps: float
    memory_ps: float
    messages: int
    memory_messages: int
    switch_cables: int

class JobTolerance:
    """How much longer messages may take until a program is so much slower."""

    slowdown: float
    run_time_ps: float
    steps: int
    path: CriticalPath
    bandwidth: float  # of nodes, as a share of theirs, that is enough; 0: any
    delays: list[tuple[str, float, float, list[tuple[float, float]]]]  # of, growth, most, and run times by delay
    # By the entries of [[savings]]: slowdown and saving, the shortest hold, and slowdown and saving with that.
    sleeps: list[tuple[float, float, int, float, float]]

class SimulatedJob:
    """The results of one job."""

    name: str
    started_ps: int
    ended_ps: int
    messages: int  # number delivered
    bytes: int
    message_latency: LatencyHistogram
    iteration_ends_ps: NDArray[np.int64]
    sampled: SampledJob | None
    tolerance: JobTolerance | None
    run_ends_ps: NDArray[np.int64]  # of programs: when the last process ended each run
    time: ProcessTime | None  # for programs
    memory_messages: int  # messages within a node, not included in `messages`
    memory_bytes: int
    remarks: list[str]

class SampledJob:
    """A whole run of a job, estimated from a sample of its units."""

    run_time_ps: float
    computing_ps: float  # of all processes
    sending_ps: float  # of all processes
    units: list[tuple[int, int, int, float, float]]  # kind; number in a run; measured; mean and deviation of times, ps

class SampledRun:
    """The whole of a sampled simulation."""

    time_ps: float  # until each job has ended its runs
    packet_hops: float
    used: list[tuple[float, float, int]]  # as in SimulatedSaving
    unused: list[tuple[float, float, int]]

class SimulatedSaving:
    """What a power mode would have saved if its wake-ups delayed no packet, by kind of links (SimulatedLinks.kind)."""

    used: list[tuple[float, float, int]]  # of links that carried a packet: ps in deep sleep, in fast wake; wake-ups
    unused: list[tuple[float, float, int]]  # of the others
    shares: dict[str, float]  # power over active power in each low-power state

class Simulated:
    """The result of a simulation."""

    ended_ps: int
    events: int
    packets: int
    packet_hops: int
    packets_injected: int
    bytes_injected: int
    bytes_delivered: int
    messages_created: int
    messages_delivered: int
    loop_wall_s: float
    loop_cpu_s: float
    setup_cpu_s: float
    stopped: bool
    virtual_channels: int
    fifo: bool
    why_not_fifo: str
    window_ps: int
    packet_latency: LatencyHistogram
    network_latency: LatencyHistogram
    hops: NDArray[np.uint64]
    jobs: list[SimulatedJob]
    links: SimulatedLinks
    savings: list[SimulatedSaving]  # of the power modes in [[savings]]
    sampled: SampledRun | None
    shares: dict[str, float]  # power over active power in each low-power state

def is_goal(path: str) -> bool:
    """Whether the content of a file is GOAL, text or binary; False if it cannot be read."""

def read_goal(path: str, progress: Callable[[int, int], bool] | None = None) -> None:
    """Read a GOAL file without holding the GIL; simulations of it then find it in memory.

    Args:
        path: The file.
        progress: Called regularly with (bytes read, size); if it returns False, the reading ends.

    Raises:
        CoreError: It is no GOAL file, or wrong; the line names the place.
    """

class GoalWritten:
    ranks: int
    operations: int
    remarks: list[str]  # of the trace: what is not replayed

def write_goal(trace: str, path: str, progress: Callable[[int, int], bool] | None = None) -> GoalWritten:
    """Write an OTF2 trace as a GOAL text, or nothing at all, without holding the GIL.

    Args:
        trace: The folder of the archive, or its .otf2 file.
        path: The file, which is replaced.
        progress: Called regularly with (done, total), first of events, then of ranks; False ends it with an error.

    Raises:
        CoreError: The trace cannot be read or has one-sided operations, or the file cannot be written.
    """

def read_trace(path: str, iteration: str = "", progress: Callable[[int, int], bool] | None = None) -> None:
    """Convert an OTF2 trace without holding the GIL; simulations of it then find it converted.

    Args:
        path: The folder of the archive, or its .otf2 file.
        iteration: The region whose end ends an iteration; "" for none.
        progress: Called regularly with (events read, total of events); if it returns False, the conversion ends.

    Raises:
        CoreError: The trace cannot be read or replayed, or the conversion was stopped.
    """

def simulate(
    description: SimulationDescription,
    nodes: Sequence[Sequence[int]],
    progress: Callable[[int, int, int, int], bool] | None = None,
) -> Simulated:
    """Run one simulation without holding the GIL.

    Args:
        description: The description of the simulation.
        nodes: The nodes of the processes of each job.
        progress: Called with (simulated picoseconds, events, messages done, messages expected or 0) about ten times per
            second; if it returns False, the simulation ends with the results so far. A signal that raises also ends it.

    Raises:
        CoreUsageError: The description contradicts itself.
        CoreError: The network deadlocks.
    """

class FittedPiece:
    """LogGP's terms for messages from a size on: `terms` are fitted to medians, quartiles are those of single rounds.

    The terms are latency, send, receive, gap, per byte, alone per byte, send per byte, receive per byte, in ns.
    """

    from_bytes: float
    worst_error: float
    terms: list[float]
    low: list[float]
    high: list[float]

def fit_transfer(rounds: Sequence[Sequence[tuple[float, ...]]]) -> list[FittedPiece]:
    """Fit the cost of messages piecewise by size, to rounds of (bytes, one way, send, receive, gap); sizes ascend."""

def stream_ns(pieces: Sequence[tuple[float, Sequence[float]]], bytes: float, messages: float) -> float:
    """Time of successive messages of one size, in ns, until the receiver knows of the last; a single one is alone.

    Args:
        pieces: (from bytes, terms as in `FittedPiece`), ascending.
        bytes: Size of each message.
        messages: Number of messages, 1 or more.

    Raises:
        CoreUsageError: There is no piece.
    """

class StorageRates:
    """The rates of a storage for writers."""

    bytes_per_s: float  # of all writers, without mutual interference
    writer_bytes_per_s: float
    writers_at_half_speed: float  # infinite if no number of writers gets half

def storage_of(seen: Sequence[tuple[int, float]]) -> StorageRates:
    """Fit the rates to pairs of (writers, their total bytes/s)."""

Band: TypeAlias = tuple[float, float, float]  # low, mid, high
MeasuredWait: TypeAlias = tuple[float, Band, Band]  # length, wake-up latency and CPU time, ns

def policy_change(
    seen: Sequence[tuple[float, float]],
    present: Sequence[MeasuredWait],
    other: Sequence[MeasuredWait],
    processes: float,
    nodes: float,
    idle_watts: Band,
    watts_of_core: Band,
) -> tuple[Band, Band]:
    """Changes of a run's seconds and joules with another wait policy; `seen`: (waits, ns waited) of similar waits."""

def judge(
    present: tuple[Band, Band], change: tuple[Band, Band], objective: str, slowdown: float, least_gain: float
) -> str:
    """Whether a change of seconds and joules is "better", "no better", "unsure" or "too slow".

    A slowdown that is not negative is the most that saving energy may cost, as a share.
    """

def gain_of(present: tuple[Band, Band], change: tuple[Band, Band], objective: str) -> Band:
    """The relative change of the objective; below 0 is better."""

class Constant:
    """One row of the table of a machine's constants."""

    name: str  # GROUP.MEMBER, as in the [constants] of a machine file
    whole: bool  # whether it is a whole number
    default: float
    least: float
    most: float
    unit: str
    meaning: str
    origin: str  # "measured" | "chosen"
    because: str  # what repeats the measurement, or the reason of the choice
    figure: str  # figure of the machine file by which lull calibrate sets it; "" if it does not
    unmeasured: str  # why lull calibrate does not set it; "" if it does

def constants() -> list[Constant]:
    """Every constant of a machine, in the table's order."""

def problem_of_constants(given: Sequence[tuple[str, float]]) -> str:
    """The mistake in the [constants] of a machine file, given by name; "" if there is none."""

def constant_here(name: str) -> float:
    """A constant of this machine, according to LULL_MACHINE.

    Raises:
        CoreUsageError: There is no such constant, or the machine file is wrong.
    """

def machine_file_of_this_host() -> str:
    """The path of this host's file from `lull calibrate`; "" if there is no home folder."""

class OutputMachine:
    """The properties of a machine on which the output of a simulation depends; one process runs on each core."""

    nodes: int
    cores: int  # per node
    storage_bytes_per_s: float  # of all writers
    writer_bytes_per_s: float  # of one writer
    writers_at_half_speed: float  # number of writers that get half of the storage's rate; infinite if no number does
    link_bytes_per_s: float  # per node
    copy_bytes_per_s: float  # per core
    computing_use: float  # busy share of a computing core
    writing_use: float
    waiting_use: float
    idle_node_watts: float
    busy_core_watts: float  # additional power of a busy core
    @property
    def least_gain(self) -> float:
        """The least predicted gain that is worth a change, as a share."""

class OutputSimulation:
    """A simulation that writes output."""

    core_seconds_per_step: float  # sum over all cores
    steps: int
    steps_per_output: int
    bytes_per_output: float  # sum over all processes

class OutputRun:
    """The measured cost of a run's output: seconds and bytes are sums over the processes of a role."""

    nodes: int
    clients: int
    servers: int
    outputs: float
    compute_s: float
    client_write_s: float
    client_cpu_s: float
    server_write_s: float
    server_cpu_s: float
    handed_over_bytes: float
    wrote_itself_bytes: float
    dropped_bytes: float

class OutputChoice:
    """The prediction for one approach to write the output."""

    way: str  # the approach, as in LULL_STAGE
    seconds: float
    cpu_use: float  # of all cores, 0 to 1
    watts: float
    joules: float
    stall_seconds_per_output: float  # time in which a process of the simulation does not compute
    write_seconds_per_output: float
    def cost(self, objective: str) -> float:
        """The value of the objective: seconds, joules, or their product."""

def output_ways(machine: OutputMachine) -> list[str]:
    """Every approach, as in LULL_STAGE, that leaves a process for computing."""

def choose_output(
    machine: OutputMachine, simulation: OutputSimulation, ways: Sequence[str], objective: str = "time"
) -> list[OutputChoice]:
    """Predict the cost of each approach in `ways`, the best first.

    Args:
        machine: The machine.
        simulation: The simulation.
        ways: Some of `output_ways(machine)`.
        objective: "time", "energy" or "edp", their product.

    Raises:
        CoreUsageError: An approach leaves no process for computing, or there is no such objective.
    """

def output_case_of(runs: Sequence[OutputRun]) -> tuple[OutputMachine, OutputSimulation] | None:
    """The machine and the simulation according to the first run, with a step per output; None if it wrote nothing.

    All runs together show how the rate of the storage depends on the number of writers.
    """

def assumed_simulation(machine: OutputMachine) -> OutputSimulation:
    """The assumptions about an unknown simulation."""

HAS_OTF2: bool  # the rest of this file exists only if it is true

class TraceConversion:
    """The result of converting the recordings of a run."""

    records: int
    events: int
    processes: int
    hosts: int
    crossings: int  # number of messages used to synchronize the clocks of hosts
    too_early: int  # of these, messages that still arrive before they were sent
    remarks: list[str]  # what is missing, in lines

class TraceMerging:
    """The result of merging the recordings of a run."""

    recordings: int  # by one library of one process each
    logs: int  # one for each thread that recorded
    classes: int  # logs that differ by laws only are one class
    records: int
    bytes: int  # size of the file
    call_bytes: int  # of these, calls without their times
    remarks: list[str]  # what is missing, in lines

class TraceProcess:
    """One process of a trace."""

    name: str
    host: str
    paradigm: str
    rank: int  # -1 outside a job

class TraceRegion:
    """One function or region of a trace."""

    name: str
    paradigm: str  # mpi | shmem | user | program | other

class TraceMetric:
    """One metric of a trace."""

    name: str
    unit: str

class TraceAnalysis:
    """The analysis of a trace; arrays have an entry or a row per process unless noted otherwise."""

    seconds: float
    begin_ns: int  # since 1970; 0 if unknown
    events: int
    bins: int
    remarks: list[str]  # what is missing in a merged trace, in lines
    threads: int
    processes: list[TraceProcess]
    regions: list[TraceRegion]
    metrics: list[TraceMetric]
    communicators: int
    windows: int
    state_seconds: NDArray[np.float64]  # process, state
    binned_seconds: NDArray[np.float32]  # process, bin, state
    message_bytes_in_bins: NDArray[np.uint64]
    collective_bytes_in_bins: NDArray[np.uint64]
    metrics_in_bins: NDArray[np.float64]  # metric, bin; NaN if there is none
    sent: NDArray[np.uint64]
    sent_bytes: NDArray[np.uint64]
    received: NDArray[np.uint64]
    received_bytes: NDArray[np.uint64]
    gaps: NDArray[np.uint64]
    gap_mean_s: NDArray[np.float64]
    gap_squares: NDArray[np.float64]
    pair_from: NDArray[np.uint32]  # per pair
    pair_to: NDArray[np.uint32]
    pair_messages: NDArray[np.uint64]
    pair_bytes: NDArray[np.uint64]
    pair_one_sided: NDArray[np.uint64]
    pair_one_sided_bytes: NDArray[np.uint64]
    function_calls: NDArray[np.uint64]  # per region
    function_seconds: NDArray[np.float64]
    size_messages: list[int]  # by number of binary digits of the size
    size_bytes: list[int]
    collectives: list[tuple[str, int, int, int]]  # operation, calls, bytes sent and received
    unmatched_sends: int
    unmatched_receives: int
    too_early: int
    most_too_early_s: float
    incomplete_collectives: int

def merge_trace(raw: str, file: str, progress: Callable[[int, int], bool] | None = None) -> TraceMerging:
    """Merge the recordings in `raw` into one file, which appears as a whole.

    Args:
        raw: The folder of the recordings, or a merged trace.
        file: The merged trace.
        progress: Called with steps done and their total; False ends it with an error.
    """

def convert_trace(raw: str, into: str, progress: Callable[[int, int], bool] | None = None) -> TraceConversion:
    """Make an OTF2 archive of the recordings in `raw`; it appears in `into` as a whole.

    Args:
        raw: The folder of the recordings, or a merged trace.
        into: The folder of the archive.
        progress: Called with records done and their total, by one thread at a time; False ends it with an error.
    """

def analyse_trace(path: str, bins: int, progress: Callable[[int, int], bool] | None = None) -> TraceAnalysis:
    """Read and analyse an OTF2 archive, or a merged trace.

    Args:
        path: Its folder, or its .otf2 or .lulltrace file.
        bins: Number of equal intervals of the run.
        progress: Called with events read and their total; False ends it with an error.
    """
