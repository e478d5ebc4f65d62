"""Random programs whose ranks write one file by MPI-IO, plain and staged: equal output, files and exit codes.

    PYTHONPATH=tests/python python tests/python/support/shared_faults.py --programs 100 [--seed N]

It is part of `make faults`, and takes some seconds for each program.

The storage may be slow, and buffers small; ranks are on one or two emulated nodes, with one or two servers each. On one
node a server is killed in some runs, which must change nothing. On two nodes that may fail the program, by an error of
MPI-IO, but nothing may hang.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bounds import TIMEOUT_S
from conftest import processes_with
from lull.mpi.preload import preloaded
from mpi_libraries import ENVIRONMENT, LIBRARIES, MpiLibrary

STEPS = "60"
# Its collective writes would fill holes with memory that was never set, in plain runs, too.
DETERMINISTIC = {"OMPI_MCA_fbtl_posix_write_datasieving": "0"}


@dataclass(frozen=True)
class Way:
    """How a program is run under `lull stage`."""

    ranks: int  # that it sees
    nodes: int
    servers: int  # of each node
    settings: dict[str, str]
    kills_after_s: float | None  # when a server is killed

    @staticmethod
    def drawn(seed: int) -> Way:
        """One for each seed."""
        draw = random.Random(seed)
        nodes = draw.choice([1, 1, 2])
        settings = {
            "LULL_STAGE_CLOSE": draw.choice(["go", "wait"]),
            "LULL_STAGE_SYNC": draw.choice(["wait", "order"]),
            "LULL_STAGE_BUFFER": draw.choice(["1G", "256K"]),
            "LULL_STAGE_STORAGE_LIMIT": draw.choice(["", "4M"]),
        }
        return Way(
            ranks=draw.choice([2, 3, 4]) if nodes == 1 else 4,
            nodes=nodes,
            servers=draw.choice([1, 2]),
            settings={name: value for name, value in settings.items() if value},
            kills_after_s=draw.uniform(0.3, 1.5) if draw.random() < 0.3 else None,
        )

    def __str__(self) -> str:
        settings = " ".join(f"{name}={value}" for name, value in self.settings.items())
        killed = "" if self.kills_after_s is None else f", a server killed after {self.kills_after_s:.2f} s"
        return f"{self.ranks} ranks, {self.nodes} nodes, {self.servers} servers each, {settings}{killed}"


@dataclass(frozen=True)
class Done:
    """What a run has left."""

    returncode: int
    printed: list[str]
    said: str
    file: bytes


def run(mpi: MpiLibrary, program: Path, folder: Path, seed: int, ranks: int, way: Way | None) -> Done:
    """Run the program of this seed, plainly without a way."""
    folder.mkdir()
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    }
    environment |= ENVIRONMENT | DETERMINISTIC
    if way is not None:
        tools = {
            "LULL_STAGE": f"dedicated-cores={way.servers}",
            "LULL_STAGE_FIGURES": str(folder / "figures"),  # by which the servers are found
            "LULL_NODES": str(way.nodes),
            **way.settings,
        }
        environment = preloaded(environment, tools=tools)
        ranks += way.nodes * way.servers
    started = subprocess.Popen(
        mpi.start(ranks, program, folder / "file", str(seed), STEPS),
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        if way is not None and way.kills_after_s is not None:
            time.sleep(way.kills_after_s)
            if servers := processes_with(str(folder), name="lull-stage-serv"):
                os.kill(random.Random(seed).choice(sorted(servers)), signal.SIGKILL)
        out, err = started.communicate(timeout=TIMEOUT_S)
    finally:
        started.kill()
    path = folder / "file"
    return Done(started.returncode, sorted(out.splitlines()), err, path.read_bytes() if path.exists() else b"")


def difference(mpi: MpiLibrary, program: Path, into: Path, seed: int) -> str | None:
    """One line, if the staged run differs from the plain one."""
    way = Way.drawn(seed)
    plain = run(mpi, program, into / "plain", seed, way.ranks, None)
    staged = run(mpi, program, into / "staged", seed, way.ranks, way)
    where = f"seed {seed}, {way}"
    # The job ends, with a line, if a server is killed inside MPI_Init, or nodes lose each other.
    lines = ["ended before it had started", *(["lull: write"] if way.nodes > 1 else [])]
    if way.kills_after_s is not None and staged.returncode != 0 and any(line in staged.said for line in lines):
        return None
    if staged.returncode != plain.returncode:
        return f"{where}: it ends with {staged.returncode}, plainly with {plain.returncode}: {staged.said}"
    if staged.printed != plain.printed:
        return f"{where}: it prints other lines"
    return None if staged.file == plain.file else f"{where}: the file differs"


def main() -> int:
    """Run the campaign; not 0 if anything differs."""
    options = argparse.ArgumentParser()
    options.add_argument("--programs", type=int, default=100)
    options.add_argument("--seed", type=int, default=time.localtime().tm_yday * 1000)
    asked = options.parse_args()
    mpi = LIBRARIES[0]
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="lull-faults-") as name:
        program = mpi.compiled("stage/shared_random.c", Path(name))
        for seed in range(asked.seed, asked.seed + asked.programs):
            into = Path(name) / str(seed)
            into.mkdir()
            begin = time.monotonic()
            found = difference(mpi, program, into, seed)
            wrong += [found] if found else []
            print(found or f"seed {seed}, {Way.drawn(seed)}: equal, {time.monotonic() - begin:.0f} s", flush=True)
    print(f"one file of all ranks: {asked.programs} programs from seed {asked.seed}, {len(wrong)} not equal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
