"""The command `lull` for tests, and the processes it may leave behind."""

import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import hypothesis
import pytest

from bounds import TIMEOUT_S
from covering import cover, seed_of_today, share
from own_segments import separate_segments
from warm_start import READ_AT_START, WarmLull

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in the background of a script; what is started here inherits it
    signal.signal(signal.SIGINT, signal.default_int_handler)


os.environ["LULL_CONFIG"] = (
    ""  # for every process that tests start: the settings of this machine's files are not theirs
)

# Other load on the machine may stop a process for longer than hypothesis allows for a single example.
hypothesis.settings.register_profile("lull", deadline=None)
hypothesis.settings.load_profile("lull")


@dataclass
class Lull:
    """Calls the command `lull` in its own folder; every process that it starts can be found by the folder's name."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    warm: WarmLull | None = None
    sources: str = (
        "estimate,net"  # the energy sources of every machine, whatever sensors this one has or pretends to have
    )

    @property
    def cold(self) -> "Lull":
        """The same, but each call imports what it needs."""
        return replace(self, warm=None)

    def argv(self, *args: str) -> list[str]:
        return [sys.executable, "-c", "from lull.cli import main; main()", *args]

    def environment(self) -> dict[str, str]:
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
        }
        return {
            **inherited,
            "COLUMNS": "200",
            "STARTED_IN": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),  # ignores the calibration of this host
            "LULL_METER_SOURCES": self.sources,
            **self.env,
        }

    def run(self, *args: str, stdin: str = "", timeout: float = TIMEOUT_S) -> subprocess.CompletedProcess[str]:
        if self.warm is not None and not any(name.startswith(READ_AT_START) for name in self.env):
            return self.warm.run(args, self.folder, self.environment(), stdin, timeout)
        return subprocess.run(
            self.argv(*args),
            cwd=self.folder,
            env=self.environment(),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def start(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.argv(*args),
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


@pytest.fixture(scope="session")
def warm_lull() -> Iterator[WarmLull]:
    warm = WarmLull()
    yield warm
    warm.close()


@pytest.fixture
def lull(tmp_path: Path, warm_lull: WarmLull) -> Lull:
    return Lull(tmp_path, warm=warm_lull)


def compiled(source: str, folder: Path, *arguments: str) -> Path:
    """The program `source` of the folder `programs`, or at any other path, compiled as a user would."""
    path = Path(__file__).parent / "programs" / source
    program = folder / path.stem
    compiler = "lullcc" if path.suffix == ".c" else "lullc++"
    wrapper = Path(sys.executable).parent / compiler
    subprocess.run([wrapper, "-O1", "-o", program, path, *arguments], check=True)
    return program


class Counter:
    """Change a counter file under a reader that holds it open: rewrite it in place, in one piece."""

    def __init__(self, path: Path) -> None:
        self.value = int(path.read_text())
        self._file = path.open("r+b", buffering=0)
        self.add(0)

    def add(self, amount: int) -> None:
        self.value += amount
        os.pwrite(self._file.fileno(), f"{self.value:020d}\n".encode(), 0)


def processes_with(*marks: str, name: str | None = None) -> list[int]:
    """Process ids whose variables or arguments contain every mark, this process left out; of programs called `name`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
            if not all(mark.encode() in text for mark in marks):
                continue
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            called = (folder / "comm").read_text().strip()
        except OSError:  # it has ended
            continue
        if state != "Z" and int(folder.name) != os.getpid() and name in {None, called}:
            found.append(int(folder.name))
    return found


def cpu_s(pid: int) -> float:
    """The CPU time of a process; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def catches(pid: int, number: signal.Signals) -> bool:
    """Whether a process handles a signal by itself."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it has ended
        return False
    caught = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(caught >> (number - 1) & 1)


def kill_all(pids: list[int]) -> None:
    """Send SIGKILL to each that still exists."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def wait_until(holds: Callable[[], object], within_s: float = TIMEOUT_S, every_s: float = 0.02) -> bool:
    """Whether the condition holds within the time; checks repeatedly."""
    end = time.monotonic() + within_s
    while not (held := bool(holds())) and time.monotonic() < end:
        time.sleep(every_s)
    return held


def gone(mark: str, within_s: float = TIMEOUT_S) -> bool:
    """Whether every process marked `mark` ends within the time."""
    return wait_until(lambda: not processes_with(mark), within_s)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "pairwise: --some takes cases in which each pair of parameters is met")
    config.addinivalue_line("markers", "in_turn(days): --some takes each day that part of the cases, at least one")
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # with lull, as make has it
    os.environ["SEED"] = str(seed_of_today())  # the same for all workers, also at midnight
    separate_segments()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --some, leave out the cases of marked tests that the seed does not choose."""
    if not config.getoption("--some"):
        return
    products: dict[str, dict[tuple[str, ...], pytest.Item]] = {}
    for item in items:
        if hasattr(item, "callspec") and any(map(item.get_closest_marker, ("pairwise", "in_turn"))):
            products.setdefault(item.nodeid.partition("[")[0], {})[tuple(map(repr, item.callspec.params.values()))] = (
                item
            )
    left_out: set[pytest.Item] = set()
    for name, cases in products.items():
        seed = seed_of_today() + zlib.crc32(name.encode())  # so that not all tests take the same library that day
        in_turn = next(iter(cases.values())).get_closest_marker("in_turn")
        taken = share(cases, seed, min(in_turn.args[0], len(cases))) if in_turn else cover(list(cases), seed)
        left_out |= {item for case, item in cases.items() if case not in taken}
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--some",
        action="store_true",
        help="of costly products of parameters, take the cases that SEED chooses (make test)",
    )
    parser.addoption(
        "--all-programs-on-hosts",
        action="store_true",
        help="run every program of tests/run on virtual hosts, under each policy (make hosts-conformance)",
    )
