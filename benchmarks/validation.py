"""Does `lull simulate` agree with closed forms, and with a simulator of another kind? (`make bench-validation`)

The same messages run on three networks of 16 nodes in Lull, packet by packet, and in SimGrid (libsimgrid-dev of
Debian), which shares the bandwidth of links among flows. Latencies and bandwidths of all parts are equal, so that a
message in an empty network takes as long in both. Where the time has a closed form, it is computed, too. The table is
docs/results/validation.csv. Prints one line of JSON at the end; figures.toml describes its figures.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from lull.simulation.description import read_description
from lull.simulation.engine import run

TOP = Path(__file__).resolve().parent.parent
TABLE = TOP / "docs" / "results" / "validation.csv"
PROGRAM = Path(__file__).with_suffix("") / "steps.c"
NODES: Final = 16
RATE: Final = 12.5e9  # bytes/s
# Lull's defaults, in seconds: interface, cable, switch.
NIC, CABLE, SWITCH = 500e-9, 50e-9, 100e-9
AT_NODE = NIC + CABLE + SWITCH / 2  # of the link of a node, so that those of a message add up
BETWEEN = CABLE + SWITCH
# Without SimGrid's corrections for Ethernet and for the cost of MPI calls: links and messages are as described.
SETTINGS = (
    "network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:0",
    "network/TCP-gamma:0", "network/crosstraffic:no", "smpi/simulate-computation:no", "smpi/bw-factor:1",
    "smpi/lat-factor:1", "smpi/os:0:0:0", "smpi/or:0:0:0", "smpi/ois:0:0:0", "smpi/async-small-thresh:1000000000",
    "smpi/send-is-detached-thresh:1000000000", "smpi/wtime:0", "smpi/display-timing:no",
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    """What a process does; a wait is for all sends and receives before it."""

    rank: int
    what: str  # send, receive, compute, wait
    other: int = 0  # the other process, or nanoseconds of computing
    bytes: int = 0


@dataclass(frozen=True)
class Workload:
    """The steps of all processes, and how long they take if that has a closed form: in seconds, on one switch."""

    name: str
    bytes: int
    steps: Sequence[Step]
    closed_s: float | None = None


@dataclass(frozen=True)
class Network:
    """A network in Lull, and the links of each route for SimGrid: names, with their latencies."""

    name: str
    topology: dict[str, Any]
    kind: str  # one switch, leaves, torus

    def route(self, source: int, target: int) -> list[tuple[str, float]]:
        """The links from a node to another."""
        ends = (f"up{source}", AT_NODE), (f"down{target}", AT_NODE)
        return [ends[0], *((link, BETWEEN) for link in self._between(source, target)), ends[1]]

    def _between(self, source: int, target: int) -> Iterator[str]:
        if self.kind == "leaves" and source // 4 != target // 4:
            spine = target % 4
            yield from (f"leaf{source // 4}to{spine}", f"spine{spine}to{target // 4}")
        if self.kind == "torus":
            at = [source % 4, source // 4]
            for axis, to in enumerate((target % 4, target // 4)):
                while at[axis] != to:
                    step = 1 if (to - at[axis]) % 4 <= 2 else -1
                    yield f"at{at[0]}_{at[1]}axis{axis}{'+' if step > 0 else '-'}"
                    at[axis] = (at[axis] + step) % 4


NETWORKS = (
    Network("one switch", {"name": "leaf-spine", "leaves": 1, "nodes_per_leaf": 16, "spines": 1}, "one"),
    Network("leaf-spine", {"name": "leaf-spine", "leaves": 4, "nodes_per_leaf": 4, "spines": 4}, "leaves"),
    Network("torus", {"name": "torus", "dimensions": [4, 4]}, "torus"),
)


def workloads() -> Iterator[Workload]:
    """All of them."""
    alone = 2 * AT_NODE
    for size in (8, 65536):
        steps = []
        for _ in range(50):
            for one, other in ((0, 15), (15, 0)):
                steps += [Step(one, "send", other, size), Step(one, "wait")]
                steps += [Step(other, "receive", one, size), Step(other, "wait")]
        yield Workload("ping-pong", size, steps, 100 * (alone + size / RATE))
    for size in (4096, 262144):
        yield Workload("ring", size, list(rounds(40, size, lambda r: [(r + 1) % NODES])), 40 * (alone + size / RATE))
        neighbours = lambda r: [r // 4 * 4 + (r + 1) % 4, r // 4 * 4 + (r - 1) % 4, (r + 4) % NODES, (r - 4) % NODES]  # noqa: E731
        closed = 20 * (20e-6 + alone + 4 * size / RATE)
        yield Workload("stencil, 20 µs of computing", size, list(rounds(20, size, neighbours, 20_000)), closed)
        to_all = lambda r: [(r + shift) % NODES for shift in range(1, NODES)]  # noqa: E731
        yield Workload("all to all at once", size, list(rounds(2, size, to_all)), 2 * (alone + 15 * size / RATE))
        pairs = [step for shift in range(1, NODES) for step in rounds(1, size, lambda r, s=shift: [r ^ s])]
        yield Workload("all to all in pairs", size, pairs, 15 * (alone + size / RATE))
        incast = [Step(r, "send", 0, size) for r in range(1, NODES)] + [
            Step(0, "receive", r, size) for r in range(1, NODES)
        ]
        yield Workload("15 to one", size, incast, alone + 15 * size / RATE)
        yield Workload("permutation", size, list(rounds(10, size, lambda r: [(7 * r + 3) % NODES])))


def rounds(times: int, size: int, partners: Any, compute_ns: int = 0) -> Iterator[Step]:
    """In each round every process computes, sends to its partners, and receives from those whose partner it is."""
    to = {rank: [p for p in partners(rank) if p != rank] for rank in range(NODES)}
    for _ in range(times):
        for rank in range(NODES):
            if compute_ns:
                yield Step(rank, "compute", compute_ns)
            yield from (Step(rank, "receive", source, size) for source in range(NODES) for p in to[source] if p == rank)
            yield from (Step(rank, "send", target, size) for target in to[rank])
            yield Step(rank, "wait")


def as_goal(steps: Sequence[Step]) -> str:
    """The steps in GOAL: those between two waits overlap."""
    lines = [f"num_ranks {NODES}"]
    for rank in range(NODES):
        lines.append(f"rank {rank} {{")
        number, before, since = 0, "", []
        for step in (one for one in steps if one.rank == rank):
            number += 1
            label = f"l{number}"
            if step.what in ("wait", "compute"):
                lines.append(f"{label}: calc {step.other if step.what == 'compute' else 0}")
                lines += [f"{label} requires {one}" for one in (since or ([before] if before else []))]
                before, since = label, []
                continue
            direction = "to" if step.what == "send" else "from"
            lines.append(
                f"{label}: {'send' if step.what == 'send' else 'recv'} {step.bytes}b {direction} {step.other} tag 0"
            )
            if before:
                lines.append(f"{label} requires {before}")
            since.append(label)
        lines.append("}")
    return "\n".join(lines) + "\n"


def by_lull(network: Network, workload: Workload, folder: Path) -> float:
    """Its run time in seconds."""
    goal = folder / "steps.goal"
    goal.write_text(as_goal(workload.steps))
    job = {"pattern": "goal", "goal": str(goal), "eager": "1 GiB", "mapping": "linear"}
    description = read_description({"topology": network.topology, "jobs": [job]}, "simulate the steps")
    return run(description, "simulate the steps", baseline=False).jobs[0].run_time_s


def by_simgrid(network: Network, workload: Workload, folder: Path) -> float:
    """Its run time in seconds."""
    (folder / "steps.txt").write_text("".join(f"{s.rank} {s.what} {s.other} {s.bytes}\n" for s in workload.steps))
    (folder / "hosts").write_text("".join(f"n{node}\n" for node in range(NODES)))
    (folder / "platform.xml").write_text(platform(network))
    words = ["smpirun", "-np", str(NODES), "-platform", "platform.xml", "-hostfile", "hosts"]
    words += [f"--cfg={setting}" for setting in SETTINGS]
    done = subprocess.run([*words, "./steps", "steps.txt"], cwd=folder, capture_output=True, text=True, check=False)
    found = re.search(r"^took ([\d.]+)$", done.stdout + done.stderr, re.MULTILINE)
    if found is None:
        sys.exit(f"run {workload.name} in SimGrid: it ended with {done.returncode}: {done.stderr[-300:]}")
    return float(found[1])


def platform(network: Network) -> str:
    """The network as SimGrid reads it."""
    routes = {(a, b): network.route(a, b) for a in range(NODES) for b in range(NODES) if a != b}
    links = {name: latency for route in routes.values() for name, latency in route}
    lines = ["<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">']
    lines += ['<platform version="4.1">', '<zone id="all" routing="Full">']
    lines += [f'<host id="n{node}" speed="1Gf"/>' for node in range(NODES)]
    lines += [f'<link id="{name}" bandwidth="{RATE}Bps" latency="{late}s"/>' for name, late in links.items()]
    for (a, b), route in routes.items():
        inner = "".join(f'<link_ctn id="{name}"/>' for name, _ in route)
        lines.append(f'<route src="n{a}" dst="n{b}" symmetrical="NO">{inner}</route>')
    return "\n".join([*lines, "</zone>", "</platform>"]) + "\n"


def rows() -> Iterator[dict[str, str]]:
    """A row for each workload on each network; times in microseconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built = subprocess.run(["smpicc", "-O2", str(PROGRAM), "-o", str(folder / "steps")], check=False)
        if built.returncode:
            sys.exit("build the steps: smpicc failed; install libsimgrid-dev")
        for network in NETWORKS:
            for workload in workloads():
                print(network.name, workload.name, workload.bytes, file=sys.stderr, flush=True)
                ours, theirs = by_lull(network, workload, folder), by_simgrid(network, workload, folder)
                closed = workload.closed_s if network.kind == "one" else None
                yield {
                    "network": network.name,
                    "messages": workload.name,
                    "bytes": f"{workload.bytes}",
                    "closed form, µs": "" if closed is None else f"{closed * 1e6:.4g}",
                    "Lull, µs": f"{ours * 1e6:.4g}",
                    "SimGrid, µs": f"{theirs * 1e6:.4g}",
                    "Lull / closed form": "" if closed is None else f"{ours / closed:.4f}",
                    "Lull / SimGrid": f"{ours / theirs:.3f}",
                }


def main() -> None:
    """Write the table, and print its summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=TABLE, help="the table")
    chosen = parser.parse_args()
    found = list(rows())
    with chosen.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    closed = [100 * abs(float(row["Lull / closed form"]) - 1) for row in found if row["Lull / closed form"]]
    other = [100 * abs(float(row["Lull / SimGrid"]) - 1) for row in found]
    print(
        json.dumps({
            "rows": len(found),
            "closed_form_error_median": median(closed),
            "closed_form_error_worst": max(closed),
            "simgrid_difference_median": median(other),
            "simgrid_within_2_pct": sum(one <= 2 for one in other) / len(other),
            "simgrid_difference_worst": max(other),
        })
    )  # fmt: skip


if __name__ == "__main__":
    main()
