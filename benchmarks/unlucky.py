"""How much can a program lose by aggregation, or by the rewriting of its puts? (in bench-aggregation, bench-patterns)

unlucky/patterns.toml lists patterns that give them little to gain. unlucky/unlucky.cpp carries out each by plain
operations and by what is to be faster, in turn, in passes of some milliseconds. The figure is the smallest of the
medians of the ratios of two neighbouring passes, time of plain operations over the other; ratios of CPU time are shown
beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lull.base import installed

ROUNDS = 15
PASS_MS = 4.0
LIMIT_S = 500
TOP = Path(__file__).resolve().parent.parent
SOURCES = TOP / "benchmarks" / "unlucky"
KINDS = ("aggregation", "transformation")


@dataclass(frozen=True)
class Seen:
    """A pattern in a job: plain over with, in each round."""

    name: str
    pes: int
    nodes: int
    plain_us: list[float]
    time: list[float]
    cpu: list[float]

    @property
    def ratio(self) -> float:
        """The median."""
        return statistics.median(self.time)


def build() -> Path:
    """Compile the program as a user would."""
    folder = TOP / "build" / "bench-unlucky"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "unlucky"
    wrapper = Path(sys.prefix) / "bin" / "lullc++"
    subprocess.run([str(wrapper), "-std=c++20", "-O3", str(SOURCES / "unlucky.cpp"), "-o", str(program)], check=True)
    return program


def words(row: dict[str, Any]) -> str:
    """The row as the program takes it."""

    def text(value: Any) -> str:
        return ",".join(map(str, value)) if isinstance(value, list) else str(int(value) if value is False else value)

    return ";".join(f"{key}={text(value)}" for key, value in row.items() if key not in ("name", "jobs"))


def once(program: Path, kind: str, pes: int, nodes: int, rounds: int, rows: Sequence[dict[str, Any]]) -> list[Seen]:
    """The patterns in one job."""
    launch = [str(installed.executable("lull-launch")), "-n", str(pes), "--nodes", str(nodes), "--"]
    command = [*launch, str(program), kind, str(rounds), str(PASS_MS), *map(words, rows)]
    environment = {**os.environ, "LULL_WAIT": "interrupt", "LULL_TRANSFORM": "auto"}
    environment.setdefault("UCX_TLS", "tcp,self")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=LIMIT_S)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["it printed nothing"]
        raise SystemExit(f"time unlucky patterns, {pes} PEs on {nodes} nodes: exit {done.returncode}: {said[-1]}")
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    for line in map(json.loads, done.stdout.splitlines()):
        found[line["pattern"]].append(line)
    return [
        Seen(
            row["name"],
            pes,
            nodes,
            [one["plain_us"] for one in found[words(row)]],
            [one["plain_us"] / one["with_us"] for one in found[words(row)]],
            [one["plain_cpu_us"] / one["with_cpu_us"] for one in found[words(row)]],
        )
        for row in rows
    ]


def measure(kind: str, rounds: int, only: str = "") -> list[Seen]:
    """All patterns of this kind, worst first. Each runs in several processes, because where these run matters."""
    program = build()
    rows = tomllib.loads((SOURCES / "patterns.toml").read_text(encoding="utf-8"))[kind]
    jobs = sorted({tuple(job) for row in rows for job in row["jobs"]})
    seen: dict[tuple[str, int, int], Seen] = {}
    for part in range(3):
        for pes, nodes in jobs:
            here = [row for row in rows if [pes, nodes] in row["jobs"] and only in row["name"]]
            for one in once(program, kind, pes, nodes, -(-rounds // 3), here) if here else []:
                before = seen.setdefault((one.name, pes, nodes), Seen(one.name, pes, nodes, [], [], []))
                for field in ("plain_us", "time", "cpu"):
                    getattr(before, field).extend(getattr(one, field))
        print(f"unlucky patterns, {kind}: part {part + 1}/3", file=sys.stderr)
    return sorted(seen.values(), key=lambda one: one.ratio)


def table(kind: str, seen: Sequence[Seen]) -> None:
    """Print them."""
    print(f"\nUnlucky patterns, {kind}: plain over with it; medians and quartiles, worst first")
    print(f"{'':36}{'PEs':>5}{'nodes':>6}{'plain, us':>12}{'time':>26}{'CPU time':>10}")
    for one in seen:
        low, middle, high = statistics.quantiles(one.time, n=4)
        print(
            f"{one.name:36}{one.pes:>5}{one.nodes:>6}{statistics.median(one.plain_us):>12.2f}"
            f"{f'{middle:.3f} ({low:.3f} to {high:.3f})':>26}{statistics.median(one.cpu):>10.3f}"
        )


def worst(kind: str, rounds: int = ROUNDS) -> float:
    """The figure; prints the table."""
    seen = measure(kind, rounds)
    table(kind, seen)
    return seen[0].ratio


def main() -> None:
    """Print the tables alone."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="by default both")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of everything (default: %(default)s)")
    parser.add_argument("--only", default="", help="patterns whose name contains this")
    wanted = parser.parse_args()
    for kind in wanted.kinds or KINDS:
        table(kind, measure(kind, wanted.rounds, wanted.only))


if __name__ == "__main__":
    main()
