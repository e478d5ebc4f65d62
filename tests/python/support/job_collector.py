"""A collector of this test's own with a munged of its own, and several users who send rows and ask."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bounds import TIMEOUT_S
from conftest import wait_until
from lull.jobs.rows import Row, read_row
from node_service import as_user
from places import TESTS

IS_ROOT = os.geteuid() == 0
ALICE, BOB, CAROL, DAVE, SERVICE = 64001, 64002, 64003, 64004, 64005
EXAMPLES = TESTS / "data" / "service" / "rows.jsonl"
HERE = "127.0.0.1"  # has this address

with_munge = pytest.mark.skipif(
    not IS_ROOT or shutil.which("munged") is None,
    reason="needs root, to be several users, and munged (packages/test.txt)",
)


def row(job: str, **changes: Any) -> dict[str, Any]:
    """A row of a job of one node, which had the node alone; the energy is 10 J, or `uj`."""
    uj = changes.pop("uj", 10_000_000)
    kind = changes.pop("kind", "vendor-model")
    energy = {"kind": kind, "active_uj": uj, "held_uj": 0, "overhead_uj": 0, "low_uj": uj - uj // 100, "high_uj": uj}
    made: dict[str, Any] = {
        "v": 1,
        "cluster": "blue",
        "job": job,
        "restart": 0,
        "node": HERE,
        "nodes": 1,
        "uid": ALICE,
        "project": "physics",
        "begin_us": 1_795_888_000_000_000,
        "end_us": 1_795_888_060_000_000,
        "cpus": 4,
        "memory_mib": 0,
        "cpu_us": 1_000_000,
        "flags": [],
        "energy": {"package": energy},
    }
    return made | changes


def example_rows() -> list[Row]:
    return [read_row(line) for line in EXAMPLES.read_bytes().splitlines()]


def spool_file(folder: Path, number: int, rows: list[dict[str, Any]]) -> Path:
    """A file as lull-meterd writes it."""
    path = folder / f"rows-{number:016}.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


class Site:
    """A folder with the site's file, a munged, and a collector, which start() starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "jobs.toml"
        self.socket = folder / "collector" / "jobs"
        self.store = folder / "collector" / "jobs.sqlite"
        self.spool = folder / "spool"
        self.address = ""
        self.process: subprocess.Popen[str] | None = None
        self._munged: subprocess.Popen[bytes] | None = None
        for path in (self.socket.parent, self.spool):
            path.mkdir()
            path.chmod(0o755)  # whatever the umask is
        self.describe()

    def describe(self, text: str = "", *, collector_user: int | None = None) -> None:
        """Writes the site's file; keys of `text` come first."""
        user = os.geteuid() if collector_user is None else collector_user
        lines = [f'munge_socket = "{self.folder / "munge" / "socket"}"', f"collector_user = {user}"]
        lines += [f'collector = "{self.address}"'] * bool(self.address)
        self.file.write_text("\n".join(lines) + "\n" + text)
        self.file.chmod(0o644)

    def start_munge(self) -> None:
        folder = self.folder / "munge"
        folder.mkdir()
        folder.chmod(0o711)
        (folder / "key").write_bytes(os.urandom(128))
        (folder / "key").chmod(0o400)
        files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        self._munged = subprocess.Popen(
            ["munged", "--foreground", "--num-threads=2", *(f"--{k}={folder / v}" for k, v in files.items())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert wait_until((folder / "socket").exists), (folder / "log").read_text()

    def command(self, *words: str | Path) -> list[str]:
        return [sys.executable, "-B", "-c", "from lull.cli import main; main()", *map(str, words)]

    def environment(self) -> dict[str, str]:
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
        }
        return {**inherited, "COLUMNS": "200", "STARTED_IN": str(self.folder), "TZ": "UTC", "HOME": str(self.folder)}

    def start(self, *options: str | Path, listen: str = "127.0.0.1:0") -> str:
        """Starts the collector. With `listen`, it also listens there, and the site's file gets the address."""
        words = ["collect", "--store", self.store, "--socket", self.socket, "--site", self.file, *options]
        words += ["--listen", listen] if listen else []
        self.process = subprocess.Popen(
            self.command(*words),
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(),
            cwd=self.folder,
        )
        assert self.process.stderr
        line = self.process.stderr.readline()
        assert "collecting into" in line, line + self.process.communicate(timeout=TIMEOUT_S)[1]
        if listen:
            self.address = line.partition(" and ")[2].partition(";")[0]
            self.file.write_text(f'collector = "{self.address}"\n' + self.file.read_text())
        return line

    def stop(self) -> str:
        """Ends the collector; what it wrote on stderr since its first line."""
        assert self.process
        process, self.process = self.process, None
        process.terminate()
        return process.communicate(timeout=TIMEOUT_S)[1]

    def kill(self) -> None:
        assert self.process
        process, self.process = self.process, None
        process.kill()
        process.communicate(timeout=TIMEOUT_S)

    def start_lull(self, uid: int | None, *words: str | Path) -> subprocess.Popen[str]:
        """As a user; None: as this one."""
        return subprocess.Popen(
            self.command(*words, "--site", self.file),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment(),
            **as_user(uid),
        )

    def lull(self, uid: int | None, *words: str | Path) -> tuple[int, str, str]:
        process = self.start_lull(uid, *words)
        out, err = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, out, err

    def jobs(self, uid: int | None, *words: str) -> list[dict[str, Any]]:
        """The jobs that a user sees."""
        code, out, err = self.lull(uid, "jobs", "--format", "json", *words)
        assert code == 0, err
        found: list[dict[str, Any]] = json.loads(out).get("jobs", [])
        return found

    def names(self, uid: int | None, *words: str) -> list[str]:
        return sorted(one["job"] for one in self.jobs(uid, *words))

    def close(self) -> None:
        if self.process:
            self.kill()
        if self._munged:
            self._munged.kill()
            self._munged.wait()


@contextmanager
def site() -> Iterator[Site]:
    """In a folder that other users can enter, as they cannot enter pytest's."""
    folder = Path(tempfile.mkdtemp(prefix="lull-jobs-"))
    folder.chmod(0o755)
    made = Site(folder)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(folder)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind((HERE, 0))
        port: int = listening.getsockname()[1]
        return port
