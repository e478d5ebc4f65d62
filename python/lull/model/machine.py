"""A machine file: one form for measurements of `lull calibrate`, published machines, and hypothetical ones.

Each figure has its source, and its uncertainty if that is known. A file omits unknown figures, and predictions omit
what would need them. See reference/machine-toml.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lull import _core
from lull.base.documents import DamagedError, parse_toml
from lull.base.errors import UsageError, describe_os_error
from lull.record import EnergyKind

FORM: Final = 1
HERE: Final = "here"  # the name of the machine that was calibrated
MACHINES = Path(__file__).parent / "machines"
BY_HAND: Final = ("topology", "network", "routing", "power", "job", "constants")  # tables that cannot be measured
OF_PREDICTIONS = ("mode", "hold", "hybrid_hold", "link_watts")  # keys of [power] that a machine file must not contain


class MachineTable(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Figure(MachineTable):
    """One figure; its unit is in its name, and watts in `[watts]`."""

    value: float = Field(ge=0)  # the figure
    low: float | None = Field(default=None, ge=0)  # lower end of its band; absent: unknown
    high: float | None = Field(default=None, ge=0)  # upper end of its band; absent: unknown
    kind: EnergyKind | None = None  # for power: how it was obtained; required in a measured file
    source: str | None = Field(
        default=None, min_length=1
    )  # its source; absent: the measurement described by [measured]

    @property
    def band(self) -> tuple[float, float, float]:
        """Lowest value, value, highest value; the value itself for unknown ends."""
        low = self.value if self.low is None else self.low
        return low, self.value, self.value if self.high is None else self.high

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        low, value, high = self.band
        if not low <= value <= high:
            raise ValueError(f"low, value and high are {low:g}, {value:g} and {high:g}, which are not ascending")
        return self


class CalibrationInfo(MachineTable):
    """When and how `lull calibrate` measured. The figures of such a file are medians; low and high are quartiles."""

    when: datetime  # end of the calibration
    lull: str  # version of Lull
    host: str  # name of the machine
    processor: str  # name of its processor
    cores: int = Field(ge=1)  # number that the calibration could use
    memory_bytes: int = Field(ge=0)  # size of its memory
    kernel: str  # release of its kernel
    launcher: str  # the command that started the processes
    nodes: int = Field(ge=1)  # number of nodes of the network's processes, emulated nodes included
    seconds: float = Field(ge=0)  # duration
    remarks: list[str] = []  # what could not be measured, and disturbances


class Node(MachineTable):
    """A node."""

    cores: int = Field(default=1, ge=1)  # number of its cores
    waiting_use: float = Field(default=1.0, ge=0, le=1)  # load of a core that waits; 1 for programs that poll


class TransferPiece(MachineTable):
    """Costs of messages from a size up to the next piece, in LogGP's terms; see explanation/the-model.md."""

    from_bytes: int = Field(ge=0)  # the first piece also applies to smaller messages
    latency_ns: Figure | None = None  # L: of a single message, without the overheads of sender and receiver
    send_ns: Figure | None = None  # o: overhead of the sender, in its call
    receive_ns: Figure | None = None  # o: overhead of the receiver's process
    gap_ns: Figure | None = None  # g: between messages of a stream
    ns_per_byte: Figure | None = None  # G: between bytes of a stream
    alone_ns_per_byte: Figure | None = None  # per byte of a single message; absent: ns_per_byte
    send_ns_per_byte: Figure | None = None  # per byte, added to send_ns; absent: 0
    receive_ns_per_byte: Figure | None = None  # per byte, added to receive_ns; absent: 0
    worst_error: float | None = Field(default=None, ge=0)  # largest error of the terms at a measured size; a share


class Atomics(MachineTable):
    """Atomic operations on eight bytes in another process's memory."""

    fetching_ns: Figure | None = None  # one operation, until its result is there
    non_fetching_ns: Figure | None = None  # one of many


class Transport(MachineTable):
    """A transport for messages."""

    through: str = ""  # name of the transport
    pieces: list[TransferPiece] = []  # by size, ascending
    atomics: Atomics = Atomics()  # atomic operations by it

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        begins = [piece.from_bytes for piece in self.pieces]
        if begins != sorted(set(begins)):
            raise ValueError(
                f"pieces begin at {', '.join(f'{begin:g}' for begin in begins)} bytes, which do not ascend"
            )
        return self


class Memory(MachineTable):
    """Copies in memory."""

    copy_warm_bytes_per_s: Figure | None = None  # of one core, within its caches
    copy_cold_bytes_per_s: Figure | None = None  # of one core, from and to memory outside the caches
    copy_cold_all_cores_bytes_per_s: Figure | None = None  # all cores together


class WakeUp(MachineTable):
    """Waits of one length under one policy."""

    length_ns: float = Field(gt=0)  # length of the waits
    late_ns: Figure  # wake-up latency
    cpu_ns: Figure  # CPU time of the waiting process
    waker_ns: Figure  # cost of the wake-up for the process that wakes it


class WakeUps(MachineTable):
    """The costs of waiting."""

    timer_ns: Figure | None = None  # delay of a timer; high: the 90th percentile
    policies: dict[str, list[WakeUp]] = {}  # by value of LULL_WAIT; lengths ascending


class Storage(MachineTable):
    """Files that are written and synced."""

    folder: str = ""  # the folder measured
    writer_bytes_per_s: Figure | None = None  # of one writer
    bytes_per_s: Figure | None = None  # of all writers, without mutual interference
    writers_at_half_speed: Figure | None = None  # number of writers that get half of it; absent: no number does
    by_writers: dict[int, Figure] = {}  # number of writers -> their total rate, bytes/s


class Recording(MachineTable):
    """Traced programs."""

    ns_per_event: Figure | None = None  # CPU time of a program, including its readings of the clock


class Frequency(MachineTable):
    """Frequencies of a core."""

    driver: str = ""  # the kernel's driver; empty: unknown
    steps_khz: list[int] = []  # ascending; the lowest and the highest if there is no list
    transition_ns: Figure | None = None  # duration of a change


class Watts(MachineTable):
    """Active power of components. Energies omit absent components."""

    link: Figure | None = None  # one direction of a link, with its electronics at both ends
    switch: Figure | None = None  # a switch, without its links
    nic: Figure | None = None  # a network interface, without its link
    idle_node: Figure | None = None  # an idle node, without its network interface
    one_core: Figure | None = None  # a node with one core busy
    busy_node: Figure | None = None  # a node with all cores busy
    waiting: dict[str, Figure] = {}  # a node with a waiting process on each core, by value of LULL_WAIT


class Machine(MachineTable):
    """The whole file."""

    form: int = FORM  # version of this file; a later one needs a later Lull
    title: str = ""  # the machine in words
    measured: CalibrationInfo | None = None  # absent: published or hypothetical; each figure has a source
    topology: dict[str, Any] = Field(default={})  # as in a simulation's file, like the next two; predictions need it
    network: dict[str, Any] = Field(default={})  # how packets are sent
    routing: dict[str, Any] = Field(default={})  # how they are routed
    power: dict[str, Any] = Field(default={})  # the technology of links: no mode, hold or link_watts
    job: dict[str, Any] = Field(default={})  # keys of jobs on this machine
    node: Node = Node()  # a node
    transports: dict[str, Transport] = {}  # "shared-memory" within a node, "network" between nodes
    memory: Memory = Memory()  # copies
    wake_ups: WakeUps = WakeUps()  # waits
    storage: Storage = Storage()  # files
    recording: Recording = Recording()  # traces
    frequency: Frequency = Frequency()  # frequencies of cores
    watts: Watts = Watts()  # power of components, in watts
    constants: dict[str, dict[str, Figure]] = {}  # of the runtime, set by hand: [constants](constants.md) lists them

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.form != FORM:
            raise ValueError(f"form: it is {self.form}; this version of Lull reads {FORM}")
        for key in OF_PREDICTIONS:
            if key in self.power:
                raise ValueError(f"power.{key}: every prediction chooses it; link power is watts.link")
        if (self.watts.idle_node is None) != (self.watts.busy_node is None):
            raise ValueError("watts: idle_node and busy_node belong together")
        idle, busy = self.watts.idle_node, self.watts.busy_node
        if idle is not None and busy is not None and any(i > b for i, b in zip(idle.band, busy.band, strict=True)):
            raise ValueError("watts: idle_node is more than busy_node")
        given = [(f"{group}.{name}", one.value) for group, all_ in self.constants.items() for name, one in all_.items()]
        if problem := _core.problem_of_constants(given):
            raise ValueError(f"constants: {problem}")
        for where, figure in _figures("", self):
            if self.measured is None and figure.source is None:
                raise ValueError(f"{where}.source: it is missing; only a file with [measured] may leave it out")
            if self.measured is not None and where.startswith("watts.") and figure.kind is None:
                raise ValueError(f"{where}.kind: it is missing; measured power needs it")
        return self


def _figures(where: str, of: object) -> Iterator[tuple[str, Figure]]:
    """All figures in a part, with their keys."""
    if isinstance(of, Figure):
        yield where, of
        return
    parts: Iterator[tuple[object, object]] | Any = ()
    if isinstance(of, MachineTable):
        parts = ((name, getattr(of, name)) for name in type(of).model_fields)
    elif isinstance(of, dict):
        parts = of.items()
    elif isinstance(of, list):
        parts = enumerate(of)
    for name, part in parts:
        if isinstance(part, MachineTable | dict | list):
            yield from _figures(f"{where}.{name}" if where else str(name), part)


def known_machines() -> dict[str, Path]:
    """The machine files that come with Lull, by name."""
    return {path.stem: path for path in sorted(MACHINES.glob("*.toml"))}


def kept_machine() -> Path | None:
    """The path of this host's file, whether or not it exists; None if there is no home folder."""
    path = _core.machine_file_of_this_host()
    return Path(path) if path else None


def read_machine(name: str) -> Machine:
    """Read a machine: one that comes with Lull, `here`, a TOML file, or the network of a preset, which has no watts.

    Raises:
        UsageError: There is no such machine, or its file cannot be read or is wrong; the line says where.
    """
    known = known_machines()
    asked = f"read the machine {name}"
    presets = {preset.name: preset.meaning for preset in _core.topology_presets()}
    if name in presets:
        return Machine(title=f"{name}, {presets[name]}", topology={"preset": name})
    if name == HERE:
        kept = kept_machine()
        if kept is None or not kept.exists():
            raise UsageError(asked, "this host has not been calibrated", "lull calibrate")
        return read_machine_file(kept, asked)
    path = known.get(name, Path(name))
    if name not in known and path.suffix != ".toml":
        there = ", ".join([HERE, *known, *presets])
        raise UsageError(asked, "there is none of that name", f"name {there} or a TOML file")
    return read_machine_file(path, asked)


def read_machine_file(path: Path, asked: str) -> Machine:
    """Read a machine from a TOML file; errors begin with `asked`.

    Raises:
        UsageError: The file cannot be read or is wrong.
    """
    try:
        content = parse_toml(path.read_bytes())
        machine = Machine.model_validate(content)
    except OSError as error:
        raise UsageError(asked, describe_os_error(error)) from error
    except DamagedError as error:
        raise UsageError(asked, f"it is not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        words = "there is no such key" if first["type"] == "extra_forbidden" else first["msg"]
        words = words.removeprefix("Value error, ")
        raise UsageError(asked, f"{where}: {words}" if where else words) from error
    return machine if machine.title else machine.model_copy(update={"title": path.stem})
