"""How much memory, how many descriptors and how much CPU time does a PE take? (`make bench-scale`)

A program whose PEs report their own memory, descriptors and CPU time after the start, and after each has sent a message
to every other. On one node PEs share memory; with a node for each PE they are connected by UCX's or libfabric's tcp.
The launcher's CPU time is that of all its processes, less theirs. Prints a table, then one line of JSON; figures.toml
describes its figures. Nothing here depends on how busy the machine is, except the CPU times, a little.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lull.base import installed

TOP = Path(__file__).resolve().parent.parent
BUILD = TOP / "build" / "bench-scale"
ENVIRONMENT = {**os.environ, "SHMEM_SYMMETRIC_SIZE": "16M", "LULL_WAIT": "interrupt", "UCX_TLS": "tcp,self"}
LIMIT_S = 570


@dataclass(frozen=True)
class Taken:
    """Medians over the PEs of a run; the CPU time is of all processes of the job, for each PE."""

    pes: int
    kib: float
    kib_connected: float
    descriptors: float
    descriptors_connected: float
    cpu_ms: float


def taken(program: Path, pes: int, nodes: int, transport: str) -> Taken:
    """Run the program."""
    command = [str(installed.executable("lull-launch")), "-n", str(pes), "--nodes", str(nodes), "--", str(program)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        env={**ENVIRONMENT, "LULL_TRANSPORT": transport},
        stdout=subprocess.PIPE,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"run {' '.join(command)}: exit {done.returncode}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    all_lines = [json.loads(line) for line in done.stdout.splitlines()]

    def median(moment: str, what: str) -> float:
        # PE 0 looks up the data of all others (src/job/published.hpp), which leaves some in its memory.
        return statistics.median(one[what] for one in all_lines if one["moment"] == moment and one["pe"] > 0)

    return Taken(
        pes,
        median("started", "kib"),
        median("connected", "kib"),
        median("started", "descriptors"),
        median("connected", "descriptors"),
        1000 * cpu_s / pes,
    )


def slope(first: float, last: float, few: Taken, many: Taken) -> float:
    """The increase for each further PE."""
    return (last - first) / (many.pes - few.pes)


def main() -> None:
    """Run all."""
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / "footprint"
    compiler = Path(sys.prefix) / "bin" / "lullcc"
    subprocess.run(
        [compiler, "-O2", "-Wall", "-Wextra", "-o", program, TOP / "benchmarks" / "scale" / "footprint.c"], check=True
    )
    kinds = {
        "shared": ((8, 32, 128, 256), lambda _: 1, "ucx"),
        "ucx": ((8, 32, 128), lambda pes: pes, "ucx"),
        "libfabric": ((8, 32, 64), lambda pes: pes, "libfabric"),
    }
    figures: dict[str, float] = {}
    print("path           PEs  KiB: started  connected  descriptors: started  connected  CPU ms per PE")
    for kind, (sizes, nodes, transport) in kinds.items():
        rows = []
        for pes in sizes:
            row = taken(program, pes, nodes(pes), transport)
            rows.append(row)
            print(
                f"{kind:12} {pes:5}  {row.kib:12.0f} {row.kib_connected:10.0f} {row.descriptors:21.0f} "
                f"{row.descriptors_connected:10.0f} {row.cpu_ms:14.1f}",
                flush=True,
            )
        few, many = rows[0], rows[-1]
        figures[f"{kind}_kib"] = few.kib
        figures[f"{kind}_kib_per_pe"] = round(slope(few.kib, many.kib, few, many), 2)
        if kind != "shared":
            used = (many.kib_connected - many.kib) - (few.kib_connected - few.kib)
            figures[f"{kind}_kib_per_connection"] = round(used / (many.pes - few.pes), 2)
            sockets = slope(few.descriptors_connected, many.descriptors_connected, few, many)
            figures[f"{kind}_descriptors_per_connection"] = round(sockets, 2)
        figures[f"{kind}_start_growth"] = round(many.cpu_ms / few.cpu_ms, 2)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
