"""Random programs of path operations and HDF5 calls, plain and under each approach: equal files and exit codes.

    python tests/python/support/stage_faults.py --programs 200 [--seed N]      what `make faults` runs, some minutes

A storage may be slow, full, or used with few descriptors, and buffers small. Seeds are printed; `KEPT` contains those
that have found a fault, and test_stage_faults.py runs them.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from bounds import TIMEOUT_S
from lull.mpi.preload import preloaded
from mpi_libraries import ENVIRONMENT, LIBRARIES, MpiLibrary, printing_to

APPROACHES = ["time-partitioning", "dedicated-cores=1", "dedicated-nodes=1"]
CLIENTS = 2
# Symbolic links, also to open files; a file renamed as it was written; waiting in the thread that others wait for.
KEPT = [100, 141, 300, 7021, 7031, 7045, 10065, 11008, 11024, 12014]


@dataclass(frozen=True)
class Trouble:
    """A difficulty for the files on their path to the storage."""

    name: str
    settings: dict[str, str] = field(default_factory=dict)
    shell: str = ""  # words before the command
    disk: str = ""  # the size of a disk that is too small for some programs


TROUBLES = [
    Trouble("none"),
    Trouble("slow", {"LULL_STAGE_STORAGE_LIMIT": "8M"}),
    Trouble("small buffer", {"LULL_STAGE_BUFFER": "64K"}),
    Trouble(
        "slow, and the program writes what does not fit",
        {
            "LULL_STAGE_STORAGE_LIMIT": "8M",
            "LULL_STAGE_BUFFER": "400K",
            "LULL_STAGE_WHEN_FULL": "write-yourself",
        },
    ),
    Trouble("few descriptors", shell="ulimit -S -n 72;"),
    Trouble("a full disk", disk="1500k"),
]


def flags() -> list[str]:
    """Options of the serial HDF5 of this machine."""
    for package in ("hdf5-serial", "hdf5"):
        found = subprocess.run(
            ["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, check=False
        )
        if found.returncode == 0:
            return found.stdout.split()
    return []


def run(
    mpi: MpiLibrary, program: Path, folder: Path, approach: str, seeds: range, trouble: Trouble
) -> subprocess.CompletedProcess[str]:
    """Run the programs of these seeds in the folder, plainly if there is no approach."""
    folder.mkdir()
    ranks = {"": CLIENTS, "time-partitioning": CLIENTS, "dedicated-nodes=1": 2 * CLIENTS}.get(approach, CLIENTS + 1)
    printed = folder.with_name(f"{folder.name}.printed")
    started = mpi.start(ranks, *printing_to(printed), program, str(seeds.start), str(len(seeds)))
    words = f"{trouble.shell} exec {shlex.join(started)}"
    command = ["sh", "-c", words]
    if trouble.disk:
        mounted = (
            f"mount -t tmpfs -o size={trouble.disk} none {shlex.quote(str(folder))} && cd {shlex.quote(str(folder))}"
        )
        hidden = "find . -name '.lull*' | sed 's/^/left: /' >&2"
        command = ["unshare", "-m", "sh", "-c", f"{mounted} && (trap '{hidden}' EXIT; {words.replace(' exec ', ' ')})"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    } | ENVIRONMENT
    if approach:
        nodes = {"LULL_NODES": "2"} if "nodes" in approach else {}
        environment = preloaded(environment, tools={"LULL_STAGE": approach}) | nodes | trouble.settings
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    done.stderr += printed.read_text() if printed.exists() else ""
    return done


def seen(folder: Path) -> dict[str, object]:
    """The content of the folder: the content of files, the targets of links, and folders."""
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        found[name] = str(path.readlink()) if path.is_symlink() else path.is_dir() or path.read_bytes()
    return found


def differences(mpi: MpiLibrary, program: Path, into: Path, seeds: range, trouble: Trouble) -> list[str]:
    """A line for each difference from the plain run."""
    lines = []
    plain = run(mpi, program, into / "plain", "", seeds, Trouble("none", shell=trouble.shell))
    expected = seen(into / "plain")
    for approach in APPROACHES:
        staged = run(mpi, program, into / approach, approach, seeds, trouble)
        where = f"seeds {seeds.start} to {seeds.stop - 1}, {trouble.name}, {approach}"
        if "left: " in staged.stderr:
            lines.append(f"{where}: temporary files are left")
        if trouble.disk:  # plain runs fail as well, in other places: a failure must be reported
            if staged.returncode != 0 and "No space left" not in staged.stderr and approach != "time-partitioning":
                lines.append(f"{where}: it fails with {staged.returncode}, without a word about the disk")
            continue
        if staged.returncode != plain.returncode:
            lines.append(f"{where}: it ends with {staged.returncode}, plainly with {plain.returncode}: {staged.stderr}")
        found = seen(into / approach)
        other = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
        if other:
            lines.append(f"{where}: {len(other)} files differ: {' '.join(other[:6])}")
    return lines


def main() -> int:
    """Run the campaign; not 0 if anything differs."""
    options = argparse.ArgumentParser()
    options.add_argument("--programs", type=int, default=200)
    options.add_argument("--seed", type=int, default=time.localtime().tm_yday * 1000)
    asked = options.parse_args()
    mpi = LIBRARIES[0]
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="lull-faults-") as name:
        program = mpi.compiled("stage/stage_random.c", Path(name), *flags())
        batches = max(1, asked.programs // len(TROUBLES) // CLIENTS)
        for i, trouble in enumerate(TROUBLES):
            seeds = range(asked.seed + i * batches, asked.seed + (i + 1) * batches)
            into = Path(name) / str(i)
            into.mkdir()
            found = differences(mpi, program, into, seeds, trouble)
            print(
                f"{trouble.name}: {CLIENTS * len(seeds)} programs, seeds {seeds.start} to {seeds.stop - 1}: "
                f"{'equal' if not found else 'NOT equal'}",
                flush=True,
            )
            wrong += found
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
