"""Programs that verify what they receive, with each MPI library, plain and while ranks wait by a policy.

    python tests/conformance/waiting_programs.py [--library REGEX] [--program REGEX] [--ranks 2,4] [--seconds S]

is a part of `make mpi-conformance`; half an hour. The programs are mpi_hammer, mpi_stress and mpi_imbalance in
tests/python/programs/mpi. Each runs plainly for some seconds, on one node and on two virtual hosts, and then as many
turns under each policy. A run under a policy must have the same results and exit code, no line of Lull on stderr, no
missed wake-up and ranks that slept, and must leave no processes and no segments of Lull behind. Virtual hosts and the
view of shared segments need root.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "python" / "support"))

from lull.hosts.program import end_in_order_on_signals  # noqa: E402
from lull.mpi.waiting import waiting_by  # noqa: E402
from mpi_launchers import OnHosts, hosts_for_mpi  # noqa: E402
from mpi_libraries import ENVIRONMENT, OVER_LIBFABRIC, WITH_STANDARD_INTERFACE, Setup  # noqa: E402
from mpi_libraries import SETUPS as USUAL_SETUPS  # noqa: E402
from own_segments import separate_segments, shared_segments  # noqa: E402
from waiting_reports import Waits, lines_of_lull, waits_in  # noqa: E402

SETUPS = USUAL_SETUPS | WITH_STANDARD_INTERFACE | OVER_LIBFABRIC
POLICIES = ("interrupt", "adaptive")
LIMIT_S = 300.0  # for a run, which takes seconds
GRACE_S = 3.0  # for MPI_Finalize, where it often does not return
LINES = 40  # of stderr after a fault
END_S = 10.0  # for processes and segments of a run to disappear after its end
RESULT = re.compile(r"^rank \d+ of \d+: (\d+) turns of seed \d+, received \w+$", re.MULTILINE)
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Program:
    """A program, and the variables with which it runs."""

    name: str
    env: dict[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """Its path in the folder of programs."""
        return f"mpi/mpi_{self.name}.c"


PROGRAMS = [
    Program("hammer", {"LULL_WAIT_SPIN_US": "2", "LULL_WAIT_YIELDS": "0"}),
    Program("stress"),
    Program("imbalance"),
]


@dataclass(frozen=True)
class Case:
    """A program with a library, on some ranks, here or on hosts."""

    library: str
    program: Program
    ranks: int
    hosts: OnHosts | None

    @property
    def setup(self) -> Setup:
        """The library and its transport."""
        return SETUPS[self.library]

    @property
    def must_sleep(self) -> bool:
        """Whether ranks surely sleep."""
        hosts = len(self.hosts.hosts) if self.hosts else 1
        return self.program.name != "stress" and self.setup.must_sleep(self.ranks, hosts)

    @property
    def may_not_return(self) -> bool:
        """Whether MPI_Finalize often does not return, also without Lull: Debian's MPICH over UCX and TCP."""
        return self.library == "mpich" and self.hosts is not None

    @property
    def left_out(self) -> list[str]:
        """What the library cannot do without Lull."""
        if self.may_not_return:  # MPI_Ssend of 8,000 bytes over UCX and TCP hangs if the receive is posted first
            return ["without-synchronous"]
        if self.library == "openmpi-5-libfabric":  # MPI_Mrecv returns MPI_ERR_OTHER
            return ["without-matched"]
        return []

    @property
    def place(self) -> str:
        """Where it runs, for a person."""
        return "two hosts" if self.hosts else "one node"

    def words(self, program: Path, length: str, seed: int) -> list[str]:
        """The command that runs it."""
        arguments = [length, str(seed)]
        if self.program.name == "stress":
            arguments += self.left_out
        if self.hosts:
            mpi = self.setup.mpi
            return self.hosts.start(mpi.launcher, mpi.mpirun, self.ranks, program, *arguments)
        return self.setup.mpi.start(self.ranks, program, *arguments)

    def environment(self, folder: Path) -> dict[str, str]:
        """The environment of its plain run."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("LULL_")}
        env |= {**ENVIRONMENT, "LULL_CONFIG": "", **self.setup.env, "TMPDIR": str(folder)}
        if not self.hosts:
            return env
        env |= self.hosts.environment
        # Without UCX, Open MPI 5 has no other component for windows between hosts than rdma.
        return env | ({"OMPI_MCA_osc": "^ucx"} if self.library.startswith("openmpi-5") else {})


@dataclass(frozen=True)
class Ended:
    """The end of a run."""

    code: int | None  # None: it was killed after LIMIT_S
    seconds: float
    stdout: str
    stderr: str
    left: list[str]  # what it has left behind

    @property
    def results(self) -> list[str]:
        """The line of each rank."""
        return results_in(self.stdout)


def results_in(stdout: str) -> list[str]:
    """The line in which each rank says what it has received."""
    return sorted(match[0] for match in RESULT.finditer(stdout))


def descendants() -> set[int]:
    """The processes that this one has started, and those that these have started, unless they have ended."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(int(path.parent.name))
    found: set[int] = set()
    new = children.get(os.getpid(), [])
    while new:
        found.update(new)
        new = [child for parent in new for child in children.get(parent, [])]
    return found


def kill_since(before: set[int]) -> None:
    """Kill all descendants that were not there before."""
    while started := descendants() - before:
        for pid in started:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def what_remains(processes: set[int], segments: set[str]) -> list[str]:
    """The processes and segments since then that remain for some time."""
    end = time.monotonic() + END_S
    while True:
        names = []
        for pid in descendants() - processes:
            with suppress(OSError):
                names.append(f"process {Path(f'/proc/{pid}/comm').read_text().strip()}")
        found = sorted(names) + sorted(f"segment {name}" for name in shared_segments() - segments)
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.05)


def run(words: Sequence[str], env: Mapping[str, str], folder: Path, suffices: int = 0) -> Ended:
    """Run a command to its end or to the limit; afterwards none of its processes exists.

    With `suffices`, it is ended a little after so many ranks have printed their results, and its exit code is 0 then.
    """
    processes, segments = descendants(), shared_segments()
    begin = time.monotonic()
    out, err = folder / "stdout", folder / "stderr"
    with out.open("wb") as to_out, err.open("wb") as to_err:
        started = subprocess.Popen(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=to_out, stderr=to_err)

    def has_results() -> bool:
        return 0 < suffices <= len(results_in(out.read_text(errors="replace")))

    code: int | None = None
    left: list[str] = []
    try:
        while code is None and not has_results() and time.monotonic() - begin < LIMIT_S:
            with suppress(subprocess.TimeoutExpired):
                code = started.wait(0.5 if suffices else LIMIT_S)
        if code is None and has_results():
            with suppress(subprocess.TimeoutExpired):
                started.wait(GRACE_S)
            code = 0
        elif code is not None:
            left = what_remains(processes, segments)
        seconds = time.monotonic() - begin
    finally:
        kill_since(processes)
        started.wait()
        for name in shared_segments() - segments:
            Path("/dev/shm", name).unlink(missing_ok=True)
    return Ended(code, seconds, out.read_text(errors="replace"), err.read_text(errors="replace"), left)


def faults_of(case: Case, plain: Ended, ended: Ended, waits: Waits) -> list[str]:
    """The differences between a run under a policy and the plain one."""
    found = []
    if ended.code is None:
        found.append(f"did not end within {LIMIT_S:.0f} s")
    elif ended.code != plain.code:
        found.append(f"exit code {ended.code}, plainly {plain.code}")
    if ended.code is not None and ended.results != plain.results:
        found.append("other results")
    found += [f"stderr: {line}" for line in lines_of_lull(ended.stderr)]
    if waits.missed:
        found.append(f"{waits.missed} missed wake-ups")
    if ended.code == 0 and case.must_sleep and waits.sleeps == 0:
        found.append("no rank slept")
    # Some MPI libraries leave segments of their own behind, and not in each run.
    found += [
        f"left behind: {one}" for one in ended.left if "lull" in one or (one.startswith("process") and not plain.left)
    ]
    return found


def most_important(lines: Sequence[str]) -> list[str]:
    """The first and the last lines of a longer text."""
    return list(lines) if len(lines) <= LINES else [*lines[: LINES // 2], "...", *lines[-LINES // 2 :]]


@dataclass
class Campaign:
    """All runs, and the table of their outcomes."""

    folder: Path
    seconds: float
    seed: int
    rows: list[list[str]] = field(default_factory=list)
    failed: int = 0

    def note(self, case: Case, policy: str, ended: Ended, waits: Waits | None, faults: list[str]) -> None:
        """Add a row to the table."""
        numbers = [str(waits.sleeps), str(waits.timeouts), str(waits.missed)] if waits else ["", "", ""]
        turns = next((match[1] for match in RESULT.finditer(ended.stdout)), "?")
        row = [case.library, case.place, str(case.ranks), case.program.name, policy, turns, f"{ended.seconds:.1f}"]
        self.rows.append([*row, *numbers, faults[0] if faults else "as plainly" if waits else ""])
        self.failed += bool(faults)
        print(" ".join(f"{word:>9}" for word in self.rows[-1]), flush=True)
        if faults:
            print(
                *(f"    {one}" for one in faults), *most_important(ended.stderr.splitlines()), sep="\n    ", flush=True
            )

    def compare(self, case: Case, program: Path) -> None:
        """Run a case plainly and under each policy."""
        with tempfile.TemporaryDirectory(prefix="lull-waiting-") as name:
            folder = Path(name)
            env = case.environment(folder)
            suffices = case.ranks if case.may_not_return else 0
            plain = run(case.words(program, f"{self.seconds}s", self.seed), env, folder, suffices)
            usable = plain.code == 0 and len(plain.results) == case.ranks
            code = f"exit code {plain.code}" if plain.code is not None else "no end"
            self.note(case, "none", plain, None, [] if usable else [f"fails without Lull: {code}"])
            if not usable:
                return
            turns = RESULT.search(plain.stdout)
            assert turns is not None
            words = case.words(program, turns[1], self.seed)
            for policy in POLICIES:
                record = folder / policy
                record.mkdir()
                asked = env | {"LULL_RECORD": str(record)} | case.program.env
                ended = run(words, waiting_by(policy, asked, stats=True, command=words), folder, suffices)
                waits = waits_in(record)
                self.note(case, policy, ended, waits, faults_of(case, plain, ended, waits))

    def of_library(self, library: str, programs: Sequence[Program], ranks: Sequence[int]) -> None:
        """Run all cases of a library."""
        mpi = SETUPS[library].mpi
        if mpi.package is not None:
            mpi.package.install()
        elif mpi.missing:
            print(f"{library} left out: it {mpi.missing}")
            return
        folder = self.folder / library
        folder.mkdir(parents=True, exist_ok=True)
        # The compiler does not know what MPI_STATUSES_IGNORE is.
        quiet = "-Wno-stringop-overflow"
        compiled = {program.name: mpi.compiled(program.source, folder, quiet) for program in programs}
        with ExitStack() as stack:
            places: list[OnHosts | None] = [None]
            if os.geteuid() == 0:
                places.append(stack.enter_context(hosts_for_mpi(folder)))
            for hosts in places:
                for count in ranks:
                    for program in programs:
                        self.compare(Case(library, program, count, hosts), compiled[program.name])


HEAD = [
    "library",
    "place",
    "ranks",
    "program",
    "policy",
    "turns",
    "seconds",
    "sleeps",
    "time-outs",
    "missed",
    "outcome",
]


def table_of(rows: Sequence[Sequence[str]]) -> str:
    """The rows below their head, in columns."""
    widths = [max(len(row[column]) for row in [HEAD, *rows]) for column in range(len(HEAD))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in [HEAD, *rows])


def main() -> int:
    """Run the cases of each library."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--library", default="", help="only libraries whose names match")
    parser.add_argument("--program", default="", help="only programs whose names match: hammer, stress, imbalance")
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of each plain run (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="of the traffic (default: at random)")
    parser.add_argument("--folder", type=Path, default=TOP / "build" / "mpi-conformance" / "programs")
    options = parser.parse_args()
    libraries = [name for name in SETUPS if re.search(options.library, name)]
    programs = [one for one in PROGRAMS if re.search(options.program, one.name)]
    if not libraries or not programs:
        parser.error(f"libraries: {', '.join(SETUPS)}; programs: {', '.join(one.name for one in PROGRAMS)}")
    end_in_order_on_signals()
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)  # adopts what mpirun leaves behind
    seed = options.seed if options.seed is not None else random.randrange(1 << 30)
    campaign = Campaign(options.folder.absolute(), options.seconds, seed)
    print(f"==> seed {seed}", flush=True)
    if not separate_segments():
        print("lull: see shared segments, run on virtual hosts: not permitted; root can; left out", file=sys.stderr)
    for library in libraries:
        campaign.of_library(library, programs, [int(count) for count in options.ranks.split(",")])
    print(table_of(campaign.rows), f"{campaign.failed} of {len(campaign.rows)} runs failed, seed {seed}", sep="\n")
    return int(campaign.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
