"""The cost of a file that all ranks write together, plain and staged; part of `make bench-stage`.

Four ranks write 8 steps of 16 MiB on a storage of 64 MiB/s; plain runs pass the same limit (time partitioning). One
more rank is the server, or one on each of two emulated nodes. On two cores, computing is a pause. Small steps are 16 of
1 MiB, without a limit. What --verify costs is the ratio of whole runs, with it over without.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from lull.hosts.mpirun import of_open_mpi

SOURCE = Path(__file__).with_suffix(".c")
RANKS = 4
LIMIT = "64M"
ROOT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


@dataclass(frozen=True)
class Cost:
    """Seconds of one run: in calls of output, of the run, and of the server's CPU."""

    in_output: float
    run: float
    server_cpu: float


def compiled(folder: Path) -> tuple[Path, bool]:
    """The program, and whether it knows parallel HDF5."""
    compiler = of_open_mpi("mpicc")
    if compiler is None:
        raise SystemExit("time outputs: there is no mpicc of Open MPI; install packages/test.txt")
    program = folder / "shared_output"
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "hdf5-openmpi"], capture_output=True, text=True, check=False
    )
    flags = ["-DWITH_HDF5", *found.stdout.split()] if found.returncode == 0 else []
    subprocess.run([compiler, "-O2", str(SOURCE), "-o", str(program), *flags], check=True)
    return program, bool(flags)


def cost(
    program: Path,
    is_staged: bool,
    pattern: str,
    kib: int,
    steps: int,
    pause_ms: int,
    limit: str,
    nodes: int = 1,
    verifies: bool = False,
) -> Cost:
    """One run with a new file."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        figures = Path(folder) / "figures.json"
        approach, ranks = ("dedicated-cores=1", RANKS + nodes) if is_staged else ("time-partitioning", RANKS)
        stage = [sys.executable, "-m", "lull", "stage", "--approach", approach, "--figures", str(figures)]
        words = [str(program), f"{folder}/file", pattern, str(kib), str(steps), str(pause_ms)]
        command = [*(stage if limit or is_staged else []), *(["--storage-limit", limit] if limit else [])]
        if verifies:
            sums = Path(folder) / "sums"
            sums.mkdir()
            command += ["--verify", str(sums)]
        command += ["--"] if command else []
        command += [str(of_open_mpi("mpirun")), "-n", str(ranks), *words]
        begin = time.monotonic()
        done = subprocess.run(
            command,
            env={**os.environ, **ROOT, "LULL_NODES": str(nodes)},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        took = time.monotonic() - begin
        if done.returncode != 0:
            raise SystemExit(f"time outputs: exit {done.returncode}: {done.stderr.strip()[:300]}")
        in_output, _ = (float(word) for word in done.stdout.split())
        server = json.loads(figures.read_text())["servers"]["cpu_s"] if figures.exists() else 0.0
        return Cost(in_output, took, server)


def shared_output(folder: Path, rounds: int) -> dict[str, list[float]]:
    """The figures, each with a value for each round: plain and staged runs in turn."""
    program, knows_hdf5 = compiled(folder)
    found: dict[str, list[float]] = {}

    def keep(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    patterns = {"": "contiguous", "_strided": "strided"} | ({"_hdf5": "hdf5"} if knows_hdf5 else {})
    print(f"{'one file of all ranks':<24}{'plain s':>10}{'staged s':>10}{'ratio':>8}")
    for _ in range(rounds):
        for suffix, pattern in patterns.items():
            plain, staged = (cost(program, is_staged, pattern, 4096, 8, 300, LIMIT) for is_staged in (False, True))
            keep(f"shared_stall_over_plain{suffix}", staged.in_output / plain.in_output)
            ratio = staged.in_output / plain.in_output
            print(f"{pattern:<24}{plain.in_output:>10.3f}{staged.in_output:>10.3f}{ratio:>8.3f}", flush=True)
            if pattern == "contiguous":
                keep("shared_run_over_plain", staged.run / plain.run)
                keep("shared_server_cpu_pct", 100 * staged.server_cpu / staged.run)
        plain, staged = (cost(program, is_staged, "strided", 4096, 8, 300, LIMIT, 2) for is_staged in (False, True))
        ratio = staged.in_output / plain.in_output
        keep("shared_stall_over_plain_two_nodes", ratio)
        print(f"{'strided, two nodes':<24}{plain.in_output:>10.3f}{staged.in_output:>10.3f}{ratio:>8.3f}", flush=True)
        plain, staged = (cost(program, is_staged, "contiguous", 256, 16, 50, "") for is_staged in (False, True))
        keep("shared_small_steps_over_plain", staged.in_output / plain.in_output)
        for suffix, limit in {"": LIMIT, "_no_limit": ""}.items():
            without, verified = (
                cost(program, True, "contiguous", 4096, 8, 300, limit, verifies=verifies) for verifies in (False, True)
            )
            keep(f"shared_verified_over_not{suffix}", verified.run / without.run)
            print(
                f"{'the run, verified' + suffix.replace('_', ' '):<24}{without.run:>10.3f}{verified.run:>10.3f}"
                f"{verified.run / without.run:>8.3f}",
                flush=True,
            )
        ratio = staged.in_output / plain.in_output
        print(
            f"{'small steps, no limit':<24}{plain.in_output:>10.3f}{staged.in_output:>10.3f}{ratio:>8.3f}", flush=True
        )
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for row, values in shared_output(Path(place), int(sys.argv[1]) if len(sys.argv) > 1 else 3).items():
            print(f"{row:<36}{statistics.median(values):>8.3f}  {min(values):.3f} {max(values):.3f}")
