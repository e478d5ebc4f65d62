"""How far are replays and predictions off, on this machine? (`make bench-prediction`)

Three programs run on two cores, recorded and unrecorded in turn: a ping-pong of 64 KiB, the stencil, and LAMMPS. Each
recorded run is replayed on one node with two processes, whose messages go through memory as fast as a ping-pong of 8
bytes and of 256 KiB measures in the same round. The replay's time is compared with that of the very run from which it
was recorded, from the end of MPI_Init to the begin of MPI_Finalize. Then the stencil, which sleeps instead of
computing, 20 ms per step, so that processes do not compete for cores, is traced with 9, 16 and 36 processes, and the
third is predicted from the others. Prints one line of JSON: medians over rounds; `spread` is their minimum and maximum.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from trace import MELT, OPENMPI  # type: ignore[attr-defined]  # benchmarks/trace.py
from typing import Any

import lull
from lull.mpi.preload import preloaded
from lull.trace.account import analyse
from lull.trace.convert import convert

TOP = Path(__file__).resolve().parent.parent
STENCIL = TOP / "build" / "venv" / "apps" / "stencil"
ROUNDS = 5
SMALL, LARGE, MIDDLE = 8, 256 << 10, 64 << 10  # all fit into the cache: beyond it a byte takes longer
HALVES = 11_000  # of round trips of the ping-pong of 5,000 rounds, which does a tenth before
FEWER, MORE, MOST = 9, 16, 36


def run(ranks: int, command: Sequence[str | Path], folder: Path, trace: Path | None = None) -> str:
    """Run the program, which leaves its trace in `trace`, and return its output."""
    environment = {**os.environ, **OPENMPI}
    if trace is not None:
        environment = preloaded(environment, tools={"LULL_TRACE": str(trace), "LULL_TRACE_LIMIT": "8G"})
    placed = ["--bind-to", "core"] if ranks == 2 else ["--oversubscribe", "--bind-to", "none"]
    words = ["mpirun.openmpi", "-n", str(ranks), *placed, *map(str, command)]
    done = subprocess.run(words, env=environment, cwd=folder, check=True, capture_output=True, text=True)
    if trace is not None:
        convert(trace, keep_raw=False)
    return done.stdout


def figure(text: str, pattern: str) -> float:
    """The number in a program's output."""
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"lull: a program printed no {pattern}")
    return float(found[1])


def between_init_and_finalize(trace: Path) -> float:
    """The mean of the processes, in seconds."""
    processes = analyse(trace).account.processes
    return statistics.fmean(one.time.total - one.time.setup for one in processes)


def replay(trace: Path, memory: dict[str, Any]) -> Any:
    """The job of a replay on one node."""
    network = {"topology": {"name": "fat-tree", "radix": 4}, "network": memory}
    return lull.simulate({**network, "jobs": [{"trace": str(trace), "per_node": 2, "eager": "4 KiB"}]}).jobs[0]


def memory_now(folder: Path) -> dict[str, Any]:
    """The cost of a message through memory here, from parts of so few rounds that few of them are interrupted."""
    half_us = {
        size: figure(run(2, [folder / "pingpong", str(size), rounds], folder), r"^(\S+)$")
        for size, rounds in ((SMALL, "20000"), (LARGE, "300"))
    }
    bytes_per_s = (LARGE - SMALL) / (half_us[LARGE] - half_us[SMALL]) * 1e6
    return {"memory_delay": half_us[SMALL] * 1e-6, "memory_bandwidth": bytes_per_s}


def replays(name: str, command: Sequence[str | Path], pattern: str, folder: Path) -> dict[str, list[float]]:
    """By round, in percent: how much longer a replay takes than its run, and a recorded run than an unrecorded one."""
    found: dict[str, list[float]] = {f"{name}_replay_pct": [], f"{name}_recorded_pct": []}
    for number in range(ROUNDS):
        own = {}
        trace = folder / f"{name}{number}"
        for recorded in (number % 2 == 0, number % 2 == 1):
            own[recorded] = figure(run(2, command, folder, trace if recorded else None), pattern)
        replayed, real = replay(trace, memory_now(folder)).run_time_s, between_init_and_finalize(trace)
        found[f"{name}_replay_pct"].append(100 * (replayed / real - 1))
        if name == "pingpong":  # which prints its own median
            undisturbed = own[True] * 1e-6 * HALVES
            found.setdefault("pingpong_undisturbed_pct", []).append(100 * (replayed / undisturbed - 1))
        found[f"{name}_recorded_pct"].append(100 * (own[True] / own[False] - 1))
        print(f"{name} {number}: ran {real:.4g} s, replayed {replayed:.4g} s", file=sys.stderr, flush=True)
    return found


def extrapolated(folder: Path) -> dict[str, list[float]]:
    """In percent: how much longer the stencil of 36 processes takes when predicted from 9 and 16 than when replayed."""
    found: dict[str, list[float]] = {}
    stencil = [STENCIL, "--cells", "8", "8", "8", "--steps", "20", "--every", "0", "--asleep", "--cell-ns", "40000"]
    for number in range(3):
        traces = {}
        for ranks in (FEWER, MORE, MOST):
            traces[ranks] = folder / f"{ranks}-{number}"
            run(ranks, stencil, folder, traces[ranks])
        network = {"topology": {"preset": "fat-tree-4608"}}
        job = {"trace": str(traces[MORE]), "trace_smaller": str(traces[FEWER]), "processes": MOST}
        for scale, name in ((1, "time"), (0, "network_time")):
            predicted = lull.simulate({**network, "jobs": [{**job, "compute_scale": scale}]}).jobs[0]
            replayed = lull.simulate({**network, "jobs": [{"trace": str(traces[MOST]), "compute_scale": scale}]}).jobs[
                0
            ]
            for what, of in ((name, "run_time_s"), ("messages", "messages"), ("bytes", "bytes"))[: 3 if scale else 1]:
                more = 100 * (getattr(predicted, of) / getattr(replayed, of) - 1)
                found.setdefault(f"extrapolated_{what}_pct", []).append(more)
        print(f"extrapolated {number}: {found['extrapolated_time_pct'][-1]:.3g} %", file=sys.stderr, flush=True)
    return found


def main() -> None:
    """Print the figures as JSON."""
    subprocess.run([TOP / "scripts" / "setup", "packages/bench-trace.txt"], check=True, stdout=sys.stderr)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pingpong = folder / "pingpong"
        source = TOP / "benchmarks" / "trace" / "pingpong.c"
        subprocess.run(["mpicc.openmpi", "-O2", source, "-o", pingpong], check=True)
        (folder / "in.melt").write_text(MELT.replace("run 200", "run 100"))
        rounds = replays("pingpong", [pingpong, str(MIDDLE), "5000"], r"^(\S+)$", folder)
        stencil = [STENCIL, "--cells", "16", "16", "16", "--steps", "50", "--every", "0", "--json"]
        rounds |= replays("stencil", stencil, r'"wall_s": ?([\d.e+-]+)', folder)
        rounds |= replays("lammps", ["lmp", "-in", "in.melt", "-log", "none"], r"Loop time of (\S+)", folder)
        rounds |= extrapolated(folder)
    result: dict[str, Any] = {one: round(statistics.median(values), 2) for one, values in rounds.items()}
    result["spread"] = {one: [round(min(values), 2), round(max(values), 2)] for one, values in rounds.items()}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
