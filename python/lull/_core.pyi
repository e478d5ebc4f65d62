"""The native part: settings, the meter, frequencies, the network simulator, the model of output, traces.

Of the C++ rooms base/, meter/, wait/, netsim/, model/, trace/.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

class CoreError(Exception):
    """A lull::error: one line saying what was asked, what was found, what to do."""

class CoreUsageError(CoreError):
    """A lull::usage_error: a setting, a file that a setting names, or what was asked is not valid."""

class Setting:
    """One row of the settings table."""

    variable: str
    type: str  # "text" | "choice" | "integer" | "real" | "size"
    default: str
    choices: str  # "a|b|c" for a choice, "min..max" for numbers, else ""
    meaning: str
    value: str  # the text in force; raises nothing even if it is not valid
    origin: str  # "default" | "environment"
    problem: str  # why the value in force is not valid; "" when it is

def settings() -> list[Setting]:
    """Every setting of Lull, in the table's order."""

def unknown_variables() -> list[tuple[str, str]]:
    """(variable, nearest known one) for every LULL_* variable in the environment that is no setting."""

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
    unit: str  # of its raw values, e.g. "uJ", "bytes"
    interval_s: float
    range: str  # e.g. "wraps at 262143328850 uJ"; "" when it does not wrap
    permission: str  # what reading it needs, e.g. "root since Linux 5.10"
    readable: bool
    used: bool  # the sampler would use it by default on this machine
    reason: str  # why it is not readable, or not used; "" otherwise
    fix: str  # what to do, in one line; "" when nothing is known
    left_out: str  # which channels do not count, and why; "" when all do
    channels: list[Channel]

def sources(sysroot: str = "/") -> list[Source]:
    """All sources Lull knows, in order of preference, as found below `sysroot`."""

def counted(channels: Sequence[tuple[str, str, str, float, float]]) -> list[int]:
    """Positions of the channels of one node that make up its total: nothing twice.

    Args:
        channels: Of each its name, domain, kind, and the bounds of the joules that it counted.

    Raises:
        CoreError: A domain or kind is not known.
    """

def calibration_toml(idle: tuple[float, float], full: tuple[float, float], meter: str, when: str) -> str:
    """The table [calibration] of a site file: the line through two points (utilisation 0 to 1, watts) of `meter`.

    Raises:
        CoreError: The two loads are less than a tenth apart, or make no rising line.
    """

def frequency_way(sysroot: str, cores: Sequence[int]) -> tuple[str, str]:
    """How the frequency of a core could be lowered in waits: the file below cpufreq/, and why it cannot; one is "".

    Args:
        sysroot: Root below which sys/ is read.
        cores: Those that the process may run on: all of one core.
    """

class ChannelTotal:
    """What one channel counted between start() and stop()."""

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
    """What a sampler saw. Row i of `joules` is cumulative since start() at `time_ns[i]` (CLOCK_MONOTONIC)."""

    time_ns: NDArray[np.int64]  # shape (n,), n >= 2: the first at start(), the last at stop()
    joules: NDArray[np.float64]  # shape (n, channels), never decreasing
    totals: list[ChannelTotal]  # one per channel
    complaints: list[str]  # why readings were gaps, a line for each source that knows

class Sampler:
    """Reads the meter at a fixed rate in a thread of its own, without holding Python's lock.

    Args:
        sysroot: Root below which sys/ and proc/ are read.
        hz: Samples per second, 0.1 to 100.
        sources: Names of the sources to use; empty means those with `used`.

    Raises:
        CoreError: A named source is not readable, or hz is out of range.
    """

    def __init__(self, sysroot: str = "/", hz: float = 10.0, sources: Sequence[str] = ()) -> None: ...
    @property
    def channels(self) -> list[Channel]: ...
    @property
    def not_read(self) -> list[str]:
        """A line for each source that a setting configures and that is not readable."""
    def start(self) -> None:
        """Begin a new series; the first sample is taken before it returns."""
    def stop(self) -> Samples:
        """Take the last sample, end the thread and hand over the series. A sampler can be started again."""
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
    """One topology the simulator knows."""

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
    """What a network is, in numbers."""

    nodes: int
    switches: int
    radix: int  # most ports of a switch
    node_cables: int
    switch_cables: int
    diameter: int  # most links of a shortest path, those of the nodes included
    mean_links: float  # of a shortest path, over all ordered pairs of different nodes
    bisection: int  # links in one direction

class TopologyLinks:
    """The cables of a network, each once, and where nodes are attached."""

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
        CoreUsageError: There is no such topology, or its parameters contradict each other; so below.
    """

def topology_metrics(name: str, parameters: Mapping[str, Sequence[int]]) -> TopologyMetrics:
    """Counts, diameter, mean links, bisection: found by walking the network."""

def topology_links(name: str, parameters: Mapping[str, Sequence[int]]) -> TopologyLinks:
    """The cables between switches, and the switch of each node."""

class NetworkChoice:
    """A topology with all its parameters; `preset` is "" where none was named."""

    name: str
    preset: str
    parameters: dict[str, list[int]]

class SimulationKey:
    """One key of a simulation's file, in words."""

    name: str
    meaning: str
    default: str
    allowed: str
    when: str  # it applies; "" for always
    only: dict[str, list[str]]  # the same: other keys of the table, and their words

class SimulationTable:
    """One table of a simulation's file; `name` is "" for what stands above all tables."""

    name: str
    keys: list[SimulationKey]

class PowerPreset:
    """A link technology: the defaults it gives to keys of [power], and the modes it is for."""

    name: str
    modes: list[str]
    values: dict[str, str | float]
    must_be_given: list[str]

class DescribedJob:
    """How many processes a job has, and where they run."""

    name: str
    processes: int | None  # None: as many as `nodes`, or as others leave
    per_node: int  # processes on each node, the last node maybe fewer
    mapping: str  # linear or random; "" where `nodes` are listed
    nodes: list[int]

class SimulationDescription:
    """A whole simulation, checked."""

    content: dict[str, Any]  # as a user could have written it, with every default that applies
    seed: int
    end_ps: int | None
    network: NetworkChoice
    mode: str  # of power
    hold_ps: int  # 0 where the mode has none
    link_watts: float | None
    jobs: list[DescribedJob]

def simulation_tables() -> list[SimulationTable]:
    """Every table of a simulation's file, without the parameters of topologies."""

def power_modes() -> list[str]:
    """The names of all power modes, in the table's order."""

def power_presets() -> list[PowerPreset]:
    """Every link technology that is known by name."""

def nearest(wrong: str, right: Sequence[str]) -> str:
    """What to say of a name that is not one of those there are: the nearest, or all."""

def read_network_choice(content: object, asked: str) -> NetworkChoice:
    """What a [topology] on its own means; raises as `read_simulation` does."""

def read_simulation(content: object, asked: str) -> SimulationDescription:
    """Check a whole description.

    Args:
        content: As the TOML file gives it: tables in tables.
        asked: Begins the errors.

    Raises:
        CoreUsageError: The first mistake in it: the key, what was found, what is allowed.
    """

def check_placement(description: SimulationDescription, nodes: Sequence[Sequence[int]]) -> None:
    """Check that every job can run with its processes on these nodes.

    Raises:
        CoreUsageError: One cannot.
    """

class SimulatedLinks:
    """What happened on every link, one direction each; times in picoseconds."""

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
    """Latencies counted in bins; bin i holds lower_edges_ps[i] to lower_edges_ps[i + 1]."""

    counts: NDArray[np.uint64]
    lower_edges_ps: list[int]  # one more than counts
    count: int
    sum_ps: float
    least_ps: int
    most_ps: int
    batch_means_ps: NDArray[np.float64]  # of consecutive batches of equal size

class ProcessTime:
    """What the time of a program's processes has gone on, picoseconds summed over them."""

    computing_ps: float
    sending_ps: float
    waiting_ps: float

class SimulatedJob:
    """What became of one job."""

    name: str
    started_ps: int
    ended_ps: int
    messages: int  # delivered
    bytes: int
    message_latency: LatencyHistogram
    iteration_ends_ps: NDArray[np.int64]
    time: ProcessTime | None  # of programs
    memory_messages: int  # between processes of a node, not among `messages`
    memory_bytes: int
    remarks: list[str]

class Simulated:
    """What a simulation answers."""

    ended_ps: int
    events: int
    packets: int
    packet_hops: int
    packets_injected: int
    bytes_injected: int
    bytes_delivered: int
    messages_created: int
    messages_delivered: int
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
    shares: dict[str, float]  # power over active power in each low-power state

def read_trace(path: str, iteration: str = "", progress: Callable[[int, int], bool] | None = None) -> None:
    """Convert a trace in OTF2, without Python's lock; simulations of it then find it converted.

    Args:
        path: The folder of the archive, or its file .otf2.
        iteration: The region whose end ends an iteration; "" for none.
        progress: Called with (events read, events in all) now and then; when it answers False the conversion ends.

    Raises:
        CoreError: It cannot be read or replayed, or was stopped.
    """

def simulate(
    description: SimulationDescription,
    nodes: Sequence[Sequence[int]],
    progress: Callable[[int, int, int, int], bool] | None = None,
) -> Simulated:
    """Run one simulation to its end, without Python's lock.

    Args:
        description: What is simulated.
        nodes: Of the processes of each job.
        progress: Called with (simulated picoseconds, events, messages done, messages expected or 0) some ten times a
            second; when it answers False the simulation ends with what it has. A signal that raises ends it too.

    Raises:
        CoreUsageError: The description contradicts itself.
        CoreError: The network deadlocks.
    """

class FittedPiece:
    """The terms of LogGP for messages from a size on: `terms` of the medians, quartiles of those of single rounds.

    They are latency, send, receive, gap, per byte, alone per byte, send per byte, receive per byte; ns.
    """

    from_bytes: float
    worst_error: float
    terms: list[float]
    low: list[float]
    high: list[float]

def fit_transfer(rounds: Sequence[Sequence[tuple[float, ...]]]) -> list[FittedPiece]:
    """What messages cost, by pieces of size, from rounds of (bytes, one way, send, receive, gap), sizes ascending."""

def stream_ns(pieces: Sequence[tuple[float, Sequence[float]]], bytes: float, messages: float) -> float:
    """How long messages of one size take, one after the other, until the receiver knows of the last; one: alone.

    Args:
        pieces: (from bytes, terms as in `FittedPiece`), ascending.
        bytes: Of each message.
        messages: How many, 1 at least.

    Raises:
        CoreUsageError: There is no piece.
    """

class StorageRates:
    """What a storage gives to those who write."""

    bytes_per_s: float  # all together, as they do not hinder each other
    writer_bytes_per_s: float
    writers_at_half_speed: float  # infinite: no number of writers gets half

def storage_of(seen: Sequence[tuple[int, float]]) -> StorageRates:
    """From (writers, bytes/s that they got together)."""

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
    """How seconds and joules of a run change with another wait policy; `seen`: (waits, ns waited), of waits alike."""

def judge(
    present: tuple[Band, Band], change: tuple[Band, Band], objective: str, slowdown: float, least_gain: float
) -> str:
    """Whether a change of seconds and joules is "better", "no better", "unsure" or "too slow".

    A slowdown that is not negative is the most that energy may cost, a share.
    """

def gain_of(present: tuple[Band, Band], change: tuple[Band, Band], objective: str) -> Band:
    """What changes of that which is to be least, a share; below 0 is better."""

class Constant:
    """One row of the table of a machine's constants."""

    name: str  # GROUP.MEMBER, as in the [constants] of a machine file
    whole: bool  # no fractions
    default: float
    least: float
    most: float
    unit: str
    meaning: str
    origin: str  # "measured" | "chosen"
    because: str  # what repeats the measurement, or the reason of the choice
    figure: str  # of the machine file, by which lull calibrate sets it; "" where it does not
    unmeasured: str  # why; "" where it does

def constants() -> list[Constant]:
    """Every constant of a machine, in the table's order."""

def problem_of_constants(given: Sequence[tuple[str, float]]) -> str:
    """What is wrong with the [constants] of a machine file, by name; "" for nothing."""

def constant_here(name: str) -> float:
    """A constant of this machine, as LULL_MACHINE says.

    Raises:
        CoreUsageError: There is none of that name, or the machine file is wrong.
    """

def machine_file_of_this_host() -> str:
    """Where `lull calibrate` keeps the file of this host; "" where no home is known."""

class OutputMachine:
    """A machine, as far as the output of a simulation depends on it: one process on each core."""

    nodes: int
    cores: int  # of each node
    storage_bytes_per_s: float  # all writers together
    writer_bytes_per_s: float  # one writer
    writers_at_half_speed: float  # so many at a time get half of the storage's rate together; infinite: no number does
    link_bytes_per_s: float  # a node
    copy_bytes_per_s: float  # a core
    computing_use: float  # share of a core that is busy
    writing_use: float
    waiting_use: float
    idle_node_watts: float
    busy_core_watts: float  # that a busy core adds
    @property
    def least_gain(self) -> float:
        """The share that a prediction must promise to be worth a change."""

class OutputSimulation:
    """A simulation that writes output."""

    core_seconds_per_step: float  # of all cores together
    steps: int
    steps_per_output: int
    bytes_per_output: float  # of all processes together

class OutputRun:
    """What a run's output has cost, as it was measured: seconds and bytes are sums over the processes of a role."""

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
    """What the model says of one way to write the output."""

    way: str  # as in LULL_STAGE
    seconds: float
    cpu_use: float  # of all cores, 0 to 1
    watts: float
    joules: float
    stall_seconds_per_output: float  # in which a process of the simulation computes nothing
    write_seconds_per_output: float
    def cost(self, objective: str) -> float:
        """What the objective makes least: seconds, joules, or their product."""

def output_ways(machine: OutputMachine) -> list[str]:
    """Every way that leaves a process to compute, as in LULL_STAGE."""

def choose_output(
    machine: OutputMachine, simulation: OutputSimulation, ways: Sequence[str], objective: str = "time"
) -> list[OutputChoice]:
    """Predict what each of `ways` costs, the best first.

    Args:
        machine: Where it runs.
        simulation: What runs.
        ways: Some of `output_ways(machine)`.
        objective: "time", "energy" or "edp", their product.

    Raises:
        CoreUsageError: A way leaves nobody to compute, or there is no such objective.
    """

def output_case_of(runs: Sequence[OutputRun]) -> tuple[OutputMachine, OutputSimulation] | None:
    """The machine and the simulation as the first run shows them, each output a step; None where it wrote nothing.

    How the storage's rate depends on the number of writers is taken from all of them.
    """

def assumed_simulation(machine: OutputMachine) -> OutputSimulation:
    """What is assumed of a simulation of which nothing is known."""

HAS_OTF2: bool  # what follows is there only where it is true

class TraceConversion:
    """What became of the records of a run."""

    records: int
    events: int
    processes: int
    hosts: int
    crossings: int  # messages by which the clocks of hosts were joined
    too_early: int  # of them, those that still arrive before they were sent
    remarks: list[str]  # what is missing, a line each

class TraceProcess:
    """One process of a trace."""

    name: str
    host: str
    paradigm: str
    rank: int  # -1: of no job

class TraceRegion:
    """One function or region of a trace."""

    name: str
    paradigm: str  # mpi | shmem | user | program | other

class TraceMetric:
    """One metric of a trace."""

    name: str
    unit: str

class TraceAnalysis:
    """What a trace says of a program; arrays have an entry, or a row, for each process unless it says otherwise."""

    seconds: float
    begin_ns: int  # since 1970; 0: not known
    events: int
    bins: int
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
    metrics_in_bins: NDArray[np.float64]  # metric, bin; NaN where there is none
    sent: NDArray[np.uint64]
    sent_bytes: NDArray[np.uint64]
    received: NDArray[np.uint64]
    received_bytes: NDArray[np.uint64]
    gaps: NDArray[np.uint64]
    gap_mean_s: NDArray[np.float64]
    gap_squares: NDArray[np.float64]
    pair_from: NDArray[np.uint32]  # a pair each
    pair_to: NDArray[np.uint32]
    pair_messages: NDArray[np.uint64]
    pair_bytes: NDArray[np.uint64]
    pair_one_sided: NDArray[np.uint64]
    pair_one_sided_bytes: NDArray[np.uint64]
    function_calls: NDArray[np.uint64]  # a region each
    function_seconds: NDArray[np.float64]
    size_messages: list[int]  # by the number of binary digits of the size
    size_bytes: list[int]
    collectives: list[tuple[str, int, int, int]]  # operation, calls, bytes sent and received
    unmatched_sends: int
    unmatched_receives: int
    too_early: int
    most_too_early_s: float
    incomplete_collectives: int

def convert_trace(raw: str, into: str, progress: Callable[[int, int], bool] | None = None) -> TraceConversion:
    """Make an archive in OTF2 of what processes recorded in `raw`; in `into` it appears whole.

    Args:
        raw: The folder of the records.
        into: The folder of the archive.
        progress: Called with records done and their number, by one thread at a time; False ends it with an error.
    """

def analyse_trace(path: str, bins: int, progress: Callable[[int, int], bool] | None = None) -> TraceAnalysis:
    """Read an archive in OTF2 and say what is in it.

    Args:
        path: Its folder, or its file .otf2.
        bins: In how many parts the run is cut.
        progress: Called with events read and their number; False ends it with an error.
    """
