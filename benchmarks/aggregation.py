"""How fast is message aggregation compared with the same cores on tables of their own? (`make bench-aggregation`)

loops (aggregation/loops.cpp) times the public aggregator in turn with plain increments and loads on local tables, the
ceiling: 10,000 words, and 256 MiB on each PE. 2 PEs, pinned, precomputed indices, default settings:
LULL_WAIT=interrupt. Prints a table, then one line of JSON: medians of ratios taken within a round; figures.toml
describes them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import unlucky

from lull.base import installed

ROUNDS = 7
LIMIT_S = 300
THREADS = 2
TOP = Path(__file__).resolve().parent.parent
BUILD = TOP / "build" / "bench-aggregation"
SHARES = {
    "histogram_small": "local_increments_small",
    "histogram_small_bulk": "local_increments_small",
    "histogram_large": "local_increments_large",
    "histogram_large_bins": "local_increments_large",
    "gather_small": "local_loads_small",
    "gather_small_bulk": "local_loads_small",
    "gather_large": "local_loads_large",
    "gather_large_bulk": "local_loads_large",
}
# The work of each worker, a process or a thread, in the quick study of aggregation.
WORKLOADS = {
    "histogram": ["histogram", "--items", "20000", "--table", "100000"],
    "gather": ["index_gather", "--items", "20000", "--table", "100000"],
    "sort": ["radix_sort", "--items", "20000", "--digit-bits", "11"],
}
BULK = {"gather_small": "gather_small_bulk", "gather_large": "gather_large_bulk"}  # the loop used for a figure
WORST = [*(f"few_{count}" for count in (1, 10, 30, 100, 1000)), "to_one", "at_home"]
ENVIRONMENT = {**os.environ, "SHMEM_SYMMETRIC_SIZE": "1G", "LULL_WAIT": "interrupt"}


@dataclass(frozen=True)
class Job:
    """The number of PEs, and of emulated nodes or virtual hosts."""

    pes: int
    nodes: int
    hosts: bool = False

    def run(self, command: Sequence[str], **settings: str) -> str:
        """The output of the program."""
        launch = [str(installed.executable("lull-launch")), "-n", str(self.pes), "--nodes", str(self.nodes), "--"]
        if self.hosts:
            launch = [sys.executable, "-m", "lull", "run", "-n", str(self.pes), "--hosts", str(self.nodes)]
        done = subprocess.run(
            [*launch, *command],
            env=ENVIRONMENT | settings,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        if done.returncode != 0:
            last = done.stderr.strip().splitlines() or ["it said nothing"]
            raise SystemExit(f"time {' '.join(command)}: exit {done.returncode}: {last[-1]}")
        return done.stdout


@dataclass(frozen=True)
class Times:
    """Nanoseconds per item, by round."""

    wall: list[float]
    cpu: list[float]


def build() -> Path:
    """Compile the loops as a user would."""
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / "loops"
    source = TOP / "benchmarks" / "aggregation" / "loops.cpp"
    wrapper = Path(sys.prefix) / "bin" / "lullc++"
    subprocess.run([str(wrapper), "-std=c++20", "-O3", str(source), "-o", str(program)], check=True)
    return program


def loops(program: Path, job: Job, items: int, rounds: int, what: Iterable[str]) -> dict[str, Times]:
    """One run of the loops `what`, in turn."""
    seen: dict[str, Times] = defaultdict(lambda: Times([], []))
    for line in job.run([str(program), str(items), str(rounds), *what]).splitlines():
        one = json.loads(line)
        if one["what"] == "memory":
            continue
        seen[one["what"]].wall.append(one["wall_ns"])
        seen[one["what"]].cpu.append(one["cpu_ns"])
    return dict(seen)


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The median of the ratios of the rounds."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def spread(values: Sequence[float]) -> str:
    """Median and quartiles."""
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return f"{middle:10.3f} ({low:.3f} to {high:.3f})"


def table(title: str, seen: dict[str, Times]) -> None:
    """The figures of one run."""
    print(f"\n{title}: medians and quartiles of ns per item\n{'':28}{'wall':>28}{'CPU':>28}")
    for what, times in seen.items():
        print(f"{what:28}{spread(times.wall):>28}{spread(times.cpu):>28}")


def shares_of_the_ceiling(program: Path, rounds: int) -> dict[str, float]:
    """Rates over those of local loops."""
    names = dict.fromkeys((*SHARES, *SHARES.values()))
    small = loops(program, Job(2, 1), 2_000_000, rounds, [w for w in names if "_small" in w])
    large = loops(program, Job(2, 1), 8_000_000, rounds, [w for w in names if "_large" in w])
    seen = small | large
    table("2 PEs on one node", seen)
    wanted = {what: BULK.get(what, what) for what in SHARES if what not in BULK.values()}
    return {what: ratio(seen[SHARES[what]].wall, seen[loop].wall) for what, loop in wanted.items()}


def more_pes_than_cores(program: Path, rounds: int) -> dict[str, float]:
    """CPU time per item of 8 PEs over that of 2, in turn."""
    kinds = ("histogram", "gather")
    seen: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        of = {p: loops(program, Job(p, 1), 1_000_000, 3, [f"{kind}_small" for kind in kinds]) for p in (2, 8)}
        for kind in kinds:
            two, eight = (statistics.median(of[pes][f"{kind}_small"].cpu) for pes in (2, 8))
            seen[kind].append(eight / two)
    return {f"cpu_ratio_8pe_{kind}": statistics.median(seen[kind]) for kind in kinds}


def per_key(job: Job, mode: str, keys: int) -> tuple[float, float]:
    """Radix sort: time in microseconds and CPU time in nanoseconds per key of a PE. Direct: each put is a message."""
    sort = str(installed.applications()["radix_sort"])
    said = job.run([sort, "--mode", mode, "--items", str(keys)], LULL_TRANSFORM="off")
    found = re.search(r"([\d.e+-]+) M keys/s per PE, ([\d.e+-]+) ns CPU per key", said)
    if "verified" not in said or found is None:
        raise SystemExit(f"radix_sort printed something else: {said!r}")
    return 1 / float(found[1]), float(found[2])


def rate(job: Job, command: Sequence[str], **settings: str) -> float:
    """Millions of items per second of an application, over all PEs."""
    said = job.run([str(installed.applications()[command[0]]), *command[1:]], **settings)
    found = re.search(r"([\d.e+-]+) M \w+/s per PE", said)
    if "verified" not in said or found is None:
        raise SystemExit(f"{command[0]} printed something else: {said!r}")
    return float(found[1]) * job.pes


def threads_against_processes(rounds: int) -> dict[str, float]:
    """One process of two threads per node over two processes, in turn, as in the study of aggregation."""
    seen: dict[str, list[float]] = defaultdict(list)
    long_enough = ["--min-time", "0.3"]
    for _ in range(rounds):
        for nodes, where in ((1, ""), (2, "_2nodes")):
            for name, work in WORKLOADS.items():
                processes = rate(Job(THREADS * nodes, nodes), [*work, *long_enough, "--mode", "per-pe"])
                threads = rate(
                    Job(nodes, nodes),
                    [*work, *long_enough, "--mode", "per-node", "--threads", str(THREADS)],
                    LULL_AGGREGATE_HOPS="1",
                )
                seen[f"threads_{name}_ratio{where}"].append(threads / processes)
        gets = ["index_gather", "--mode", "direct", "--items", "1000", "--table", "100000", *long_enough]
        processes = rate(Job(4 * THREADS, 4, hosts=True), gets)
        threads = rate(Job(4, 4, hosts=True), [*gets, "--threads", str(THREADS)])
        seen["threads_blocking_get_ratio"].append(processes / threads)
    print("\nA process of two threads over two processes: medians and quartiles")
    for what, values in seen.items():
        print(f"{what:28}{spread(values):>28}")
    return {what: statistics.median(values) for what, values in seen.items()}


def over_tcp(program: Path, rounds: int) -> dict[str, float]:
    """Aggregated over one operation per item, on two emulated nodes."""
    speedups: dict[str, list[float]] = defaultdict(list)
    nodes = Job(2, 2)
    for _ in range(rounds):
        many = loops(program, nodes, 1_000_000, 3, ["histogram_small", "gather_small"])
        few = loops(program, nodes, 20_000, 1, ["histogram_direct", "gather_direct"])
        for kind in ("histogram", "gather"):
            speedups[kind].append(few[f"{kind}_direct"].wall[0] / statistics.median(many[f"{kind}_small"].wall))
        speedups["sort"].append(per_key(nodes, "direct", 20_000)[0] / per_key(nodes, "aggregated", 1_000_000)[0])
    print("\n2 emulated nodes, aggregated over one operation per item: medians and quartiles")
    for kind, values in speedups.items():
        print(f"{kind:28}{spread(values):>28}")
    return {f"tcp_speedup_{kind}": statistics.median(values) for kind, values in speedups.items()}


def worst_case(program: Path, rounds: int) -> dict[str, float]:
    """The smallest ratio to one atomic per item, for phases that do not suit aggregation."""
    ways = ("direct", "aggregated")
    worst = []
    for job, items in ((Job(2, 1), 100_000), (Job(8, 1), 20_000), (Job(2, 2), 2_000)):
        seen = loops(program, job, items, 3 * rounds, [f"{case}_{way}" for case in WORST for way in ways])
        table(f"{job.pes} PEs on {job.nodes} node{'s' if job.nodes > 1 else ''}", seen)
        worst += [ratio(seen[f"{case}_direct"].wall, seen[f"{case}_aggregated"].wall) for case in WORST]
    return {"worst_case_ratio": min(worst)}


def memory(program: Path) -> dict[str, float]:
    """The largest peak resident set of a PE."""
    said = Job(2, 1).run([str(program), "100000000", "0", "stream_small"])
    return {"peak_rss_mib_100m": float(json.loads(said.splitlines()[-1])["peak_rss_mib"])}


def sort_rate(rounds: int) -> dict[str, float]:
    """Keys per second of CPU time."""
    costs = [per_key(Job(2, 1), "aggregated", 4_000_000)[1] for _ in range(rounds)]
    return {"sort_mkeys_per_cpu_s": 1e3 / statistics.median(costs)}


def main() -> None:
    """Build, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of everything (default: %(default)s)")
    rounds: int = parser.parse_args().rounds
    program = build()
    parts: list[Callable[[], dict[str, float]]] = [
        lambda: shares_of_the_ceiling(program, rounds),
        lambda: sort_rate(rounds),
        lambda: more_pes_than_cores(program, rounds),
        lambda: over_tcp(program, rounds),
        lambda: threads_against_processes(rounds),
        lambda: worst_case(program, rounds),
        lambda: memory(program),
        lambda: {"unlucky_worst_aggregation": unlucky.worst("aggregation", 3 * rounds)},
    ]
    figures: dict[str, float] = {}
    for number, part in enumerate(parts, 1):
        figures |= part()
        print(f"part {number}/{len(parts)}", file=sys.stderr)
    print(json.dumps({name: round(value, 4) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
