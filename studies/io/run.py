"""A simulation on emulated nodes, its output written by one approach, on a storage whose speed is given in steps.

    run.py NODESxCORES APPROACH STEPS EVERY STEPS_OF_AN_OUTPUT

The domain is the same for all approaches: the fewer processes compute, the more cells each has. Each process is as
fast as on a core of its own, for computing passes asleep (stencil --asleep); what it writes goes into memory, at the
rate at which all processes together write one output in so many steps of all cores (LULL_STAGE_STORAGE_LIMIT). It
reports the time of the simulation, what share of the cores computed, and CPU use, power and energy of nodes as the
model of output has them, for no meter could see cores that are not there: that energy is simulated. As in the model
(src/model/costs/output.cpp), cores that copy or wait are busy, too; nodes of another number of cores than the site's
draw idle power in proportion.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import lull
from lull.base.errors import LullError
from lull.base.installed import applications
from lull.hosts.mpirun import of_open_mpi
from lull.hosts.program import run_to_its_end
from lull.model.output import Case, Site, case_of, read_site, site_content

STEP_S = 0.025  # of all cores
BYTES_OF_CELL = 101
WRITERS_AT_HALF_SPEED = 12.4 / 56  # of all processes: so many get half of what the storage gives (site nancy)
CELLS = (420, 12, 10)  # of the domain: all but few counts of processes divide it
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def simulate(architecture: str, approach: str, steps: int, every: int, steps_of_output: float) -> dict[str, Any]:
    """What stencil and the staging of its output say of one run.

    Raises:
        LullError: Something is not there, or the run failed.
    """
    nodes, cores = (int(number) for number in architecture.split("x"))
    processes, domain = nodes * cores, math.prod(CELLS)
    cell_ns = STEP_S * 1e9 * processes / domain
    half = WRITERS_AT_HALF_SPEED * processes
    limit = int(domain * BYTES_OF_CELL / (steps_of_output * STEP_S) * (1 + processes / half))
    mpirun, stencil = of_open_mpi("mpirun"), applications().get("stencil")
    if mpirun is None or stencil is None:
        raise LullError("run stencil", "there is no Open MPI, or it was built without", "install packages/test.txt")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        figures = Path(folder) / "figures.json"
        command: list[str | Path] = [  # the same words each time: by them `auto` knows its earlier runs
            *(sys.executable, "-m", "lull", "stage", "--approach", approach, "--no-fsync"),
            *("--storage-limit", str(limit), "--figures", figures, "--"),
            *(mpirun, "-n", str(processes), "--oversubscribe", "--bind-to", "none"),
            *("--mca", "mpi_yield_when_idle", "1"),
            *(stencil, "--asleep", "--json", "--cell-ns", str(cell_ns), "--steps", str(steps), "--every", str(every)),
            *("--all-cells", *map(str, CELLS), "--out", "."),
        ]
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **ROOT, "LULL_NODES": str(nodes), "LULL_STAGE_STORAGE_WRITERS": str(half)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0 or not figures.exists():
            last = [*done.stderr.strip().splitlines(), "it said nothing"][0]
            raise LullError(f"run stencil by {approach}", f"exit {done.returncode}: {last}")
        return {"said": json.loads(done.stdout), **json.loads(figures.read_text())}


def busy_core_seconds(found: dict[str, Any], case: Case, core_seconds: float, computing: float) -> float:
    """How long cores were busy in a run, of `core_seconds` of all cores and `computing` of those that computed."""
    on, clients, servers = case.machine, found["clients"], found["servers"]
    writing = servers["write_s"] if servers["processes"] else clients["write_s"]
    copies = 3 if found["approach"].startswith("dedicated-nodes") else 1  # into memory; to another node two more
    copying = copies * clients["handed_over"]["bytes"] / on.copy_bytes_per_s
    waiting = max(0.0, core_seconds - computing - copying - writing)
    busy = on.computing_use * computing + copying + on.writing_use * writing + on.waiting_use * waiting
    return min(core_seconds, busy)


def idle_watts(site: Site, cores: int) -> float:
    """The power of an idle node of so many cores: in proportion to the cores of the site's nodes."""
    return (site.machine.idle_node_watts or 0) * cores / (site.machine.cores or cores)


def run() -> int:
    """Reports what was found."""
    architecture, approach = sys.argv[1:3]
    steps, every = int(sys.argv[3]), int(sys.argv[4])
    nodes, cores = (int(number) for number in architecture.split("x"))
    found = simulate(architecture, approach, steps, every, float(sys.argv[5]))
    seconds = found["clients"]["wall_s"] / found["clients"]["processes"]  # to the end of the output
    core_seconds = nodes * cores * seconds
    computing = found["said"]["compute_s"] * found["said"]["processes"]
    name = "nancy" if cores < 8 else "rennes"
    site = read_site(site_content(name), f"take the power of {name}")
    busy = busy_core_seconds(found, case_of(site, None), core_seconds, computing)
    watts = nodes * idle_watts(site, cores) + busy / seconds * (site.machine.busy_core_watts or 0)
    lull.metric_mean("seconds", seconds, "s")
    lull.metric_mean("computing", 100 * computing / core_seconds, "%")
    lull.metric_mean("cpu_use", 100 * busy / core_seconds, "%")
    lull.metric_mean("output_held_up", found["said"]["output_s"], "s")
    lull.metric_mean("node_watts", watts, "W")
    lull.metric_mean("node_joules", watts * seconds, "J")
    return 0


if __name__ == "__main__":
    sys.exit(run_to_its_end("io", run))
