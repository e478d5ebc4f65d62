"""The machine of a prediction: a TOML file of its network, its nodes and their power, or a preset of a network alone.

Each figure of power says where it is from, and how far it may be off where that is known. A file has no figure that
nobody knows: what is left out is left out of the energies, too.

title                              what it is
[topology] [network] [routing]     tables of a simulation's file
[power]                            the same, but for its mode, hold and link_watts
[job]                              keys that jobs on it have: eager, overhead, compute_scale, per_node ...
[node]                             cores of a node, and how busy a core is that waits
[watts.NAME]                       a figure: value, low, high, source
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lull import _core
from lull.base.errors import UsageError, describe_os_error

MACHINES = Path(__file__).parent / "machines"
OF_PREDICTIONS = ("mode", "hold", "hybrid_hold", "link_watts")  # keys of [power] that a machine does not choose


class Part(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Figure(Part):
    """One figure of power, W."""

    value: float = Field(ge=0)
    low: float | None = Field(default=None, ge=0)  # how far it may be off; absent: not known
    high: float | None = Field(default=None, ge=0)
    source: str = Field(min_length=1)  # where it is from

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


class Watts(Part):
    """What draws power, active. What is absent is in no energy."""

    link: Figure | None = None  # one direction of a link, with what belongs to it at both ends
    switch: Figure | None = None  # beyond its links
    nic: Figure | None = None  # a network interface, beyond its link
    idle_node: Figure | None = None  # a node that does nothing, without its network interface
    busy_node: Figure | None = None  # with all cores busy


class Node(Part):
    """A node."""

    cores: int = Field(default=1, ge=1)
    waiting_use: float = Field(default=1.0, ge=0, le=1)  # how busy a core is that waits; programs that poll: 1


class Machine(Part):
    """All that a file may say."""

    title: str = ""
    topology: dict[str, Any]  # of a simulation's file, as the next two
    network: dict[str, Any] = Field(default={})
    routing: dict[str, Any] = Field(default={})
    power: dict[str, Any] = Field(default={})  # the technology of links: no mode, hold or link_watts
    job: dict[str, Any] = Field(default={})  # keys that jobs on it have
    node: Node = Node()
    watts: Watts = Watts()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for key in OF_PREDICTIONS:
            if key in self.power:
                raise ValueError(f"power.{key}: every prediction chooses it; link power is watts.link")
        if (self.watts.idle_node is None) != (self.watts.busy_node is None):
            raise ValueError("watts: idle_node and busy_node belong together")
        idle, busy = self.watts.idle_node, self.watts.busy_node
        if idle is not None and busy is not None and any(i > b for i, b in zip(idle.band, busy.band, strict=True)):
            raise ValueError("watts: idle_node is more than busy_node")
        return self


def known_machines() -> dict[str, Path]:
    """Those that come with Lull, by name."""
    return {path.stem: path for path in sorted(MACHINES.glob("*.toml"))}


def read_machine(name: str) -> Machine:
    """A machine that comes with Lull, one in a TOML file, or the network of a preset, without watts.

    Raises:
        UsageError: There is none of that name, or its file cannot be read or is wrong; the line says where.
    """
    known = known_machines()
    asked = f"read the machine {name}"
    presets = {preset.name: preset.meaning for preset in _core.topology_presets()}
    if name in presets:
        return Machine(title=f"{name}, {presets[name]}", topology={"preset": name})
    path = known.get(name, Path(name))
    if name not in known and path.suffix != ".toml":
        raise UsageError(asked, "there is none of that name", f"name {', '.join([*known, *presets])} or a TOML file")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
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
