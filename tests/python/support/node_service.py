"""A service of this test's own, on a made-up node: a tree with counters and cgroups, and sockets in its own folder.

Where the tests run as root, the service is an ordinary user without capabilities, as on a real node; root is then the
scheduler. Elsewhere this user is everything, and tests that need several users are skipped.
"""

import json
import os
import shutil
import signal
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
from conftest import Counter
from lull.base.installed import executable
from places import TESTS

WRITER = TESTS / "fixtures" / "make_sysfs_fixtures.py"
IS_ROOT = os.geteuid() == 0
SERVICE_UID = 65534 if IS_ROOT else os.geteuid()
ALICE, BOB = 64001, 64002
with_users = pytest.mark.skipif(not IS_ROOT, reason="needs root, to be several users")
Answer = dict[str, Any]

ZONES = {
    "package-1": "intel-rapl:0",
    "package-0": "intel-rapl:1",
    "dram-1": "intel-rapl:0:0",
    "dram-0": "intel-rapl:1:0",
}

# Sends each line of its input as a message and prints each answer.
RELAY = """
import socket, sys
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect(sys.argv[1])
for line in sys.stdin:
    connection.send(line.strip().encode())
    print(connection.recv(65536).decode(), flush=True)
"""


def as_user(uid: int | None) -> dict[str, Any]:
    """Arguments of subprocess for a process of this user, who is in no group."""
    return {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}


class Relayed:
    """A connection of another user."""

    def __init__(self, path: Path, uid: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", RELAY, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            **as_user(uid),
        )

    def ask(self, message: Answer) -> Answer:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"v": 1} | message) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer: Answer = json.loads(line) if line else {"closed": self.errors()}
        return answer

    def errors(self) -> str:
        words: str = self._process.communicate(timeout=TIMEOUT_S)[1]
        return words

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream
            stream.close()


class NodeService:
    """One node with a service, which start() starts and which may be killed and started again."""

    def __init__(self, folder: Path, name: str = "n1") -> None:
        self.folder, self.name = folder, name
        self.sockets = folder / "run"
        self.state = folder / "state" / "state.json"
        self.spool = folder / "state" / "spool"
        self.options: list[str] = []
        self.process: subprocess.Popen[str] | None = None
        self.held: list[socket.socket] = []
        self._relayed: list[Relayed] = []
        subprocess.run([sys.executable, WRITER, folder, "intel_2s_server"], check=True, capture_output=True)
        self.tree = folder / "intel_2s_server"
        zones = self.tree / "sys/class/powercap"
        self.counters = {name: Counter(zones / entry / "energy_uj") for name, entry in ZONES.items()}
        self.consumed_uj = 0  # by all counters
        for energy in zones.glob("*/energy_uj"):  # as packaging/service/60-lull-meters.rules does
            os.chown(energy, -1, SERVICE_UID if IS_ROOT else -1)
            energy.chmod(0o440 if IS_ROOT else 0o640)
        self.boot("first")
        self.set_cpu_time("", 0)
        for path in (self.sockets, self.state.parent):
            path.mkdir()
            os.chown(path, SERVICE_UID, -1)

    # The node

    def boot(self, boot_id: str) -> None:
        path = self.tree / "proc/sys/kernel/random/boot_id"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(boot_id)

    def set_cpu_time(self, cgroup: str, usage_us: int) -> None:
        path = self.tree / f"cgroup{cgroup}" / "cpu.stat"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"usage_usec {usage_us}\n")

    def remove_cgroup(self, cgroup: str) -> None:
        os.truncate(self.tree / f"cgroup{cgroup}" / "cpu.stat", 0)  # for who has it open, as in a cgroup that has gone
        shutil.rmtree(self.tree / f"cgroup{cgroup}")

    def consume(self, joules: float) -> None:
        """The packages, by half each."""
        for name in ("package-0", "package-1"):
            self.counters[name].add(round(joules * 1e6 / 2))
        self.consumed_uj += 2 * round(joules * 1e6 / 2)

    def move(self) -> None:
        """Every counter, by the least that shows that it works."""
        for counter in self.counters.values():
            counter.add(1)
        self.consumed_uj += len(self.counters)

    # The service

    def command(self) -> list[str]:
        places = [
            "--socket-folder",
            self.sockets,
            "--state",
            self.state,
            "--spool",
            self.spool,
            "--node",
            self.name,
            "--sysroot",
            self.tree,
            "--cgroups",
            "/cgroup",
        ]
        # What a test consumes counts for the time of its messages: few other readings come between.
        rate = [] if "--hz" in self.options else ["--hz", "0.1"]
        return [str(word) for word in (executable("lull-meterd"), *places, *rate, *self.options)]

    def start(self) -> None:
        command = self.command()
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("LULL_", "LISTEN_"))}
        environment |= {"STARTED_IN": str(self.folder), "LULL_METER_SOURCES": "powercap"}
        if self.held:
            given = " ".join(f"{3 + i}<&{one.fileno()}" for i, one in enumerate(self.held))
            command = [
                "bash",
                "-c",
                f'export LISTEN_PID=$$ LISTEN_FDS={len(self.held)}; exec "$@" {given}',
                "-",
                *command,
            ]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            env=environment,
            pass_fds=[one.fileno() for one in self.held],
            **as_user(SERVICE_UID if IS_ROOT else None),
        )
        assert self.process.stdout
        assert "lull-meterd: " in self.process.stdout.readline(), self.process.communicate()[1]

    def hold_sockets(self) -> None:
        """As systemd does: messages wait while there is no service."""
        for name, mode in (("meter", 0o666), ("accounts", 0o600)):
            held = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            held.bind(str(self.sockets / name))
            (self.sockets / name).chmod(mode)
            held.listen(64)
            self.held.append(held)

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self._end()

    def stop(self) -> str:
        """Ends it as systemd does; what it printed on stderr."""
        assert self.process
        self.process.terminate()
        return self._end()

    def _end(self) -> str:
        assert self.process
        process, self.process = self.process, None
        return process.communicate(timeout=TIMEOUT_S)[1]

    def close(self) -> None:
        for relayed in self._relayed:
            relayed.close()
        for held in self.held:
            held.close()
        if self.process:
            self.process.send_signal(signal.SIGCONT)
            self.kill()

    # Its messages

    def connect(self, name: str = "meter") -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(TIMEOUT_S)
        connection.connect(str(self.sockets / name))
        return connection

    def send(self, message: Answer, name: str = "accounts") -> socket.socket:
        """Without waiting for the answer."""
        connection = self.connect(name)
        connection.send(json.dumps({"v": 1} | message).encode())
        return connection

    def ask(self, message: Answer, name: str = "meter") -> Answer:
        with self.send(message, name) as connection:
            answer: Answer = json.loads(connection.recv(65536))
        return answer

    def user(self, uid: int, name: str = "meter") -> Relayed:
        self._relayed.append(Relayed(self.sockets / name, uid))
        return self._relayed[-1]

    def open(self, key: str, uid: int, **more: Any) -> None:
        """Opens an account with the cgroup /jobs/KEY, at a reading in which all counters move."""
        cgroup = f"/jobs/{key}"
        message = {"ask": "open", "key": key, "uid": uid, "cpus": 1, "cgroup": cgroup} | more
        self.set_cpu_time(cgroup, 0)
        if not (self.tree / "cgroup/jobs/cpu.stat").exists():
            self.set_cpu_time("/jobs", 0)
        while True:
            readings = self.node()["readings"]
            self.move()
            assert self.ask(message, "accounts") == {"v": 1, "ok": True}
            if self.node()["readings"] <= readings + 1:
                return
            # Another reading came between: what follows might count as energy of the time before.
            self.finish(key)

    def finish(self, key: str, **more: Any) -> Answer:
        self.move()
        return self.ask({"ask": "close", "key": key} | more, "accounts")

    def node(self) -> Answer:
        return self.ask({"ask": "node"})

    def next_publication(self) -> None:
        """Two answers with counters: whatever was counted before is in the second."""
        with self.connect() as connection:
            for _ in range(2):
                connection.send(b'{"v": 1, "ask": "counters"}')
                connection.recv(65536)

    def rows(self) -> list[Answer]:
        """All rows in the spool."""
        files = [*sorted(self.spool.glob("rows-*.jsonl")), self.spool / "writing"]
        return [json.loads(line) for path in files if path.exists() for line in path.read_text().splitlines()]

    def node_uj(self) -> int:
        return sum(channel["node_uj"] for channel in self.node()["channels"])

    def unattributed_uj(self) -> int:
        """What the node counted and was attributed to nothing: must be 0."""
        parts = ("open_uj", "closed_uj", "system_uj", "unheld_uj")
        channels = self.node()["channels"]
        return sum(int(c["node_uj"]) - sum(int(c[part]) for part in parts) for c in channels)


@contextmanager
def node_service(name: str = "n1") -> Iterator[NodeService]:
    """A node in a folder that other users can enter, as they cannot enter pytest's."""
    folder = Path(tempfile.mkdtemp(prefix="lull-node-"))
    folder.chmod(0o755)
    service = NodeService(folder, name)
    if not IS_ROOT:
        import getpass

        service.options += ["--scheduler-user", getpass.getuser()]
    try:
        yield service
    finally:
        service.close()
        shutil.rmtree(folder)
