"""What does a simulation's output cost by each approach, and does `auto` choose well? (`make bench-stage`)

Held up: a program repeatedly hands 32 MiB over by lull/stage.h and, in turn, copies the same bytes within warm shared
memory (stage/held_up.c); time partitioning writes them, without fsync, into memory. Regret: the emulated simulations of
the study `io`, small ones, on a storage of several speeds; `auto` has seen each of them once before, as it has for a
user who runs a simulation again. Shared output: one file of all ranks (stage/shared_output.py). Prints tables, then one
line of JSON, in which `spread` is the minimum and maximum over a figure's rounds; figures.toml describes its figures.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from lull.hosts.mpirun import of_open_mpi

TOP = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TOP / "studies" / "io"), str(TOP / "benchmarks" / "stage")]
from run import ROOT, simulate  # noqa: E402
from shared_output import shared_output  # noqa: E402

BUILD = TOP / "build" / "bench-stage"
MEBIBYTES = 32
OUTPUTS = 15
ROUNDS = 5
IDLE_MS = (1000, 9000)
APPROACHES = {"tp": "time-partitioning", "dc": "dedicated-cores=1", "dn": "dedicated-nodes=1"}
DESCRIPTION = """
[parameters]
cells = 1
[layouts.cells]
type = "float32"
extents = ["cells"]
cut = ["processes"]
[variables.air]
layout = "cells"
[output]
folder = "{folder}"
name = "held_up"
"""

ARCHITECTURES = ("4x2", "2x4", "3x3", "1x6")
STEPS_OF_AN_OUTPUT = (1, 4, 12)
EVERY = (4, 16)
STEPS = 32
REGRET_ROUNDS = 3


@dataclass(frozen=True)
class HeldUp:
    """Medians over the outputs of one run, in seconds."""

    output: float
    copy: float


def build() -> Path:
    """Compile the program that hands over output."""
    subprocess.run([str(TOP / "scripts" / "setup"), "packages/test.txt"], check=True, stdout=sys.stderr)
    BUILD.mkdir(parents=True, exist_ok=True)
    program, compiler = BUILD / "held_up", of_open_mpi("mpicc")
    if compiler is None:
        raise SystemExit("time outputs: there is no mpicc of Open MPI; install packages/test.txt")
    prefix = Path(sys.prefix)
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", f"-I{prefix / 'include'}"]
    rest = [f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}", "-llull-stage"]
    source = str(TOP / "benchmarks" / "stage" / "held_up.c")
    subprocess.run([compiler, *flags, source, "-o", str(program), *rest], check=True)
    return program


def staged(approach: str, folder: str, *words: str) -> tuple[str, dict[str, dict[str, float]]]:
    """The output of two ranks on two cores under an approach, on two emulated nodes, and the figures of its output."""
    nodes = "2" if approach.startswith("dedicated-nodes") else "1"
    figures = Path(folder) / "figures.json"
    command = [sys.executable, "-m", "lull", "stage", "--approach", approach, "--no-fsync", "--figures", str(figures)]
    ranks = "1" if approach == APPROACHES["tp"] else "2"
    command += ["--", str(of_open_mpi("mpirun")), "-n", ranks, "--bind-to", "core", *words]
    env = {**os.environ, **ROOT, "LULL_NODES": nodes}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        last = [*done.stderr.strip().splitlines(), "it said nothing"][0]
        raise SystemExit(f"time outputs by {approach}: exit {done.returncode}: {last}")
    return done.stdout, json.loads(figures.read_text()) if figures.exists() else {}


def held_up(program: Path, approach: str) -> HeldUp:
    """One run."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        description = Path(folder) / "output.toml"
        description.write_text(DESCRIPTION.format(folder=folder), encoding="utf-8")
        words = [str(program), str(MEBIBYTES), str(OUTPUTS), "200", str(description)]
        said, _ = staged(approach, folder, *words)
    pairs = [[float(word) for word in line.split()] for line in said.splitlines()]
    return HeldUp(*(statistics.median(column) for column in zip(*pairs, strict=True)))


def cpu_of_idle_servers(program: Path) -> float:
    """CPU time of an idle server, in percent of a core: that of a long wait minus that of a short one."""
    worst = 0.0
    for approach in (APPROACHES["dc"], APPROACHES["dn"]):
        used = []
        for pause in IDLE_MS:
            with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
                used.append(staged(approach, folder, str(program), "1", "0", str(pause))[1]["servers"]["cpu_s"])
        worst = max(worst, 100 * (used[1] - used[0]) / (IDLE_MS[1] - IDLE_MS[0]) * 1000)
    return worst


@contextmanager
def memory_in(folder: str) -> Iterator[None]:
    """Redirects the folder in which runs leave data for `auto`."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = folder
    yield
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


def ways(architecture: str) -> list[str]:
    """The approaches that leave a computing process, with one or two set aside."""
    nodes, cores = (int(number) for number in architecture.split("x"))
    cores_aside = [f"dedicated-cores={count}" for count in (1, 2) if count < cores]
    nodes_aside = [f"dedicated-nodes={count}" for count in (1, 2) if count < nodes]
    return ["time-partitioning", *cores_aside, *nodes_aside]


def regret(architecture: str, steps_of_output: float, every: int) -> tuple[float, str]:
    """How much longer `auto` takes than the best approach, in percent; and the case in words."""
    seconds: dict[str, list[float]] = {}
    chosen: list[str] = []
    with tempfile.TemporaryDirectory() as own, tempfile.TemporaryDirectory() as others:
        for round_ in range(1 + REGRET_ROUNDS):
            for approach in ("auto", *ways(architecture)) if round_ > 0 else ("auto",):
                with memory_in(own if approach == "auto" else others):
                    found = simulate(architecture, approach, STEPS, every, steps_of_output)
                clients = found["clients"]  # to the end of their output
                seconds.setdefault(approach, []).append(clients["wall_s"] / clients["processes"])
                if approach == "auto":
                    chosen.append(found["approach"])
    first, *autos = seconds.pop("auto")
    medians = {approach: statistics.median(values) for approach, values in seconds.items()}
    best = min(medians, key=lambda approach: medians[approach])
    took = statistics.median(autos)
    lost = 100 * (took / medians[best] - 1)
    case = f"{architecture:<5}{steps_of_output:>10g}{every:>8}"
    words = f"{case}  {best:<20}{medians[best]:>8.3f}  {chosen[-1]:<20}{took:>8.3f}{lost:>8.1f} %{first:>10.3f}"
    return lost, words


def table_of_held_up(found: dict[str, list[HeldUp]]) -> None:
    """Print it."""
    print(f"{MEBIBYTES} MiB an output, medians of {OUTPUTS}, in each of {ROUNDS} rounds\n")
    print(f"{'':<6}{'held up ms':>12}{'copy ms':>10}{'ratio':>8}  least and most")
    for name, rounds in found.items():
        ratios = sorted(one.output / one.copy for one in rounds)
        output, copy = (statistics.median(getattr(one, part) for one in rounds) * 1e3 for part in ("output", "copy"))
        spread = f"{ratios[0]:.2f} {ratios[-1]:.2f}"
        print(f"{name:<6}{output:>12.2f}{copy:>10.2f}{statistics.median(ratios):>8.2f}  {spread}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables and JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds and few cases, to see that it works")
    quick = parser.parse_args(arguments).quick
    program = build()

    found: dict[str, list[HeldUp]] = {name: [] for name in APPROACHES}
    for _ in range(1 if quick else ROUNDS):
        for name, approach in APPROACHES.items():
            found[name].append(held_up(program, approach))
    table_of_held_up(found)
    idle = cpu_of_idle_servers(program)
    print(f"\nan idle server: {idle:.3f} % of a core\n")

    shared = shared_output(BUILD, 1 if quick else ROUNDS)

    best, auto = f"{'best':<20}{'s':>8}", f"{'auto chose':<20}{'s':>8}{'regret':>10}{'at first':>10}"
    print(f"{'nodes':<5}{'output is':>10}{'every':>8}  {best}  {auto}\n{'':<5}{'steps':>10}{'steps':>8}")
    regrets = []
    for case in list(product(ARCHITECTURES, STEPS_OF_AN_OUTPUT, EVERY))[: 2 if quick else None]:
        lost, words = regret(*case)
        regrets.append(lost)
        print(words, flush=True)

    figures: dict[str, object] = {}
    spread: dict[str, list[float]] = {}

    def keep(name: str, values: list[float]) -> None:
        figures[name] = round(statistics.median(values), 4)
        spread[name] = [round(min(values), 4), round(max(values), 4)]

    keep("dc_stall_over_memcpy", [one.output / one.copy for one in found["dc"]])
    keep("dn_stall_over_link", [one.output / one.copy for one in found["dn"]])
    for name, rounds in found.items():
        keep(f"{name}_stall_ms", [one.output * 1e3 for one in rounds])
    for name, values in shared.items():
        keep(name, values)
    figures["idle_server_cpu_pct"] = round(idle, 4)
    figures["auto_regret_pct"] = round(statistics.mean(regrets), 3)
    figures["auto_regret_worst_pct"] = round(max(regrets), 3)
    spread["auto_regret_pct"] = [round(min(regrets), 3), round(max(regrets), 3)]
    print(json.dumps({**figures, "spread": spread}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
