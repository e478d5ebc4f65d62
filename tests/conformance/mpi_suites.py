"""mpi4py's tests with several MPI libraries, plain and under Lull: each test must have the same outcome.

    python tests/conformance/mpi_suites.py [--library REGEX] [--tool REGEX] [--tests REGEX] [--ranks N]

is what `make mpi-conformance` runs; two hours. The libraries are this machine's Open MPI and those that PyPI has as
packages. The folder, by default build/mpi-conformance, gets mpi4py's tests and their outcomes. A test whose outcome
differs between two plain runs is not compared.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "python" / "support"))

from mpi_launchers import ENVIRONMENT, OPEN_MPI  # noqa: E402
from mpi_packages import INTEL, OPEN_MPI_5, PACKAGES, MpiPackage  # noqa: E402

MPI4PY = "4.1.2"
MPI4PY_SHA256 = "56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02"
SECONDS = 3600  # for a run of all tests
TIMED_OUT = 124  # the exit code of timeout
MOST = 20  # differences that are printed
# Each rank writes what it prints into its own file.
RANK = 'exec "$@" > "$OUTCOMES/${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" 2>&1'
OUTCOME = re.compile(r"^(test\w* \([\w.]+\)).* \.\.\. (ok|FAIL|ERROR|skipped|expected failure)", re.MULTILINE)


@dataclass(frozen=True)
class Library:
    """An MPI library: a package of PyPI, or this machine's Open MPI."""

    name: str
    package: MpiPackage | None = None
    left_out: str = ""  # modules of tests that do not end with it: a regular expression


INSTALLED = "mpirun.openmpi"  # the launcher of this machine's Open MPI, by its name in Debian
SPAWNING = "test_(spawn|dynproc)"
LIBRARIES = [Library("openmpi", left_out=SPAWNING)] + [
    Library(one.name, one, SPAWNING if one in (OPEN_MPI_5, INTEL) else "") for one in PACKAGES
]
TOOLS = {
    "trace": ("trace", "--out", "{folder}/trace", "--"),
    "wait": ("wait", "interrupt", "--"),
    "stage": ("stage", "--approach", "time-partitioning", "--"),
}


def environment(library: Library, folder: Path) -> Path:
    """The virtual environment of a library, with mpi4py; created once."""
    packages = (f"mpi4py=={MPI4PY}", "numpy")
    if library.package is not None:
        return library.package.install(*packages)
    place = folder / library.name
    if not (place / "ready").exists():
        shutil.rmtree(place, ignore_errors=True)
        print(f"==> installing mpi4py in {place}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        pip = [str(place / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
        (place / "ready").touch()
    return place


def tests_of_mpi4py(folder: Path) -> Path:
    """The folder of mpi4py's tests, from the source package in the index that pip uses."""
    source = folder / f"mpi4py-{MPI4PY}"
    if source.is_dir():
        return source / "test"
    pip = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    index = os.environ.get("PIP_INDEX_URL") or subprocess.run(pip, capture_output=True, text=True, check=False).stdout
    page = f"{index.strip() or 'https://pypi.org/simple'}".rstrip("/") + "/mpi4py/"
    try:
        with urllib.request.urlopen(page) as answer:
            links = re.findall(rf'href="([^"#]*mpi4py-{re.escape(MPI4PY)}\.tar\.gz)', answer.read().decode())
        if not links:
            raise SystemExit(f"lull: fetch the tests of mpi4py {MPI4PY}: {page} has no source package of it")
        with urllib.request.urlopen(urljoin(page, links[0])) as answer:
            content = answer.read()
    except OSError as error:
        raise SystemExit(f"lull: fetch the tests of mpi4py {MPI4PY} from {page}: {error}") from error
    if (found := hashlib.sha256(content).hexdigest()) != MPI4PY_SHA256:
        raise SystemExit(f"lull: fetch the tests of mpi4py {MPI4PY}: the source package has the SHA-256 {found}")
    archive = folder / "mpi4py.tar.gz"
    archive.write_bytes(content)
    with tarfile.open(archive) as tar:
        tar.extractall(folder)  # its digest is known
    return source / "test"


@dataclass(frozen=True)
class Outcome:
    """The end of a run: its exit code, and by rank the outcome of each test."""

    code: int
    tests: list[dict[str, str]]
    seconds: float


@dataclass(frozen=True)
class Suite:
    """The tests to run."""

    tests: Path  # mpi4py's folder of tests
    folder: Path  # of the environments; outcomes/LIBRARY-TOOL below it has the output of each rank, and the launcher's
    ranks: int
    only: str  # a regular expression of modules; all, if empty

    def run(self, library: Library, tool: str = "") -> Outcome:
        """Run the tests, under a tool if one is named."""
        outcomes = self.folder / "outcomes" / f"{library.name}-{tool or 'plain'}"
        shutil.rmtree(outcomes, ignore_errors=True)
        outcomes.mkdir(parents=True)
        commands = environment(library, self.folder) / "bin"
        of_machine = [shutil.which(INSTALLED) or "", "-n", str(self.ranks), *OPEN_MPI.free]
        launcher = library.package.start(self.ranks) if library.package is not None else of_machine
        lull = Path(sys.executable).with_name("lull")
        under = [str(lull), *(word.format(folder=outcomes) for word in TOOLS[tool])] if tool else []
        program = [str(commands / "python"), "main.py", "-v"]
        program += ["-i", self.only] if self.only else []
        program += ["-e", library.left_out] if library.left_out else []
        ranks = ["sh", "-c", RANK, "sh", *program]
        # Asked to end, a launcher ends its ranks; killed, it would leave them.
        command = ["timeout", "--kill-after=60", str(SECONDS), *under, *launcher, *ranks]
        env = {name: value for name, value in os.environ.items() if not name.startswith(("LULL_", "PYTHON"))}
        env |= {**ENVIRONMENT, "LULL_CONFIG": "", "OUTCOMES": str(outcomes)}
        if library.package is not None:
            env["PATH"] = f"{commands}{os.pathsep}{env['PATH']}"
        else:
            env["MPI4PY_MPIABI"] = library.name
        begin = time.monotonic()
        with (outcomes / "log").open("wb") as log:
            done = subprocess.run(command, cwd=self.tests, env=env, stdout=log, stderr=log, check=False)
        seconds = time.monotonic() - begin
        return Outcome(done.returncode, [read_outcomes(outcomes / str(rank)) for rank in range(self.ranks)], seconds)


def read_outcomes(file: Path) -> dict[str, str]:
    """The outcome of each test that a rank has run."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    return dict(OUTCOME.findall(text))


def differences(plain: Outcome, other: Outcome) -> list[str]:
    """A line for each difference from a plain run."""
    found = [] if plain.code == other.code else [f"exit code {other.code}, plainly {plain.code}"]
    for rank, (expected, seen) in enumerate(zip(plain.tests, other.tests, strict=True)):
        for name in sorted(expected.keys() | seen.keys()):
            if (one := expected.get(name, "not run")) != (two := seen.get(name, "not run")):
                found.append(f"rank {rank}: {name}: {two}, plainly {one}")
    return found


def compare(library: Library, suite: Suite, tools: list[str]) -> bool:
    """Compare the plain run with that under each tool; print a line for each. Returns whether all are equal."""
    if library.package is None and shutil.which(INSTALLED) is None:
        print(f"{library.name:10} left out: there is no {INSTALLED}")
        return True
    plain = suite.run(library)
    count = sum(len(of_rank) for of_rank in plain.tests)
    print(f"{library.name:10} plain   exit {plain.code}, {count} tests in {plain.seconds:.0f} s", flush=True)
    if count == 0 or plain.code == TIMED_OUT:
        why = f"they did not end within {SECONDS} s" if count else "none ran"
        print(f"lull: run mpi4py's tests with {library.name}: {why}; see {suite.folder}/outcomes", file=sys.stderr)
        return False
    equal = True
    for tool in tools:
        under = suite.run(library, tool)
        found = differences(plain, under)
        if found:  # what two plain runs disagree on shows nothing
            again = differences(suite.run(library), under)
            found = [one for one in found if one in again]
        equal = equal and not found
        words = f"{len(found)} differences" if found else "equal"
        print(f"{library.name:10} {tool:7} {words} in {under.seconds:.0f} s", *found[:MOST], sep="\n    ", flush=True)
    return equal


def main() -> int:
    """Compare the runs of each library."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--library", default="", help="only libraries whose names match")
    parser.add_argument("--tool", default="", help="only tools whose names match: trace, wait, stage")
    parser.add_argument("--tests", default="", help="only modules of tests whose names match")
    parser.add_argument("--ranks", type=int, default=2, help="ranks of each run (default: %(default)s)")
    parser.add_argument("--folder", type=Path, default=TOP / "build" / "mpi-conformance")
    options = parser.parse_args()
    folder: Path = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    suite = Suite(tests_of_mpi4py(folder), folder, options.ranks, options.tests)
    tools = [tool for tool in TOOLS if re.search(options.tool, tool)]
    chosen = [one for one in LIBRARIES if re.search(options.library, one.name)]
    if not chosen or not tools:
        parser.error(f"libraries: {', '.join(one.name for one in LIBRARIES)}; tools: {', '.join(TOOLS)}")
    equal = [compare(library, suite, tools) for library in chosen]
    return int(not all(equal))


if __name__ == "__main__":
    sys.exit(main())
