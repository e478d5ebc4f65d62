"""Run a description in the simulator, and also the same with links always active."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lull import _core
from lull.base.errors import UsageError
from lull.base.native import native_errors
from lull.simulation.description import FILES, Description, always_active, questions, waits, without_questions
from lull.simulation.latency import PICOSECONDS, latency_of
from lull.simulation.mapping import place
from lull.simulation.result import (
    KINDS,
    JobResult,
    Links,
    Power,
    ProcessTime,
    Result,
    Sampled,
    Saving,
    mean_power,
    power_of,
)
from lull.simulation.tolerance import tolerance_of


@dataclass(frozen=True)
class SimulationState:
    """The progress of a simulation."""

    what: str  # "active links" while the baseline runs, otherwise the power mode
    now_s: float  # simulated time
    events: int
    done: int  # messages delivered
    expected: int  # messages to deliver; 0: unknown


Progress = Callable[[SimulationState], bool | None]  # returns False to stop


def run(description: Description, asked: str, *, progress: Progress | None = None, baseline: bool = True) -> Result:
    """Simulate a description that has been checked.

    Args:
        description: As returned by `read_description`.
        asked: The action, with which errors begin.
        progress: Called about ten times per second of real time; if it returns False, the simulation ends at once with
            the results so far (`Result.stopped`).
        baseline: Whether to simulate the same with links always active, too, if the power mode is another;
            `Result.slowdown` needs it.

    Raises:
        UsageError: The description contradicts itself.
        LullError: The network deadlocks.
    """
    if not baseline and questions(description) and waits(description):
        what = " and ".join(questions(description))
        found = f"{what} follow from links that never delay a packet, but power.mode is {description.mode}"
        raise UsageError(asked, found, "simulate the baseline too, or set power.mode=active or power.wake_delays=false")
    nodes = number_of_nodes(description)
    _read_traces(description, progress)
    placed = place(description, nodes, asked)
    active = None
    if baseline and description.mode != "active":
        active = _run_once(always_active(description, asked), placed, nodes, "active links", progress)
        if active.stopped:
            return active
    if active is None:
        return _run_once(description, placed, nodes, description.mode, progress)
    result = _run_once(without_questions(description, asked), placed, nodes, description.mode, progress)
    result = replace(result, description=description.content, savings=active.savings)
    jobs = tuple(job.compared_with(other) for job, other in zip(result.jobs, active.jobs, strict=True))
    return replace(result, jobs=jobs, active=active)


def number_of_nodes(description: Description) -> int:
    """The number of nodes of the network.

    Raises:
        UsageError: The parameters of the topology contradict each other.
    """
    with native_errors():
        return _core.topology_nodes(description.network.name, description.network.parameters)


def _read_traces(description: Description, progress: Progress | None) -> None:
    """Read the traces and GOAL files that jobs replay, which may take longer than all other preparations."""
    for job in description.content["jobs"]:
        for key, path in ((key, job[key]) for key in FILES if key in job):
            what = f"read {Path(path).name}"

            def shown(done: int, expected: int, what: str = what) -> bool:
                return progress is None or progress(SimulationState(what, 0.0, done, done, expected)) is not False

            with native_errors():
                if key == "goal":
                    _core.read_goal(path, shown)
                else:
                    _core.read_trace(path, job.get("trace_iteration", ""), shown)


def _run_once(
    description: Description, placed: list[list[int]], nodes: int, what: str, progress: Progress | None
) -> Result:
    def shown(now_ps: int, events: int, done: int, expected: int) -> bool:
        return (
            progress is None
            or progress(SimulationState(what, now_ps / PICOSECONDS, events, done, expected)) is not False
        )

    with native_errors():
        found = _core.simulate(description, placed, shown)
    return _result(description, placed, nodes, found)


def _result(description: Description, placed: list[list[int]], nodes: int, found: _core.Simulated) -> Result:
    whole = found.sampled
    seconds = (found.ended_ps if whole is None else whole.time_ps) / PICOSECONDS
    links = _links(found.links)
    power = _powers(found, links, seconds)
    cut_off = found.stopped or (description.end_ps is not None and found.ended_ps >= description.end_ps)
    jobs = tuple(
        JobResult(
            name=job.name,
            processes=len(processes),
            started_s=job.started_ps / PICOSECONDS,
            ended_s=_ended_s(found, job, description.content, place, cut_off),
            finished=not cut_off,
            messages=job.messages,
            bytes=job.bytes,
            latency=latency_of(job.message_latency),
            iteration_ends_s=np.asarray(job.iteration_ends_ps, dtype=np.float64) / PICOSECONDS,
            run_ends_s=np.asarray([] if job.sampled else job.run_ends_ps, dtype=np.float64) / PICOSECONDS,
            together=bool(description.content["together"]) and job.time is not None,
            estimated_s=job.sampled.run_time_ps / PICOSECONDS if job.sampled is not None else None,
            time=_time(job.time, len(processes))
            if job.sampled is None
            else _estimated_time(job.sampled, len(processes)),
            memory_messages=job.memory_messages,
            memory_bytes=job.memory_bytes,
            tolerance=tolerance_of(job.tolerance, description.content.get("savings", [])),
            remarks=tuple(job.remarks),
        )
        for place, (job, processes) in enumerate(zip(found.jobs, placed, strict=True))
    )
    return Result(
        description=description.content,
        simulated_s=seconds,
        events=found.events,
        packets=found.packets,
        packet_hops=found.packet_hops,
        bytes_delivered=found.bytes_delivered,
        messages_created=found.messages_created,
        messages_delivered=found.messages_delivered,
        stopped=found.stopped,
        ended_early=cut_off and not found.stopped,
        virtual_channels=found.virtual_channels,
        queues="fifo" if found.fifo else "explicit",
        why_not_fifo=found.why_not_fifo,
        simulator_cpu_s=found.loop_cpu_s + found.setup_cpu_s,
        packet_latency=latency_of(found.packet_latency),
        network_latency=latency_of(found.network_latency),
        hops=np.array(found.hops, dtype=np.int64),
        jobs=jobs,
        links=links,
        power=power["power"],
        network_power=power["network_power"],
        used_power=power["used_power"],
        sampled=_sampled(found),
        nodes=nodes,
        link_watts=description.link_watts,
        savings=tuple(
            _saving(settings, of, links, seconds)
            for settings, of in zip(description.content.get("savings", []), found.savings, strict=True)
        ),
    )


def _ended_s(
    found: _core.Simulated, job: _core.SimulatedJob, content: dict[str, Any], place: int, cut_off: bool
) -> float:
    """When a job ended; of a sampled one, when all its runs would have."""
    if found.sampled is None or job.sampled is None:
        return max(found.ended_ps if cut_off else job.ended_ps, job.started_ps) / PICOSECONDS
    repeats = content["jobs"][place]["repeats"]
    lasted_ps = found.sampled.time_ps if content["together"] else job.sampled.run_time_ps * repeats
    return (job.started_ps + lasted_ps) / PICOSECONDS


def _powers(found: _core.Simulated, links: Links, seconds: float) -> dict[str, Power]:
    if found.sampled is not None:
        return _powers_of_groups(found.sampled, found.shares, links, seconds)
    return {
        "power": power_of(links, np.ones(len(links), dtype=np.bool_), seconds, found.shares),
        "network_power": power_of(links, links.between_switches, seconds, found.shares),
        "used_power": power_of(links, links.used, seconds, found.shares),
    }


def _sampled(found: _core.Simulated) -> Sampled | None:
    if found.sampled is None:
        return None
    units = [unit for job in found.jobs if job.sampled is not None for unit in job.sampled.units]
    hops = found.sampled.packet_hops
    return Sampled(
        simulated_s=found.ended_ps / PICOSECONDS,
        packet_hops=hops,
        share=found.packet_hops / hops if hops > 0 else 1.0,
        units=(sum(measured for _, _, measured, _, _ in units), sum(count for _, count, _, _, _ in units)),
    )


def _estimated_time(found: _core.SampledJob, processes: int) -> ProcessTime:
    """Computing is known of the whole run, sending is estimated, and processes wait for the rest."""
    computing_s, sending_s = (one / PICOSECONDS / processes for one in (found.computing_ps, found.sending_ps))
    return ProcessTime(computing_s, sending_s, max(0.0, found.run_time_ps / PICOSECONDS - computing_s - sending_s))


def _saving(settings: dict[str, Any], found: _core.SimulatedSaving, links: Links, seconds: float) -> Saving:
    return Saving(settings, **_powers_of_groups(found, found.shares, links, seconds))


def _powers_of_groups(
    found: _core.SimulatedSaving | _core.SampledRun, shares: dict[str, float], links: Links, seconds: float
) -> dict[str, Power]:
    number = [[int((links.used[links.kind == kind] == used).sum()) for kind in range(len(KINDS))] for used in (0, 1)]

    def power(used: tuple[int, ...], kinds: Sequence[int]) -> Power:
        rows = [(found.unused, found.used)[one][kind] for one in used for kind in kinds]
        deep_ps, fast_ps, wakes = (sum(row[place] for row in rows) for place in range(3))
        sums = {"fast wake": fast_ps / PICOSECONDS, "deep sleep": deep_ps / PICOSECONDS, "slow rate": 0.0}
        counted = sum(number[one][kind] for one in used for kind in kinds)
        return mean_power(sums, int(wakes), seconds * counted, shares)

    every = range(len(KINDS))
    return {
        "power": power((0, 1), every),
        "network_power": power((0, 1), [KINDS.index("network")]),
        "used_power": power((1,), every),
    }


def _time(found: _core.ProcessTime | None, processes: int) -> ProcessTime | None:
    if found is None:
        return None
    sums = (found.computing_ps, found.sending_ps, found.waiting_ps)
    return ProcessTime(*(one / PICOSECONDS / processes for one in sums))


def _links(found: _core.SimulatedLinks) -> Links:
    def seconds(picoseconds: Any) -> Any:
        return np.asarray(picoseconds, dtype=np.float64) / PICOSECONDS

    return Links(
        source=np.asarray(found.from_end, dtype=np.int64),
        target=np.asarray(found.to_end, dtype=np.int64),
        kind=np.asarray(found.kind, dtype=np.int8),
        packets=np.asarray(found.packets, dtype=np.int64),
        bytes=np.asarray(found.bytes, dtype=np.int64),
        wakes=np.asarray(found.wakes, dtype=np.int64),
        busy_s=seconds(found.busy_ps),
        deep_sleep_s=seconds(found.deep_sleep_ps),
        fast_wake_s=seconds(found.fast_wake_ps),
        slow_s=seconds(found.slow_ps),
    )
