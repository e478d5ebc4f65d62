"""How fast are traces and skeletons of applications simulated, and how long do the study's grids take? (`make
bench-replay`)

A trace of a ping-pong of two MPI processes is read and replayed in its own process: events per CPU second of both
together, and the additional memory of the process. An all-to-all exchange is simulated in turn as a program and as a
traffic pattern with the same packets. The packet-hops are those of the study `links`: its seven applications at 256
processes on the dragonfly, each of the twelve settings of links; a rate is all packet-hops over all CPU seconds of the
event loop. The duration of both grids of the paper is estimated from some of their points, in strata: applications
alone by size, workloads by mode of links. If enough of a stratum is kept in docs/results/links, its recorded times are
used; otherwise some points are drawn and simulated, at this run's speed. Workloads differ: an unknown one's time is
estimated from the packet-hops of its jobs alone.

Prints one line of JSON: medians, and in `spread` the minimum and maximum of the rounds; figures.toml describes them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lull.base import installed
from lull.mpi.preload import preloaded
from lull.simulation.description import read_description
from lull.simulation.engine import number_of_nodes
from lull.simulation.mapping import place
from lull.study.kinds import read_study
from lull.study.simulations.earlier_results import EarlierRows, read_earlier_rows
from lull.study.simulations.grids import ACTIVE, Point, all_points
from lull.trace.convert import convert

TOP = Path(__file__).resolve().parent.parent
ROUNDS = 3
PINGPONG_ROUNDS = 100_000
PROCESSES = 256
ALL_TO_ALL_BYTES = 16384
ALL_TO_ALL_ROUNDS = 2
CORES = 2
DAY_S = 86400.0
KEPT = TOP / "docs" / "results" / "links" / "points.csv"
ENOUGH_KEPT = {"single": 24, "multi": 4}  # of a stratum: of 72 points, and of 20 workloads
OPENMPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def simulate_once(content: dict[str, Any]) -> dict[str, Any]:
    """One run in a new process; returns the output of netsim/once.py."""
    description = read_description(content, "read the description")
    placed = place(description, number_of_nodes(description), "place")
    jobs = [{**job, "mapping": nodes} for job, nodes in zip(content["jobs"], placed, strict=True)]
    return in_a_process("netsim/once.py", {**content, "jobs": jobs})


def in_a_process(script: str, given: dict[str, Any]) -> dict[str, Any]:
    """The JSON output of a script in this folder."""
    command = [sys.executable, str(TOP / "benchmarks" / script)]
    ended = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"time {script}: it failed: {ended.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def traced_pingpong(folder: Path) -> int:
    """Leave an archive in `folder`/trace and return its number of events."""
    program = folder / "pingpong"
    subprocess.run(["mpicc.openmpi", "-O2", TOP / "benchmarks" / "trace" / "pingpong.c", "-o", program], check=True)
    trace = folder / "trace"
    environment = preloaded({**os.environ, **OPENMPI}, tools={"LULL_TRACE": str(trace), "LULL_TRACE_LIMIT": "8G"})
    words = ["mpirun.openmpi", "-n", "2", "--bind-to", "core", str(program), "8", str(PINGPONG_ROUNDS)]
    subprocess.run(words, env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return convert(trace, keep_raw=False).events


def replay_cost_pct() -> float:
    """How much more an all-to-all exchange costs per packet-hop as a program than as a pattern."""
    common = {"processes": PROCESSES, "mapping": "linear"}
    program = {
        **common,
        "pattern": "collective",
        "collective": "alltoall",
        "alltoall": "linear",
        "collective_bytes": ALL_TO_ALL_BYTES,
        "rounds": ALL_TO_ALL_ROUNDS,
        "eager": ALL_TO_ALL_BYTES,
    }
    pattern = {
        **common,
        "pattern": "all-to-all",
        "arrivals": "closed",
        "message": ALL_TO_ALL_BYTES,
        "iterations": ALL_TO_ALL_ROUNDS,
        "compute": 0,
    }
    sides = []
    for job in (program, pattern):
        found = simulate_once({"topology": {"preset": "fat-tree-4608"}, "jobs": [job]})
        sides.append((found["packets"], found["loop_cpu_s"] / found["packet_hops"]))
    if sides[0][0] != sides[1][0]:
        raise SystemExit(f"time a program: it has {sides[0][0]} packets, the pattern {sides[1][0]}")
    return 100 * (sides[0][1] / sides[1][1] - 1)


def slice_of(points: Sequence[Point]) -> list[Point]:
    """The applications at 256 processes on the dragonfly, in each setting of the links."""
    return [
        point
        for point in points
        if point.grid == "single"
        and point.factors["topology"] == "dragonfly-rows-4608"
        and point.factors["mapping"] == "linear"
        and point.jobs[0].processes == PROCESSES
    ]


def setting_of(point: Point) -> str:
    """The setting of its links."""
    return f"{point.factors['mode']} {point.factors['hold']}".strip()


def rates(points: Sequence[Point]) -> dict[str, float]:
    """Packet-hops per CPU second, for each setting."""
    hops: dict[str, float] = defaultdict(float)
    seconds: dict[str, float] = defaultdict(float)
    for point in points:
        found = simulate_once(point.content)
        hops[setting_of(point)] += found["packet_hops"]
        seconds[setting_of(point)] += found["loop_cpu_s"]
    return {name: hops[name] / seconds[name] for name in hops}


def grids_s(points: Sequence[Point], kept: EarlierRows, drawn: random.Random, each: int) -> tuple[float, float]:
    """The CPU seconds of all points, and their standard error."""
    strata: dict[tuple[Any, ...], list[Point]] = defaultdict(list)
    for point in points:
        first = point.jobs[0]
        alike = (first.application, first.processes) if point.grid == "single" else (point.factors["mode"],)
        strata[(point.grid, *alike)].append(point)
    packet_hops = hops_alone(points, kept)
    total, variance = 0.0, 0.0
    for number, own in enumerate(strata.values(), 1):
        known = {point.name: kept[point.name][0].simulator_cpu_s for point in own if point.name in kept}
        if len(groups_of(own, known)) < ENOUGH_KEPT[own[0].grid] and len(known) < len(own):
            chosen = drawn.sample(own, min(len(own), each))
            known = {point.name: simulate_once(point.content)["process_cpu_s"] for point in chosen}
        seconds, error = estimated(own, known, sizes_of(own, packet_hops))
        total += seconds
        variance += error**2
        print(f"sample {number}/{len(strata)}: {total:.0f} s", file=sys.stderr)
    return total, variance**0.5


def hops_alone(points: Sequence[Point], kept: EarlierRows) -> dict[tuple[Any, ...], dict[int, float]]:
    """Packet-hops of the applications alone with active links, by processes, as far as they are kept."""
    found: dict[tuple[Any, ...], dict[int, float]] = defaultdict(dict)
    for point in points:
        if point.grid == "single" and point.factors["mode"] == ACTIVE and point.name in kept:
            job = point.jobs[0]
            where = (point.factors["topology"], point.factors["mapping"], job.application)
            found[where][job.processes] = float(kept[point.name][0].packet_hops)
    return found


def sizes_of(points: Sequence[Point], packet_hops: dict[tuple[Any, ...], dict[int, float]]) -> dict[str, float]:
    """The sizes of the points of one stratum; all equal if they are of one job, or if a size is unknown."""
    sizes = {point.name: size_of(point, packet_hops) for point in points if point.grid != "single"}
    known = {name: size for name, size in sizes.items() if size is not None}
    return known if len(known) == len(points) else {point.name: 1.0 for point in points}


def size_of(point: Point, packet_hops: dict[tuple[Any, ...], dict[int, float]]) -> float | None:
    """Packet-hops of a run of each job of a workload, from those of the jobs alone, interpolated between numbers of
    processes by a power law. None if those of a job are unknown."""
    total = 0.0
    for job in point.jobs:
        known = packet_hops.get((point.factors["topology"], point.factors["mapping"], job.application))
        if not known:
            return None
        processes = sorted(known)
        alone = np.interp(math.log(job.processes), np.log(processes), np.log([known[number] for number in processes]))
        total += math.exp(alone)
    return total


def groups_of(points: Sequence[Point], known: Mapping[str, float]) -> dict[Any, list[Point]]:
    """The known points, grouped by workload, because their times are alike."""
    groups: dict[Any, list[Point]] = defaultdict(list)
    for point in points:
        if point.name in known:
            groups[point.factors["workload"] if point.grid == "multi" else point.name].append(point)
    return groups


def estimated(points: Sequence[Point], known: Mapping[str, float], size: Mapping[str, float]) -> tuple[float, float]:
    """Seconds of all points of a stratum from the known ones, and the standard error: a ratio estimate, because large
    points take longer; groups of points have equal weights, so that a group with more points does not dominate."""
    left = sum(size[point.name] for point in points if point.name not in known)
    groups = groups_of(points, known).values()
    times = [statistics.fmean(known[point.name] for point in group) for group in groups]
    sizes = [statistics.fmean(size[point.name] for point in group) for group in groups]
    ratio = sum(times) / sum(sizes)
    off = [time - ratio * its for time, its in zip(times, sizes, strict=True)]
    error = statistics.stdev(off) / len(off) ** 0.5 / statistics.fmean(sizes) if len(off) > 1 else ratio
    return sum(known.values()) + left * ratio, left * error


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="rounds of all but the sample (default: %(default)s)"
    )
    parser.add_argument("--sample", type=int, default=2, help="points of a stratum, at least 2 (default: %(default)s)")
    parser.add_argument("--no-sample", action="store_true", help="leave out grid_day_fraction")
    parser.add_argument("--take", type=Path, default=KEPT, help="a points.csv of the study (default: the one kept)")
    parser.add_argument("--draw", action="store_true", help="draw from all strata, whatever is kept")
    given = parser.parse_args()
    points = [point for point in all_points(read_study(installed.studies()["links"])) if point.grid != "open"]
    rounds: dict[str, list[float]] = defaultdict(list)
    details: dict[str, Any] = {"settings": []}
    with tempfile.TemporaryDirectory() as name:
        events = traced_pingpong(Path(name))
        for number in range(given.rounds):
            replayed = in_a_process("replay/once.py", {"trace": str(Path(name) / "trace")})
            rounds["events_per_cpu_s"].append(events / replayed["cpu_s"])
            rounds["bytes_per_event_in_memory"].append(replayed["bytes"] / events)
            rounds["replay_cost_pct"].append(replay_cost_pct())
            by_setting = rates(slice_of(points))
            details["settings"].append(by_setting)
            rounds["packet_hops_per_cpu_s"].append(by_setting[ACTIVE])
            rounds["packet_hops_per_cpu_s_worst_power"].append(min(by_setting.values()))
            found = ", ".join(f"{name} {values[-1]:.4g}" for name, values in rounds.items())
            print(f"round {number + 1}/{given.rounds}: {found}", file=sys.stderr)
    result: dict[str, Any] = {name: round(statistics.median(values), 3) for name, values in rounds.items()}
    spread = {name: [round(min(values), 3), round(max(values), 3)] for name, values in rounds.items()}
    if not given.no_sample:
        kept = {} if given.draw else read_earlier_rows(given.take, points)
        seconds, error = grids_s(points, kept, random.Random(1), max(2, given.sample))
        result["grid_day_fraction"] = round(seconds / CORES / DAY_S, 3)
        spread["grid_day_fraction"] = [round((seconds + d * error) / CORES / DAY_S, 3) for d in (-1, 1)]
    print(json.dumps({**result, "spread": spread, "details": details}))


if __name__ == "__main__":
    main()
