"""The cost and the savings of MPI programs that wait by a policy (`make bench-mpi-wait LIBRARY=mpich-5`).

Two ranks on two cores, with this machine's Open MPI or the named library. With LULL_MPI_COMPARE a program waits by the
policy in some epochs and by its library in others, chosen at random, because separate runs differ by more than the
effect. "Time" is the time of a call with the policy over that without, "CPU" the same for the CPU time of both ranks.
Ranks are pinned; each figure is the median of several runs. Prints tables, then one line of JSON, in which `spread` is
the minimum and maximum over the runs; figures.toml describes its figures. With LIBRARY the cases are those that need
no LAMMPS, which is linked with this machine's Open MPI.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lull.hosts.program import end_in_order_on_signals
from lull.hosts.virtual import Link
from lull.mpi.waiting import waiting_by

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "python" / "support"))

from mpi_launchers import ENVIRONMENT, OnHosts, hosts_for_mpi
from mpi_libraries import ABI, LIBRARIES, OF_PYPI, PML_UCX, MpiLibrary

ROUNDS = 5
SECONDS = 6.0
LIMIT_S = 120
TOP = Path(__file__).resolve().parent.parent
PROGRAMS = TOP / "studies" / "mpi-waiting"
BUILD = TOP / "build" / "bench-mpi-wait"
LINK = Link("1gbit", "20kb", 16384)
OPEN_MPI = "openmpi"
LIBRARY_NAMES = {one.name: (one, {}) for one in (*LIBRARIES, *OF_PYPI, *ABI)} | {"openmpi-ucx": (LIBRARIES[0], PML_UCX)}
SIZES_OF_POLL = (8, 1024, 65536, 4194304)
RUNS_OF_POLL_A_ROUND = 5


@dataclass(frozen=True)
class Case:
    """A program, and how it is compared."""

    name: str
    words: str  # of patterns, or "melt" with what is thin
    epoch_ms: int
    ideal_cpu: float | None = None  # the CPU time that remains if no rank uses any for waiting
    ranks: int = 2
    pinned: bool = True
    link: bool = False
    env: dict[str, str] = field(default_factory=dict)


def imbalance(name: str, us_a: int, us_b: int, epoch_ms: int, **more: Any) -> Case:
    """Two ranks that repeatedly compute for these times."""
    ideal = (us_a + us_b) / (2 * max(us_a, us_b))
    return Case(name, f"imbalance {{seconds}} {us_a} {us_b}", epoch_ms, ideal, **more)


EAGER = {"OMPI_MCA_btl_tcp_eager_limit": "2097152", "OMPI_MCA_btl_tcp_max_send_size": "2097152"}
CASES = [
    imbalance("imbalance_ms", 3000, 1000, 100),
    imbalance("imbalance_200us", 300, 100, 30),
    imbalance("imbalance_ms, not pinned", 3000, 1000, 100, pinned=False),
    imbalance("imbalance_ms, 4 ranks on 2 cores", 3000, 1000, 100, ranks=4, pinned=False),
    Case("rotating", "rotating {seconds} 2000 20", 100, 2.2 / 2.4),
    Case("lammps_imbalanced", "melt thin=1", 100),
    Case("lammps_balanced", "melt thin=0", 100),
    Case("pingpong_8b", "pingpong {seconds} 8", 20),
    Case("pingpong_64k", "pingpong {seconds} 65536", 20),
    Case("pingpong_2m", "pingpong {seconds} 2097152", 50),
    Case("tcp_bulk", "alltoall {seconds} 1048576 0", 250, link=True),
    Case("tcp_bulk_256k", "alltoall {seconds} 262144 0", 250, link=True),
    Case("tcp_bulk, 8 ms between", "alltoall {seconds} 1048576 8000", 250, link=True),
    Case("tcp_bulk, eager, 8 ms between", "alltoall {seconds} 1048576 8000", 250, link=True, env=EAGER),
    Case("tcp_pingpong_64k", "pingpong {seconds} 65536", 100, link=True),
]

# Of every library; their figures are those of mpi-wait-library.
CASES_OF_A_LIBRARY = [
    imbalance("imbalance_ms", 3000, 1000, 100),
    imbalance("imbalance_200us", 300, 100, 30),
    Case("rotating", "rotating {seconds} 2000 20", 100, 2.2 / 2.4),
    Case("pingpong_8b", "pingpong {seconds} 8", 20),
    Case("pingpong_64k", "pingpong {seconds} 65536", 20),
    imbalance("tcp_imbalance_ms", 3000, 1000, 100, link=True),
    Case("tcp_pingpong_8b", "pingpong {seconds} 8", 100, link=True),
    Case("tcp_pingpong_256k", "pingpong {seconds} 262144", 250, link=True),
    Case("allreduce, 4 ranks on 2 cores", "imbalance {seconds} 0 0", 250, ranks=4, pinned=False),
]


@dataclass(frozen=True)
class Compared:
    """One run: with the policy over without."""

    time: float
    cpu: float
    sleeps: int
    missed: int


@dataclass(frozen=True)
class Library:
    """An MPI library, and the variables that select its transport."""

    mpi: MpiLibrary
    env: dict[str, str]

    def build(self) -> Path:
        """The program of the patterns."""
        if self.mpi.package is not None:
            self.mpi.package.install()
        elif self.mpi.missing:
            raise SystemExit(f"time waits of MPI: {self.mpi.missing}; install packages/bench-mpi-wait.txt")
        folder = BUILD / self.mpi.name
        folder.mkdir(parents=True, exist_ok=True)
        return self.mpi.compiled(str(PROGRAMS / "patterns.c"), folder, "-std=c11", "-O2", "-Wall", "-Wextra")

    def start(self, ranks: int, *, pinned: bool) -> list[str]:
        """The command that starts `ranks` ranks here, without the program."""
        launcher = self.mpi.launcher
        return [self.mpi.mpirun, "-n", str(ranks), *(launcher.pinned if pinned else launcher.free)]


def command_of(case: Case, program: Path, seconds: float) -> list[str]:
    """The program and its arguments."""
    kind, _, rest = case.words.partition(" ")
    if kind != "melt":
        return [str(program), *case.words.format(seconds=seconds).split()]
    variables = {"time": f"0:00:{int(seconds):02d}", "steps": "10000000", **dict([rest.split("=")])}
    return ["lmp", "-in", str(PROGRAMS / "melt.lammps"), "-log", "none", "-screen", "none"] + [
        word for name, value in variables.items() for word in ("-var", name, value)
    ]


def run(command: Sequence[str], env: dict[str, str]) -> str:
    """The output of a command."""
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["it said nothing"]
        raise SystemExit(f"time {' '.join(command)}: exit {done.returncode}: {last[-1]}")
    return done.stdout


def compare(
    library: Library, case: Case, program: Path, seconds: float, policy: str, hosts: OnHosts | None
) -> Compared:
    """One run of one case."""
    command = command_of(case, program, seconds)
    with tempfile.TemporaryDirectory() as folder:
        asked = {**os.environ, **ENVIRONMENT, **library.env, **case.env}
        asked |= {"LULL_MPI_COMPARE": str(case.epoch_ms), "LULL_RECORD": folder}
        if case.link:
            assert hosts is not None
            words = hosts.start(library.mpi.launcher, library.mpi.mpirun, case.ranks, *command)
            run(words, {**waiting_by(policy, asked), **hosts.environment})
        else:
            run([*library.start(case.ranks, pinned=case.pinned), *command], waiting_by(policy, asked))
        files = [json.loads(path.read_text()) for path in sorted(Path(folder).glob("comparison-*.json"))]
    if len(files) != case.ranks:
        raise SystemExit(f"time {case.name}: {len(files)} of {case.ranks} ranks said what they found")
    return summed_up(files)


def summed_up(files: Sequence[dict[str, Any]]) -> Compared:
    """All ranks together: the median of their times and the sum of their CPU times, per call."""
    if not all(of[way]["epochs"] > 0 for of in files for way in ("with", "without")):
        raise SystemExit("compare two ways of waiting: a run had no epoch of one of them; raise --seconds")
    times = [of["without"]["median_calls_per_s"] / of["with"]["median_calls_per_s"] for of in files]
    cpu = {way: sum(of[way]["cpu_s"] / of[way]["calls"] for of in files) for way in ("with", "without")}
    return Compared(
        statistics.median(times),
        cpu["with"] / cpu["without"],
        sum(of["sleeps"] for of in files),
        sum(of["missed"] for of in files),
    )


def call_cost_ns(library: Library, program: Path, seconds: float, policy: str, rounds: int) -> float:
    """How many nanoseconds longer a call that need not wait takes with the policy than without Lull."""

    def of_a_call(env: dict[str, str]) -> float:
        said = json.loads(run([*library.start(1, pinned=True), str(program), "calls", str(seconds)], env))
        return float(said["seconds"] / said["repeats"] * 1e9)

    plain = {**os.environ, **ENVIRONMENT, **library.env}
    pairs = [(of_a_call(waiting_by(policy, plain)), of_a_call(plain)) for _ in range(rounds)]
    return min(ours for ours, _ in pairs) - min(theirs for _, theirs in pairs)


def poll_ratios(library: Library, program: Path, rounds: int) -> dict[int, tuple[float, float, float]]:
    """Ping-pong under LULL_WAIT=poll over that without Lull, by size: the median, and both quartiles.

    From many short runs in turn: the same run varies by 3 % and more, depending on where its memory is.
    """
    plain = {**os.environ, **ENVIRONMENT, **library.env}
    sides = {"ours": waiting_by("poll", plain), "theirs": plain}
    found = {}
    for size in SIZES_OF_POLL:
        ratios = []
        for number in range(RUNS_OF_POLL_A_ROUND * rounds):
            took = {}
            for who in sorted(sides, reverse=number % 2 == 1):
                command = [*library.start(2, pinned=True), str(program), "pingpong", "0.4", str(size)]
                said = json.loads(run(command, sides[who]))
                took[who] = said["seconds"] / said["repeats"]
            ratios.append(took["ours"] / took["theirs"])
        least, median, most = statistics.quantiles(ratios, n=4)
        found[size] = median, least, most
    return found


# The figures of the last line that come from cases: the case, and the quantity.
FIGURES_OF_A_LIBRARY = {
    "imbalance_ms_time": ("imbalance_ms", "time"),
    "imbalance_ms_avoidable_cpu_removed": ("imbalance_ms", "removed"),
    "imbalance_200us_time": ("imbalance_200us", "time"),
    "imbalance_200us_removed": ("imbalance_200us", "removed"),
    "rotating_time": ("rotating", "time"),
    "rotating_removed": ("rotating", "removed"),
    "pingpong_8b": ("pingpong_8b", "time"),
    "pingpong_64k": ("pingpong_64k", "time"),
    "tcp_imbalance_ms_time": ("tcp_imbalance_ms", "time"),
    "tcp_imbalance_ms_cpu": ("tcp_imbalance_ms", "cpu"),
    "tcp_pingpong_8b": ("tcp_pingpong_8b", "time"),
    "tcp_pingpong_256k_time": ("tcp_pingpong_256k", "time"),
    "tcp_pingpong_256k_cpu": ("tcp_pingpong_256k", "cpu"),
    "oversubscribed_allreduce": ("allreduce, 4 ranks on 2 cores", "time"),
}
FIGURES = {
    "imbalance_ms_time": ("imbalance_ms", "time"),
    "imbalance_ms_avoidable_cpu_removed": ("imbalance_ms", "removed"),
    "imbalance_200us_time": ("imbalance_200us", "time"),
    "imbalance_200us_removed": ("imbalance_200us", "removed"),
    "lammps_imbalanced_time": ("lammps_imbalanced", "time"),
    "lammps_imbalanced_cpu": ("lammps_imbalanced", "cpu"),
    "lammps_balanced_time": ("lammps_balanced", "time"),
    "tcp_bulk_time": ("tcp_bulk", "time"),
    "tcp_bulk_cpu": ("tcp_bulk", "cpu"),
    "pingpong_8b": ("pingpong_8b", "time"),
    "pingpong_64k": ("pingpong_64k", "time"),
    "pingpong_2m": ("pingpong_2m", "time"),
    "tcp_pingpong_64k": ("tcp_pingpong_64k", "time"),
    "lammps_balanced_cpu": ("lammps_balanced", "cpu"),
    "unpinned_time": ("imbalance_ms, not pinned", "time"),
    "unpinned_removed": ("imbalance_ms, not pinned", "removed"),
    "oversubscribed_time": ("imbalance_ms, 4 ranks on 2 cores", "time"),
    "oversubscribed_cpu": ("imbalance_ms, 4 ranks on 2 cores", "cpu"),
    "rotating_time": ("rotating", "time"),
    "rotating_removed": ("rotating", "removed"),
    "tcp_bulk_256k_time": ("tcp_bulk_256k", "time"),
    "tcp_bulk_256k_cpu": ("tcp_bulk_256k", "cpu"),
    "tcp_bulk_paused_time": ("tcp_bulk, 8 ms between", "time"),
    "tcp_bulk_paused_cpu": ("tcp_bulk, 8 ms between", "cpu"),
}


def of_runs(case: Case, runs: Sequence[Compared], what: str) -> list[float]:
    """One figure of a case, run by run."""
    if what == "time":
        return [one.time for one in runs]
    if what == "cpu":
        return [one.cpu for one in runs]
    assert case.ideal_cpu is not None
    return [(1 - one.cpu) / (1 - case.ideal_cpu) for one in runs]


def figures(
    of: dict[str, tuple[str, str]], cases: Sequence[Case], seen: dict[str, list[Compared]], call_ns: float
) -> dict[str, Any]:
    """The figures of the last line."""
    by_name = {case.name: case for case in cases}
    found = {name: of_runs(by_name[case], seen[case], what) for name, (case, what) in of.items()}
    return {
        **{name: round(statistics.median(values), 4) for name, values in found.items()},
        "call_cost_ns": round(call_ns, 3),
        "missed_wakeups": sum(one.missed for runs in seen.values() for one in runs),
        "spread": {name: [round(min(values), 4), round(max(values), 4)] for name, values in found.items()},
    }


def print_table(cases: Sequence[Case], seen: dict[str, list[Compared]]) -> None:
    """Print each case, with the range of its runs."""
    print(f"{'':34} {'time':>7} {'(least, most)':>16} {'CPU':>7} {'ideal':>7} {'sleeps':>8} {'missed':>7}")
    for case in cases:
        runs = seen[case.name]
        times = [one.time for one in runs]
        spread = f"({min(times):.3f}, {max(times):.3f})"
        ideal = f"{case.ideal_cpu:.3f}" if case.ideal_cpu is not None else ""
        print(
            f"{case.name:34} {statistics.median(times):7.3f} {spread:>16} "
            f"{statistics.median(one.cpu for one in runs):7.3f} {ideal:>7} "
            f"{statistics.median(one.sleeps for one in runs):8.0f} {sum(one.missed for one in runs):7}"
        )


def main() -> None:
    """Print the table, and the figures as JSON."""
    parser = argparse.ArgumentParser(
        description="Compare waiting of MPI programs by a policy with their library's own."
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"How often everything takes its turn. [{ROUNDS}]")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"How long a run takes. [{SECONDS:g}]")
    parser.add_argument("--policy", default="adaptive", help="That is compared. [adaptive]")
    parser.add_argument("--only", default="", help="Cases whose name this pattern finds; then there are no figures.")
    parser.add_argument(
        "--library", default=os.environ.get("LIBRARY") or OPEN_MPI, choices=sorted(LIBRARY_NAMES), help=f"[{OPEN_MPI}]"
    )
    asked = parser.parse_args()
    if asked.rounds < 1:
        parser.error("--rounds must be at least 1")
    end_in_order_on_signals()
    subprocess.run([str(TOP / "scripts" / "setup"), "packages/bench-mpi-wait.txt"], check=True, stdout=sys.stderr)
    library = Library(*LIBRARY_NAMES[asked.library])
    program = library.build()
    all_cases, of = (CASES, FIGURES) if asked.library == OPEN_MPI else (CASES_OF_A_LIBRARY, FIGURES_OF_A_LIBRARY)
    cases = [case for case in all_cases if re.search(asked.only, case.name)]
    seen: dict[str, list[Compared]] = {case.name: [] for case in cases}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        hosts = stack.enter_context(hosts_for_mpi(folder, 2, LINK)) if any(case.link for case in cases) else None
        for number in range(asked.rounds):
            for case in cases:
                seen[case.name].append(compare(library, case, program, asked.seconds, asked.policy, hosts))
            print(f"round {number + 1}/{asked.rounds}", file=sys.stderr)
    print(f"{asked.library}, {asked.policy} over the library's own waiting, load at the end {os.getloadavg()[0]:.1f}")
    print_table(cases, seen)
    if asked.only:
        return
    found = figures(of, cases, seen, call_cost_ns(library, program, 1, asked.policy, asked.rounds))
    if asked.library == OPEN_MPI:
        poll = poll_ratios(library, program, asked.rounds)
        for size, (median, least, most) in poll.items():
            print(f"poll over no Lull, ping-pong of {size} B: {median:.3f}, quartiles {least:.3f} and {most:.3f}")
        found["poll_pingpong"] = round(max(median for median, _, _ in poll.values()), 4)
    else:
        found |= {"figures": "mpi-wait-library", "name": f"mpi-wait-{asked.library}"}
    print()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
