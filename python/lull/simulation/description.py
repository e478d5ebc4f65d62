"""What a simulation is asked: one TOML file, checked as a whole before anything runs.

seed, end, warmup    of the whole simulation
[topology]           a preset, or a name and its parameters
[network]            packets, rates, delays, buffers
[routing]            how a packet finds its way
[power]              what links do when they are idle, and what that saves
[[jobs]]             who sends what to whom, and when

Every key has its meaning and default here, and nowhere else. Values inside are picoseconds, bytes, bytes per second.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictStr, ValidationError, model_validator

from lull.base.errors import UsageError, describe_os_error
from lull.simulation.keys import Amount, Table, Whole, key, mistake, usage_error
from lull.simulation.network_choice import NetworkChoice, read_choice
from lull.simulation.power_presets import POWER_PRESETS, SLEEPING, default_preset
from lull.simulation.units import POWER, RATE, SHARE, SIZE, TIME
from lull.statistics import formatting

LONGEST_S = 1e6  # of simulated time: eight digits below what 64 bits of picoseconds hold

DELAY = Amount(TIME, most=LONGEST_S * 1e12)
LENGTH_OF_TIME = Amount(TIME, above_least=True, most=LONGEST_S * 1e12)
PACKET = Amount(SIZE, least=1, most=2**24 - 1)
BUFFER = Amount(SIZE, least=1, most=2**30 - 1)
MESSAGE = Amount(SIZE, least=1, most=2**31 - 1)
BYTES_PER_SECOND = Amount(RATE, above_least=True, most=1e15)
PART = Amount(SHARE, most=1)
REAL_PART = Amount(SHARE, most=1, above_least=True)
WATTS = Amount(POWER, above_least=True)
NUMBER = Whole(0, 2**53)
POSITIVE = Whole(1, 2**53)
PROCESSES = Whole(2, 2**31 - 1)

Delay = Annotated[int, BeforeValidator(DELAY), DELAY]
Duration = Annotated[int, BeforeValidator(LENGTH_OF_TIME), LENGTH_OF_TIME]
PacketSize = Annotated[int, BeforeValidator(PACKET), PACKET]
BufferSize = Annotated[int, BeforeValidator(BUFFER), BUFFER]
MessageSize = Annotated[int, BeforeValidator(MESSAGE), MESSAGE]
Rate = Annotated[float, BeforeValidator(BYTES_PER_SECOND), BYTES_PER_SECOND]
Part = Annotated[float, BeforeValidator(PART), PART]
RealPart = Annotated[float, BeforeValidator(REAL_PART), REAL_PART]
Watts = Annotated[float, BeforeValidator(WATTS), WATTS]
Number = Annotated[int, BeforeValidator(NUMBER), NUMBER]
Positive = Annotated[int, BeforeValidator(POSITIVE), POSITIVE]
Processes = Annotated[int, BeforeValidator(PROCESSES), PROCESSES]

CHANNELS = Whole(1, 16, word="auto")
RELUCTANCE = Amount(SHARE, most=1e6)
ADAPTING = ("adaptive", "power-aware")
OPEN = ("poisson", "periodic", "bursty")


class Network(Table):
    """Links, switches and network interfaces."""

    packet: PacketSize = key("4 KiB", "largest packet; longer messages are split")
    bandwidth: Rate = key("100 Gbit/s", "of a link between switches, in each direction")
    nic_bandwidth: Rate | None = key(None, "of a node's link, in each direction", shown="bandwidth")
    cable_delay: Delay = key("50 ns", "from one end of a cable to the other")
    switch_delay: Delay = key(
        "100 ns", "from the head of a packet in the input buffer to its head in the output buffer"
    )
    nic_delay: Delay = key("500 ns", "from a message's creation to its first bit, and from its last bit to its end")
    credit_delay: Delay = key("100 ns", "of a credit in the switches; the cable's delay comes on top")
    input_buffer: BufferSize = key("64 KiB", "for each port and virtual channel")
    output_buffer: BufferSize = key("16 KiB", "for each port and virtual channel")
    virtual_channels: Annotated[int, BeforeValidator(CHANNELS), CHANNELS] = key(
        "auto", "for each port; auto: as many as the routing needs"
    )
    switching: Literal["cut-through", "store-and-forward"] = key("cut-through", "when a packet goes on")
    queues: Literal["explicit", "fifo", "auto"] = key(
        "explicit", "model of a switch: explicit queues, or the faster fifo where it is exact; auto chooses"
    )

    @model_validator(mode="before")
    @classmethod
    def _nodes_are_as_fast_as_links(cls, content: Any) -> Any:
        if isinstance(content, Mapping) and content.get("nic_bandwidth") is None:
            rate = content.get("bandwidth", cls.model_fields["bandwidth"].default)
            try:
                BYTES_PER_SECOND(rate)
            except ValueError:
                return content  # said of `bandwidth`, not of both
            return {**content, "nic_bandwidth": rate}
        return content


class Routing(Table):
    """How a packet finds its way."""

    algorithm: Literal["minimal", "minimal-random", "valiant", "adaptive", "power-aware"] = key(
        "adaptive", "minimal: one shortest way per pair; minimal-random: any; valiant: by a drawn switch; "
        "adaptive: the port free soonest, or a drawn detour; power-aware: the same, sleeping ports avoided"
    )  # fmt: skip
    bias: Delay = key(0, "how much better a detour must be, in waiting time times hops", only={"algorithm": ADAPTING})
    reluctance: Annotated[float, BeforeValidator(RELUCTANCE), RELUCTANCE] = key(
        1, "a sleeping port counts as busy for so many wake-ups", only={"algorithm": ("power-aware",)}
    )


class Power(Table):
    """What one direction of a link does when it is idle. Defaults come from the preset."""

    mode: Literal["active", "deep-sleep", "fast-wake", "hybrid", "adaptive-rate"] = key(
        "active", "active: full power always; hybrid: fast wake, then deep sleep; adaptive-rate: a slower rate"
    )
    preset: Literal["100GBASE-R", "40GBASE-R", "25GBASE-R", "infiniband-4x-qdr", "ethernet-alr"] | None = key(
        None, "link technology that gives the defaults below", only={"mode": (*SLEEPING, "adaptive-rate")},
        shown="100GBASE-R, or infiniband-4x-qdr with mode adaptive-rate",
    )  # fmt: skip
    hold: Delay = key(
        0, 'idle at full power before the first low-power state; "2 Ts" is twice sleep_time',
        only={"mode": (*SLEEPING, "adaptive-rate")},
    )  # fmt: skip
    hybrid_hold: Delay | None = key(
        None, "time in fast wake before the sleep signalling begins", only={"mode": ("hybrid",)}, shown="hold"
    )
    sleep_time: Delay = key("1.1 us", "Ts, sleep signalling at full power", only={"mode": SLEEPING})
    wake_deep: Delay = key("5.5 us", "Tw|DS, to wake from deep sleep", only={"mode": ("deep-sleep", "hybrid")})
    wake_fast: Delay = key("0.34 us", "Tw|FW, to wake from fast wake", only={"mode": ("fast-wake", "hybrid")})
    quiet_time: Duration = key("1.7 ms", "Tq, between refreshes", only={"mode": ("deep-sleep", "hybrid")})
    refresh_time: Delay = key("1.1 us", "Tr, a refresh at full power", only={"mode": ("deep-sleep", "hybrid")})
    deep_share: Part = key(0.1, "power in deep sleep over active power", only={"mode": ("deep-sleep", "hybrid")})
    fast_share: Part = key(0.6, "power in fast wake over active power", only={"mode": ("fast-wake", "hybrid")})
    wake_delays: StrictBool = key(
        True, "false: account for power, but let no packet wait for a link to wake", only={"mode": SLEEPING}
    )
    bound: Part = key(
        0, "each link learns its own hold, so that wake-ups delay it by at most this share of time; 0: hold as given",
        only={"mode": SLEEPING},
    )  # fmt: skip
    slow_rate: RealPart = key(0.25, "the slow rate over the full one", only={"mode": ("adaptive-rate",)})
    slow_share: Part = key(0.8, "power at the slow rate over active power", only={"mode": ("adaptive-rate",)})
    rate_change: Delay = key("1 us", "to change the rate", only={"mode": ("adaptive-rate",)})
    raise_backlog: BufferSize = key(
        "16 KiB", "waiting bytes at which the rate rises", only={"mode": ("adaptive-rate",)}
    )
    link_watts: Watts | None = key(
        None, "of one direction of a link, active; without it power is a share, and there are no joules", shown="none"
    )

    @model_validator(mode="before")
    @classmethod
    def _presets_fill_in(cls, content: Any) -> Any:
        if not isinstance(content, Mapping) or any(name not in cls.model_fields for name in content):
            return content  # said by the check of keys
        mode = content.get("mode", "active")
        if mode not in cls.choices("mode") or mode == "active":
            return content
        name = content.get("preset") or default_preset(mode)
        if name not in POWER_PRESETS:
            return content
        chosen = POWER_PRESETS[name]
        if mode not in chosen.modes:
            raise mistake("preset", f"{name} does not know the mode {mode}", f"it is for {' or '.join(chosen.modes)}")
        for needed in chosen.must_be_given:
            if needed not in content:
                raise mistake(needed, "is missing", f"{name} has no share that holds for every interface: give yours")
        usable = {k: v for k, v in chosen.values.items() if mode in cls.conditions(k).get("mode", [mode])}
        filled = {**usable, "preset": name, **content}
        for hold in ("hold", "hybrid_hold"):
            if isinstance(filled.get(hold), str) and str(filled[hold]).endswith("Ts"):
                filled[hold] = _times_sleep(str(filled[hold]), filled.get("sleep_time"), hold)
        if mode == "hybrid":
            filled.setdefault("hybrid_hold", filled.get("hold", 0))
        return filled


class Job(Table):
    """Processes that send messages to one another."""

    name: StrictStr = key("", "name in tables", shown="job 1, job 2, ...")
    processes: Processes | None = key(None, "how many, each on a node of its own", shown="all nodes not taken")
    mapping: Literal["linear", "random"] | list[int] = key(
        "linear", "nodes of the processes: the next free ones, free ones at random, or a list"
    )
    pattern: Literal["uniform", "permutation", "neighbours-2d", "neighbours-3d", "all-to-all", "incast", "hot-spot"] = (
        key("uniform", "who sends to whom")
    )
    arrivals: Literal["poisson", "periodic", "bursty", "closed"] = key(
        "poisson", "when messages are created; closed: rounds of computing, sending and waiting for all"
    )
    load: RealPart = key(0.5, "offered bytes of a process over nic_bandwidth", only={"arrivals": OPEN})
    message: MessageSize = key("16 KiB", "size of a message")
    messages: Number = key(100, "created by each process in all; 0: until end", only={"arrivals": OPEN})
    start: Delay = key(0, "when the job begins")
    burst: Duration = key("10 us", "mean length of a burst at full rate", only={"arrivals": ("bursty",)})
    iterations: Positive = key(10, "rounds", only={"arrivals": ("closed",)})
    compute: Delay = key("100 us", "computing before the messages of a round", only={"arrivals": ("closed",)})
    hot_share: Part = key(0.1, "share of messages that go to the targets", only={"pattern": ("hot-spot",)})
    targets: Positive = key(1, "processes that all others send to", only={"pattern": ("incast", "hot-spot")})
    grid: list[Positive] | None = key(
        None, "processes in each dimension", only={"pattern": ("neighbours-2d", "neighbours-3d")},
        shown="as cubic as can be",
    )  # fmt: skip

    @model_validator(mode="before")
    @classmethod
    def _lists_are_lists(cls, content: Any) -> Any:
        if not isinstance(content, Mapping):
            return content
        mapping = content.get("mapping", "linear")
        numbers = isinstance(mapping, list) and all(type(n) is int and n >= 0 for n in mapping)
        if not numbers and mapping not in ("linear", "random"):
            raise mistake("mapping", f"is {mapping!r}", "it must be linear, random or a list of nodes")
        return content

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if isinstance(self.mapping, list):
            if len(set(self.mapping)) != len(self.mapping) or not self.mapping:
                raise mistake("mapping", "names a node twice" if self.mapping else "is empty", "name each node once")
            if self.processes is not None and self.processes != len(self.mapping):
                found = f"is {self.processes} and mapping names {formatting.count(len(self.mapping), 'node')}"
                raise mistake("processes", found, "leave it out, or let them agree")
        dimensions = 2 if self.pattern == "neighbours-2d" else 3
        if self.grid is not None and len(self.grid) != dimensions:
            raise mistake("grid", f"has {len(self.grid)} dimensions", f"{self.pattern} has {dimensions}")
        return self


class Description(Table):
    """A whole simulation."""

    seed: Annotated[int, BeforeValidator(Whole(0, 2**63 - 1)), Whole(0, 2**63 - 1)] = key(
        1, "of everything drawn at random: the same seed gives the same result, to the bit"
    )
    end: Duration | None = key(None, "stop at this simulated time", shown="when all is done")
    warmup: Delay = key(0, "what is created before is simulated, but not in the latencies")
    topology: Annotated[NetworkChoice, BeforeValidator(read_choice)] = Field(
        description="which network; lull topology lists topologies, their parameters and presets"
    )
    network: Network = Field(default=Network())
    routing: Routing = Field(default=Routing())
    power: Power = Field(default=Power())
    jobs: list[Job] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _jobs_have_names(cls, content: Any) -> Any:
        if not isinstance(content, Mapping):
            return content
        jobs = content.get("jobs")
        if jobs is None or jobs == []:
            raise mistake("jobs", "is missing", "describe at least one job, as [[jobs]]")
        if not isinstance(jobs, list):
            raise mistake("jobs", "is not a list of tables", "head each job with [[jobs]]")
        if "topology" not in content:
            raise mistake("topology", "is missing", "name a preset or a topology, lull topology lists them")
        named = [
            {**job, "name": job.get("name", f"job {place + 1}")} if isinstance(job, Mapping) else job
            for place, job in enumerate(jobs)
        ]
        return {**content, "jobs": named}

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        names = [job.name for job in self.jobs]
        for place, job in enumerate(self.jobs):
            where = f"jobs.{place}"
            if not job.name or names.index(job.name) != place:
                raise mistake(f"{where}.name", f"is '{job.name}'", "give each job a name of its own")
            if job.applies("messages") and job.messages == 0 and self.end is None:
                raise mistake(f"{where}.messages", "is 0, and there is no end", "give end, or a number of messages")
        if self.end is not None and self.warmup >= self.end:
            raise mistake("warmup", "is not before end", "make it shorter")
        return self

    def content(self) -> dict[str, Any]:
        """The description as a user could have written it, with every default that applies; it reads as the same."""
        return {
            **_shown(self, ("seed", "end", "warmup")),
            "topology": self.topology.content(),
            "network": _shown(self.network),
            "routing": _shown(self.routing),
            "power": _shown(self.power),
            "jobs": [_shown(job) for job in self.jobs],
        }


def read_file(path: Path) -> dict[str, Any]:
    """The content of a description: a TOML file, or the simulation.json that an earlier simulation left.

    Raises:
        UsageError: It cannot be read, or is neither.
    """
    asked = f"read {path}"
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            content = json.loads(text)
            found = content.get("description") if isinstance(content, dict) else None
            if not isinstance(found, dict):
                raise UsageError(asked, "it is not the simulation.json of a simulation", "name a TOML file")
            return found
        return tomllib.loads(text)
    except OSError as error:
        raise UsageError(asked, describe_os_error(error), "name a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UsageError(asked, f"it is not {'JSON' if path.suffix == '.json' else 'TOML'}: {error}") from error


def read_description(content: Mapping[str, Any], asked: str) -> Description:
    """Check a whole description.

    Raises:
        UsageError: The first mistake: the key, what was found, what is allowed.
    """
    try:
        return Description.model_validate(content)
    except ValidationError as error:
        raise usage_error(asked, error) from error


def _times_sleep(text: str, sleep: object, name: str) -> str:
    """ "2 Ts" as a time."""
    try:
        times = SHARE.parse(text.removesuffix("Ts").strip())
        return f"{round(times * TIME.parse(sleep))} ps"
    except ValueError as error:
        raise mistake(name, f"is '{text}'", 'it must be a time such as "1.1 us" or "2 Ts"') from error


def _shown(table: Table, names: tuple[str, ...] = ()) -> dict[str, Any]:
    """The keys of a table that apply, with quantities in the units a reader expects."""
    shown: dict[str, Any] = {}
    for name in names or tuple(type(table).model_fields):
        value = getattr(table, name)
        if value is None or not table.applies(name):
            continue
        amount = next((m for m in metadata(type(table), name) if isinstance(m, Amount | Whole)), None)
        if isinstance(amount, Amount) and amount.of in (TIME, SIZE, RATE):
            value = amount.of.show(value)
        elif isinstance(amount, Whole) and amount.word and value == 0:
            value = amount.word
        shown[name] = value
    return shown


def metadata(table: type[Table], name: str) -> list[Any]:
    """What stands in the Annotated of a key, also of one that may be absent."""
    field = table.model_fields[name]
    inner = [part for arg in getattr(field.annotation, "__args__", ()) for part in getattr(arg, "__metadata__", ())]
    return [*field.metadata, *inner]
