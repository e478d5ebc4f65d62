"""The files of a simulation: simulation.json, also the output of `lull simulate --format json`, and links.parquet.

simulation.json contains the whole description with all defaults, from which the simulation can be repeated, and all
figures of each repeat. Every repeat has its own seed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from lull import __version__
from lull.base.columns import dtype_of, numbers, texts
from lull.record import Metric, Model
from lull.record.model_file import read_model
from lull.simulation.latency import Latency
from lull.simulation.result import KINDS, JobResult, Links, Power, ProcessTime, Result, Sampled, Saving
from lull.simulation.tolerance import Tolerance

SCHEMA: Final = 1
SIMULATION_FILE = "simulation.json"
LINKS_FILE = "links.parquet"

LINKS_SCHEMA = pa.schema(
    [
        ("repeat", pa.int32()),
        ("kind", pa.dictionary(pa.int8(), pa.string())),
        ("source", pa.int32()),
        ("target", pa.int32()),
        ("packets", pa.int64()),
        ("bytes", pa.int64()),
        ("wakes", pa.int64()),
        ("busy_s", pa.float64()),
        ("deep_sleep_s", pa.float64()),
        ("fast_wake_s", pa.float64()),
        ("slow_s", pa.float64()),
    ]
)


class LatencyAccount(Model):
    """Latencies, in seconds. Percentiles come from bins a sixteenth of an octave wide and are exact to 6 %."""

    count: int = Field(ge=0)  # number of latencies
    mean_s: float  # mean
    mean_low_s: float | None  # 95 % interval of the mean, from batch means; null if there are too few
    mean_high_s: float | None  # upper end of this interval
    median_s: float  # median
    p99_s: float  # 99th percentile
    least_s: float  # least latency
    most_s: float  # greatest latency
    bins: list[tuple[float, float, int]]  # lower edge, upper edge, count; without empty bins


class PowerAccount(Model):
    """Mean power of links over their active power, and the share of time in each state."""

    share: float  # mean power over active power, 0 to 1
    saved: float  # 1 - share
    states: dict[str, float]  # active, fast wake, deep sleep, slow rate
    wakes: int  # number of wake-ups


class SavingAccount(Model):
    """What a power mode would save if its wake-ups delayed no packet, from the pauses of active links."""

    settings: dict[str, Any]  # its entry in [[savings]], with all defaults that apply
    power: PowerAccount  # of all links
    network_power: PowerAccount  # of links between switches
    used_power: PowerAccount  # of links that carried a packet


class TimeAccount(Model):
    """The time of a program's processes by activity: the mean over the processes.

    The overhead of sends counts as sending, that of receives as waiting.
    """

    computing_s: float  # outside communication
    sending_s: float  # until messages have left
    waiting_s: float  # for messages, answers and collectives


class JobAccount(Model):
    """The results of one job."""

    name: str  # name of the job
    processes: int  # number of its processes
    started_s: float  # simulated time of its start
    ended_s: float  # simulated time of its end
    finished: bool  # false: cut off by `end`, after the given run time
    run_time_s: float  # from start to end; of a job that ran together with others, the mean time of a run
    active_run_time_s: float | None  # with links always active; null if not simulated
    slowdown: float | None  # run time over active run time, minus 1
    messages: int  # messages between nodes
    bytes: int  # bytes of these messages
    message_latency: LatencyAccount | None  # from send to delivery; null without messages
    iterations: int = 0  # finished by all processes; 0 for jobs without iterations
    runs: int = 0  # whole runs of a program, finished by all processes
    together: bool = False  # it ran again and again until every program had ended a run
    run_ends_s: list[float] = Field(default=[])  # of jobs that ran together: simulated time of the end of each run
    time: TimeAccount | None = None  # for programs
    memory_messages: int = 0  # messages within a node, not included in messages
    memory_bytes: int = 0  # bytes of these
    tolerance: Tolerance | None = None  # of a program, if the description wants it
    remarks: tuple[str, ...] = ()  # what a reader must know


class LinkUse(Model):
    """Share of time in which links transmit, over all links of a kind."""

    links: int  # number of links
    mean: float  # mean share, 0 to 1
    median: float  # median share
    most: float  # greatest share
    histogram: list[int]  # links by use, in 20 bins of 5 %


class SampledAccount(Model):
    """How much of a sampled simulation was simulated; the other figures are estimates of the whole."""

    simulated_s: float  # time that was simulated
    packet_hops: float  # of the whole, estimated
    share: float  # of the packet-hops of the whole that were simulated
    units_measured: int  # units of programs that were measured
    units: int  # of one run of each job


class RepeatAccount(Model):
    """One simulation."""

    seed: int  # seed of its random numbers
    simulated_s: float  # simulated time
    ended_early: bool  # by `end`, before everything was delivered
    events: int  # number of simulated events
    packets: int  # number of packets
    packet_hops: int  # links crossed by all packets
    bytes_delivered: int  # bytes that arrived
    messages_created: int  # messages sent
    messages_delivered: int  # messages that arrived
    throughput: float  # bytes per second and process; of a sampled simulation, in the part
    virtual_channels: int  # number for each link
    queues: str  # the model of queues: explicit or fifo
    why_not_fifo: str  # why queues are explicit; empty: they are not
    simulator_cpu_s: float  # CPU time of the simulator itself
    packet_latency: LatencyAccount | None  # from creation to delivery; null without packets
    network_latency: LatencyAccount | None  # from entry into the network to delivery; null without packets
    active_packet_latency: LatencyAccount | None  # with links always active
    hops: list[int]  # packets by the number of links they crossed
    jobs: list[JobAccount]  # one for each job
    slowdown: float | None  # of the job with the largest slowdown
    power: PowerAccount  # of all links
    network_power: PowerAccount  # of links between switches
    used_power: PowerAccount | None = None  # of links that carried a packet; null in older files
    savings: list[SavingAccount] = Field(default=[])  # of the entries of [[savings]], in their order
    link_use: dict[str, LinkUse]  # by kind: injection, ejection, network
    joules: float | None  # null without power.link_watts
    sampled: SampledAccount | None = None  # null: all was simulated


class SimulationFile(Model):
    """The content of simulation.json."""

    schema_version: Literal[1] = Field(default=SCHEMA, alias="schema")  # version of this form
    lull_version: str  # version of Lull that simulated
    description: dict[str, Any]  # the whole TOML, with all defaults that apply
    nodes: int  # nodes of the network
    links: int  # one direction each
    repeats: list[RepeatAccount] = Field(min_length=1)  # one for each seed

    model_config = Model.model_config | {"populate_by_name": True}


def figures_of(result: Result) -> RepeatAccount:
    """The figures of one simulation."""
    kinds = {name: result.links.kind == place for place, name in enumerate(KINDS)}
    return RepeatAccount(
        seed=result.description["seed"],
        simulated_s=result.simulated_s,
        ended_early=result.ended_early,
        events=result.events,
        packets=result.packets,
        packet_hops=result.packet_hops,
        bytes_delivered=result.bytes_delivered,
        messages_created=result.messages_created,
        messages_delivered=result.messages_delivered,
        throughput=result.throughput,
        virtual_channels=result.virtual_channels,
        queues=result.queues,
        why_not_fifo=result.why_not_fifo,
        simulator_cpu_s=result.simulator_cpu_s + (result.active.simulator_cpu_s if result.active else 0),
        packet_latency=_latency(result.packet_latency),
        network_latency=_latency(result.network_latency),
        active_packet_latency=_latency(result.active.packet_latency) if result.active else None,
        hops=[int(n) for n in result.hops],
        jobs=[_job(job) for job in result.jobs],
        slowdown=result.slowdown,
        power=_power(result.power),
        network_power=_power(result.network_power),
        used_power=_power(result.used_power),
        savings=[_saving(one) for one in result.savings],
        link_use={name: _use(result.link_use[chosen]) for name, chosen in kinds.items() if chosen.any()},
        joules=result.joules,
        sampled=_sampled(result.sampled),
    )


def file_of(result: Result, repeats: list[RepeatAccount] | None = None) -> SimulationFile:
    """The content of simulation.json for `result`, or for several repeats of it."""
    return SimulationFile(
        lull_version=__version__,
        description=result.description,
        nodes=result.nodes,
        links=len(result.links),
        repeats=repeats or [figures_of(result)],
    )


def metrics_of(figures: RepeatAccount) -> dict[str, Metric]:
    """The metrics of run.json: the figures that are single numbers."""
    found: dict[str, tuple[float | None, str]] = {}
    for name, latency in (
        ("packet_latency", figures.packet_latency),
        ("network_latency", figures.network_latency),
        *((f"message_latency.{job.name}", job.message_latency) for job in figures.jobs),
    ):
        if latency is not None:
            found |= {
                f"{name}_mean": (latency.mean_s, "s"),
                f"{name}_mean_low": (latency.mean_low_s, "s"),
                f"{name}_mean_high": (latency.mean_high_s, "s"),
                f"{name}_median": (latency.median_s, "s"),
                f"{name}_p99": (latency.p99_s, "s"),
            }
    for job in figures.jobs:
        found |= {
            f"run_time.{job.name}": (job.run_time_s, "s"),
            f"active_run_time.{job.name}": (job.active_run_time_s, "s"),
            f"slowdown.{job.name}": (_percent(job.slowdown), "%"),
        }
        if job.time is not None:
            found |= {
                f"computing.{job.name}": (job.time.computing_s, "s"),
                f"sending.{job.name}": (job.time.sending_s, "s"),
                f"waiting.{job.name}": (job.time.waiting_s, "s"),
            }
    found |= {
        "throughput": (figures.throughput, "B/s"),
        "packets": (figures.packets, ""),
        "messages": (figures.messages_delivered, ""),
        "slowdown": (_percent(figures.slowdown), "%"),
        "power_share": (figures.power.share, ""),
        "power_saved": (_percent(figures.power.saved), "%"),
        "network_power_share": (figures.network_power.share, ""),
        "network_power_saved": (_percent(figures.network_power.saved), "%"),
        "used_power_saved": (_percent(figures.used_power.saved if figures.used_power else None), "%"),
        "wakes": (figures.power.wakes, ""),
        "events": (figures.events, ""),
    }
    return {name: Metric(value=value, unit=unit) for name, (value, unit) in found.items() if value is not None}


def links_table(links: Links, repeat: int) -> pa.Table:
    """The links of one repeat as rows of links.parquet."""
    made = {
        "repeat": numbers(np.full(len(links), repeat, dtype=np.int32)),
        "kind": pa.DictionaryArray.from_arrays(numbers(links.kind), texts(KINDS)),
    }
    for field in LINKS_SCHEMA:
        if field.name not in made:
            made[field.name] = numbers(getattr(links, field.name).astype(dtype_of(field.type), copy=False))
    return pa.Table.from_arrays([made[name] for name in LINKS_SCHEMA.names], schema=LINKS_SCHEMA)


def read_simulation(folder: Path) -> SimulationFile:
    """Read the simulation.json of a record.

    Raises:
        LullError: It is missing or damaged.
    """
    return read_model(folder / SIMULATION_FILE, SimulationFile, f"read the simulation {folder}", "simulate it again")


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as the content of a parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _latency(of: Latency | None) -> LatencyAccount | None:
    if of is None:
        return None
    places = np.flatnonzero(of.counts)
    bins = [(float(of.edges_s[i]), float(of.edges_s[i + 1]), int(of.counts[i])) for i in places]
    return LatencyAccount(
        count=of.count,
        mean_s=of.mean_s,
        mean_low_s=of.mean_low_s,
        mean_high_s=of.mean_high_s,
        median_s=of.median_s,
        p99_s=of.p99_s,
        least_s=of.least_s,
        most_s=of.most_s,
        bins=bins,
    )


def _sampled(of: Sampled | None) -> SampledAccount | None:
    if of is None:
        return None
    measured, units = of.units
    return SampledAccount(
        simulated_s=of.simulated_s,
        packet_hops=of.packet_hops,
        share=of.share,
        units_measured=measured,
        units=units,
    )


def _power(of: Power) -> PowerAccount:
    return PowerAccount(share=of.share, saved=of.saved, states=of.states, wakes=of.wakes)


def _saving(of: Saving) -> SavingAccount:
    return SavingAccount(
        settings=of.settings,
        power=_power(of.power),
        network_power=_power(of.network_power),
        used_power=_power(of.used_power),
    )


def _job(of: JobResult) -> JobAccount:
    return JobAccount(
        name=of.name,
        processes=of.processes,
        started_s=of.started_s,
        ended_s=of.ended_s,
        finished=of.finished,
        run_time_s=of.run_time_s,
        active_run_time_s=of.active_run_time_s,
        slowdown=of.slowdown,
        messages=of.messages,
        bytes=of.bytes,
        message_latency=_latency(of.latency),
        iterations=len(of.iteration_ends_s),
        runs=of.runs,
        together=of.together,
        run_ends_s=[float(end) for end in of.run_ends_s] if of.together else [],
        time=_time(of.time),
        memory_messages=of.memory_messages,
        memory_bytes=of.memory_bytes,
        tolerance=of.tolerance,
        remarks=of.remarks,
    )


def _time(of: ProcessTime | None) -> TimeAccount | None:
    if of is None:
        return None
    return TimeAccount(computing_s=of.computing_s, sending_s=of.sending_s, waiting_s=of.waiting_s)


def _use(shares: np.ndarray[tuple[int], np.dtype[np.float64]]) -> LinkUse:
    counts, _ = np.histogram(shares, bins=20, range=(0, 1))
    return LinkUse(
        links=len(shares),
        mean=float(shares.mean()),
        median=float(np.median(shares)),
        most=float(shares.max()),
        histogram=[int(n) for n in counts],
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
