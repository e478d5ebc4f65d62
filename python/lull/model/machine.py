"""A machine: one form for what `lull calibrate` measured, what is published, and what somebody imagines.

Each figure says where it is from, and how far it may be off where that is known. A file has no figure that nobody
knows: what is left out is left out of what is made of it, too. See reference/machine-toml.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lull import _core
from lull.base.errors import UsageError, describe_os_error
from lull.record import EnergyKind

FORM: Final = 1
HERE: Final = "here"  # the name of the machine that was calibrated
MACHINES = Path(__file__).parent / "machines"
BY_HAND: Final = ("topology", "network", "routing", "power", "job", "constants")  # tables that nobody can measure
OF_PREDICTIONS = ("mode", "hold", "hybrid_hold", "link_watts")  # keys of [power] that a machine does not choose


class MachineTable(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Figure(MachineTable):
    """One figure; its unit is in its name, and watts in `[watts]`."""

    value: float = Field(ge=0)
    low: float | None = Field(default=None, ge=0)  # how far it may be off; absent: not known
    high: float | None = Field(default=None, ge=0)
    kind: EnergyKind | None = None  # of power: how it was obtained; to be said in a measured file
    source: str | None = Field(
        default=None, min_length=1
    )  # where it is from; absent: the measurement that [measured] tells of

    @property
    def band(self) -> tuple[float, float, float]:
        """Lowest, itself, highest; itself where nothing else is known."""
        low = self.value if self.low is None else self.low
        return low, self.value, self.value if self.high is None else self.high

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        low, value, high = self.band
        if not low <= value <= high:
            raise ValueError(f"low, value and high are {low:g}, {value:g} and {high:g}, which is no ascending order")
        return self


class CalibrationInfo(MachineTable):
    """What `lull calibrate` measured, and when. Its figures are medians, low and high are quartiles."""

    when: datetime  # when it ended
    lull: str  # version
    host: str
    processor: str
    cores: int = Field(ge=1)  # that it may use
    memory_bytes: int = Field(ge=0)
    kernel: str
    launcher: str  # by what the processes were started; a command
    nodes: int = Field(ge=1)  # on which the processes of the network were; emulated ones count
    seconds: float = Field(ge=0)  # how long it took
    remarks: list[str] = []  # what could not be measured, and what disturbed


class Node(MachineTable):
    """A node."""

    cores: int = Field(default=1, ge=1)
    waiting_use: float = Field(default=1.0, ge=0, le=1)  # how busy a core is that waits; programs that poll: 1


class TransferPiece(MachineTable):
    """What messages from a size on cost, to the next piece; LogGP's terms, see explanation/the-model.md."""

    from_bytes: int = Field(ge=0)  # the first piece is that of smaller ones, too
    latency_ns: Figure | None = None  # L: of a message alone, beyond what its sender and receiver spend
    send_ns: Figure | None = None  # o: of the sender, in its call
    receive_ns: Figure | None = None  # o: of the receiver's process
    gap_ns: Figure | None = None  # g: between messages of a stream
    ns_per_byte: Figure | None = None  # G: between bytes of a stream
    alone_ns_per_byte: Figure | None = None  # what a byte adds to a message alone; absent: ns_per_byte
    send_ns_per_byte: Figure | None = None  # what a byte adds to send_ns; absent: nothing
    receive_ns_per_byte: Figure | None = None  # what a byte adds to receive_ns; absent: nothing
    worst_error: float | None = Field(default=None, ge=0)  # of the terms, at the size where they fit worst; a share


class Atomics(MachineTable):
    """Atomic operations on eight bytes in another process's memory."""

    fetching_ns: Figure | None = None  # one that is awaited
    non_fetching_ns: Figure | None = None  # each of many


class Transport(MachineTable):
    """A way for messages."""

    through: str = ""  # what carries them
    pieces: list[TransferPiece] = []  # by size, ascending
    atomics: Atomics = Atomics()

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

    copy_warm_bytes_per_s: Figure | None = None  # of a core, within its caches
    copy_cold_bytes_per_s: Figure | None = None  # of a core, from and to memory that is in no cache
    copy_cold_all_cores_bytes_per_s: Figure | None = None  # all cores together


class WakeUp(MachineTable):
    """Waits of one length under one policy."""

    length_ns: float = Field(gt=0)
    late_ns: Figure  # how late it goes on
    cpu_ns: Figure  # what its process takes of a core meanwhile
    waker_ns: Figure  # what waking it costs who does


class WakeUps(MachineTable):
    """What waiting costs."""

    timer_ns: Figure | None = None  # how late a timer wakes a thread; high: nine of ten are no later
    policies: dict[str, list[WakeUp]] = {}  # by the name of LULL_WAIT, lengths ascending


class Storage(MachineTable):
    """Files that are written and synced."""

    folder: str = ""  # where
    writer_bytes_per_s: Figure | None = None  # one writer
    bytes_per_s: Figure | None = None  # all together, as they do not hinder each other
    writers_at_half_speed: Figure | None = None  # so many at a time get half of it; absent: no number does
    by_writers: dict[int, Figure] = {}  # what so many got together, bytes/s


class Recording(MachineTable):
    """Programs that are traced."""

    ns_per_event: Figure | None = None  # of a program's CPU time, its readings of the clock included


class Frequency(MachineTable):
    """Of a core."""

    driver: str = ""
    steps_khz: list[int] = []  # ascending; the lowest and the highest where there is no list
    transition_ns: Figure | None = None  # of a change


class Watts(MachineTable):
    """What draws power, active. What is absent is in no energy."""

    link: Figure | None = None  # one direction of a link, with what belongs to it at both ends
    switch: Figure | None = None  # beyond its links
    nic: Figure | None = None  # a network interface, beyond its link
    idle_node: Figure | None = None  # a node that does nothing, without its network interface
    one_core: Figure | None = None  # with one core busy
    busy_node: Figure | None = None  # with all cores busy
    waiting: dict[str, Figure] = {}  # with a process on each core that waits, by the name of LULL_WAIT


class Machine(MachineTable):
    """All that a file may say."""

    form: int = FORM  # of this file; a later one needs a later Lull
    title: str = ""
    measured: CalibrationInfo | None = None  # absent: it is published or imagined, and each figure has a source
    topology: dict[str, Any] = Field(default={})  # of a simulation's file, as the next two; predictions need it
    network: dict[str, Any] = Field(default={})
    routing: dict[str, Any] = Field(default={})
    power: dict[str, Any] = Field(default={})  # the technology of links: no mode, hold or link_watts
    job: dict[str, Any] = Field(default={})  # keys that jobs on it have
    node: Node = Node()
    transports: dict[str, Transport] = {}  # "shared-memory" within a node, "network" between nodes
    memory: Memory = Memory()
    wake_ups: WakeUps = WakeUps()
    storage: Storage = Storage()
    recording: Recording = Recording()
    frequency: Frequency = Frequency()
    watts: Watts = Watts()
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
                raise ValueError(f"{where}.kind: it is missing; power that was measured says how")
        return self


def _figures(where: str, of: object) -> Iterator[tuple[str, Figure]]:
    """All figures below a part, with their keys."""
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
    """Those that come with Lull, by name."""
    return {path.stem: path for path in sorted(MACHINES.glob("*.toml"))}


def kept_machine() -> Path | None:
    """Where the file of this host is kept, whether it is there or not; None where no home is known."""
    path = _core.machine_file_of_this_host()
    return Path(path) if path else None


def read_machine(name: str) -> Machine:
    """A machine that comes with Lull, `here`, one in a TOML file, or the network of a preset, without watts.

    Raises:
        UsageError: There is none of that name, or its file cannot be read or is wrong; the line says where.
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
    """A machine in a TOML file; `asked` is what for.

    Raises:
        UsageError: It cannot be read or is wrong.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        machine = Machine.model_validate(content)
    except OSError as error:
        raise UsageError(asked, describe_os_error(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(asked, f"it is not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        words = "there is no such key" if first["type"] == "extra_forbidden" else first["msg"]
        words = words.removeprefix("Value error, ")
        raise UsageError(asked, f"{where}: {words}" if where else words) from error
    return machine if machine.title else machine.model_copy(update={"title": path.stem})
