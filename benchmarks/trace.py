"""What does tracing cost a program, and how fast are traces written and read? (`make bench-trace`)

An event is an enter, a leave or a message; a call that sends has three. ns_per_event is CPU time of the recording
thread, including its two readings of the clock and the kernel's work for its files. The ratios compare runs with and
without recording in turn, in several rounds, each rank on its own core; those of folded_over_written compare both forms
of records, in turn, too. Writing is the conversion of recorded files to
OTF2; reading is all of `lull archive info` except its tables; both in events per second of time. Prints one line of
JSON: medians, and in `spread` the minimum and maximum of figures with several rounds; figures.toml describes them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lull.mpi.preload import preloaded
from lull.trace.account import analyse
from lull.trace.convert import convert, merge, size_of_archive

TOP = Path(__file__).resolve().parent.parent
BUILD = TOP / "build" / "venv"
RECORDING = BUILD / "tests" / "unit" / "trace_recording"
ROUNDS = 9
CALLS = 2_000_000
EVENTS_OF_CALL = 3
FOLDED_CALLS = 6_000_000
STEPS = 300_000
PROCESSES = 4
PINGPONG_ROUNDS = 200_000
OPENMPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MELT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
fix 1 all nve
thermo 100
run 200
"""


def recorded(folder: Path, calls: int, processes: int, pattern: str = "ring", form: str = "raw") -> list[float]:
    """Nanoseconds per call of each process, whose records are in `folder`."""
    environment = {**os.environ, "LULL_TRACE": str(folder), "LULL_TRACE_LIMIT": "8G", "LULL_TRACE_FORM": form}
    done = subprocess.run(
        [RECORDING, str(calls), str(processes), pattern], env=environment, check=True, capture_output=True, text=True
    )
    return [float(line.split()[0]) for line in done.stdout.splitlines()]


def ns_per_event(folder: Path) -> list[float]:
    """The same for one process that does nothing but record, round by round."""
    found = []
    for number in range(ROUNDS):
        found += recorded(folder / f"alone{number}", CALLS, 1)
        shutil.rmtree(folder / f"alone{number}")
    return [ns / EVENTS_OF_CALL for ns in found]


def folded_over_written(folder: Path, pattern: str) -> list[float]:
    """The cost of recording folded over that of raw records, which run in turn, round by round."""
    found = []
    for number in range(ROUNDS):
        sides = {}
        for form in ("raw", "folded") if number % 2 == 0 else ("folded", "raw"):
            [sides[form]] = recorded(folder / "form", FOLDED_CALLS, 1, pattern, form)
            shutil.rmtree(folder / "form")
        found.append(sides["folded"] / sides["raw"])
    return found


def folded_bytes(folder: Path, pattern: str, processes: int, iterations: int) -> int:
    """The bytes of the merged calls of all processes, without their times."""
    recorded(folder, iterations, processes, pattern, "folded")
    made = merge(folder, None, keep_raw=False)
    shutil.rmtree(folder)
    return made.call_bytes


def library_ratios(folder: Path) -> list[float]:
    """What the whole library adds to a step of a program, folded over raw, round by round."""
    program = folder / "to_itself"
    subprocess.run(["mpicc.openmpi", "-O2", TOP / "benchmarks" / "trace" / "to_itself.c", "-o", program], check=True)
    found = []
    for number in range(ROUNDS):
        sides = {}
        forms = ["", "raw", "folded"]
        for form in forms[number % 3 :] + forms[: number % 3]:
            text = run([program, str(STEPS)], 1, folder, folder / "t" if form else None, form or "raw")
            sides[form] = float(text)
        found.append((sides["folded"] - sides[""]) / (sides["raw"] - sides[""]))
    return found


def archive(folder: Path) -> dict[str, float]:
    """How fast an archive is written and read, and its size."""
    recorded(folder, CALLS, PROCESSES)
    begin = time.monotonic()
    made = convert(folder, keep_raw=False)
    written = time.monotonic() - begin
    begin = time.monotonic()
    analyse(folder)
    read = time.monotonic() - begin
    return {
        "bytes_per_event": round(size_of_archive(folder) / made.events, 3),
        "write_events_per_s": round(made.events / written),
        "read_events_per_s": round(made.events / read),
    }


def run(command: Sequence[str | Path], ranks: int, folder: Path, trace: Path | None, form: str = "raw") -> str:
    """The output of the program."""
    environment = {**os.environ, **OPENMPI, "LULL_TRACE_FORM": form}
    if trace is not None:
        environment = preloaded(environment, tools={"LULL_TRACE": str(trace), "LULL_TRACE_LIMIT": "8G"})
    words = ["mpirun.openmpi", "-n", str(ranks), "--bind-to", "core", *map(str, command)]
    done = subprocess.run(words, env=environment, cwd=folder, check=True, capture_output=True, text=True)
    if trace is not None:
        shutil.rmtree(trace)
    return done.stdout


def ratios(command: Sequence[str | Path], pattern: str, folder: Path, rounds: int) -> list[float]:
    """The figure with recording over that without, round by round."""
    found = []
    for number in range(rounds):
        sides = {}
        for traced in (number % 2 == 0, number % 2 == 1):
            text = run(command, 2, folder, folder / "t" if traced else None)
            match = re.search(pattern, text, re.MULTILINE)
            if match is None:
                raise SystemExit(f"time {command[0]}: it printed no {pattern}")
            sides[traced] = float(match[1])
        found.append(sides[True] / sides[False])
    return found


def main() -> None:
    """Print the figures as JSON."""
    subprocess.run([TOP / "scripts" / "setup", "packages/bench-trace.txt"], check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", BUILD, "--target", "trace_recording"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pingpong = folder / "pingpong"
        source = TOP / "benchmarks" / "trace" / "pingpong.c"
        subprocess.run(["mpicc.openmpi", "-O2", source, "-o", pingpong], check=True)
        rounds = {"ns_per_event": ns_per_event(folder)}
        for pattern in ("ring", "halo", "chaos"):
            rounds[f"folded_over_written_{pattern}"] = folded_over_written(folder, pattern)
        rounds["folded_over_written_library"] = library_ratios(folder)
        result: dict[str, Any] = dict(archive(folder / "archive"))
        for iterations in (150, 15_000):
            result[f"folded_bytes_cg_{iterations}"] = folded_bytes(folder / "cg", "cg", PROCESSES, iterations)
        for ranks in (9, 64):
            result[f"folded_bytes_stencil_{ranks}_ranks"] = folded_bytes(folder / "stencil", "stencil", ranks, 1000)
        [result["folded_memory_kib"]] = recorded(folder / "memory", 1500, 1, "memory")
        rounds["pingpong_8b_ratio"] = ratios([pingpong, "8", str(PINGPONG_ROUNDS)], r"^(\S+)$", folder, ROUNDS)
        (folder / "in.melt").write_text(MELT)
        lammps = ["lmp", "-in", "in.melt", "-log", "none"]
        rounds["lammps_ratio"] = ratios(lammps, r"Loop time of (\S+)", folder, ROUNDS)
    result |= {name: round(statistics.median(values), 4) for name, values in rounds.items()}
    result["spread"] = {name: [round(min(values), 4), round(max(values), 4)] for name, values in rounds.items()}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
