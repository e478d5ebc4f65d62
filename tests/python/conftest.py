"""The command `lull` for tests, and the processes it may leave behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in the background of a script; what is started here inherits it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass
class Lull:
    """Calls the command `lull` in a folder of its own."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def argv(self, *args: str) -> list[str]:
        return [sys.executable, "-c", "from lull.cli import main; main()", *args]

    def environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("LULL_")}
        return {**inherited, "COLUMNS": "200", **self.env}

    def run(self, *args: str, stdin: str = "", timeout: float = 120) -> subprocess.CompletedProcess[str]:
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


@pytest.fixture
def lull(tmp_path: Path) -> Iterator[Lull]:
    yield Lull(tmp_path)


def compiled(source: str, folder: Path, *arguments: str) -> Path:
    """The program `source` of the folder `programs`, or any other path, compiled as a user would."""
    path = Path(__file__).parent / "programs" / source
    program = folder / path.stem
    compiler = "lullcc" if path.suffix == ".c" else "lullc++"
    wrapper = Path(sys.executable).parent / compiler
    subprocess.run([wrapper, "-O1", "-o", program, path, *arguments], check=True)
    return program


class Counter:
    """A counter file that moves under a reader who holds it open: rewritten in place, in one piece."""

    def __init__(self, path: Path) -> None:
        self.value = int(path.read_text())
        self._file = path.open("r+b", buffering=0)
        self.add(0)

    def add(self, amount: int) -> None:
        self.value += amount
        os.pwrite(self._file.fileno(), f"{self.value:020d}\n".encode(), 0)


def processes_with(mark: str) -> list[int]:
    """Process ids whose environment or arguments contain `mark`, this process left out."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if mark.encode() in text and state != "Z" and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def gone(mark: str, within_s: float = 5.0) -> bool:
    """Whether every process marked `mark` ends within the time."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if not processes_with(mark):
            return True
        time.sleep(0.02)
    return False


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-programs-on-hosts",
        action="store_true",
        help="run every program of tests/run on hosts made of namespaces, under each policy (make hosts-conformance)",
    )
