"""What an ordinary user sees of the service: sources, measurements, and their fall-back where it does not help."""

import ast
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from bounds import TIMEOUT_S
from conftest import wait_until
from node_service import ALICE, BOB, NodeService, as_user, node_service, with_users

# Ends when a publication of the time before is no longer the newest, which it is for 0.1 s.
WAITING = 'touch "$1/started"; while [ ! -e "$1/go" ]; do sleep 0.05; done; sleep 0.2'


# The area of `lull doctor` that names the service; all others take seconds.
ENERGY = """
import dataclasses, json
from lull.doctor.energy import look
from lull.doctor.finding import Machine
print(json.dumps([dataclasses.asdict(one) for one in look(Machine())]))
"""


class User:
    """An ordinary user with a folder, who calls lull."""

    def __init__(self, service: NodeService, uid: int) -> None:
        self.service, self.uid = service, uid
        self.folder = service.folder / f"home-{uid}"
        self.folder.mkdir()
        os.chown(self.folder, uid, uid)
        self.socket = str(service.sockets / "meter")

    def start(self, *words: str) -> subprocess.Popen[str]:
        return self.start_python("from lull.cli import main; main()", *words)

    def start_python(self, program: str, *words: str) -> subprocess.Popen[str]:
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
        }
        return subprocess.Popen(
            [sys.executable, "-B", "-c", program, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={
                **inherited,
                "HOME": str(self.folder),
                "XDG_CONFIG_HOME": str(self.folder),
                "COLUMNS": "200",
                "STARTED_IN": str(self.service.folder),
                "LULL_SERVICE_SOCKET": self.socket,
            },
            **as_user(self.uid),
        )

    def run(self, *words: str) -> tuple[str, str]:
        """What it printed on stdout and stderr."""
        process = self.start(*words)
        out, err = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, err
        return out, err

    def served(self) -> dict[str, Any]:
        [found] = [one for one in json.loads(self.run("sources", "--format", "json")[0]) if one["name"] == "served"]
        source: dict[str, Any] = found
        return source

    def start_measurement(self) -> subprocess.Popen[str]:
        """Of a command that runs until finish()."""
        process = self.start("measure", "--out", "record", "--", "sh", "-c", WAITING, "-", str(self.folder))
        assert wait_until(lambda: (self.folder / "started").exists() or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        return process

    def finish(self, process: subprocess.Popen[str]) -> tuple[list[dict[str, Any]], str]:
        """The energies by the service, and what was printed on stderr."""
        (self.folder / "go").touch()
        err = process.communicate(timeout=TIMEOUT_S)[1]
        assert process.returncode == 0, err
        run = json.loads((self.folder / "record" / "run.json").read_text())
        return [one for one in run["repeats"][0]["energy"] if one["channel"].startswith("served:")], err


@pytest.fixture
def service() -> Iterator[NodeService]:
    with node_service() as made:
        yield made


@pytest.fixture
def alice(service: NodeService) -> User:
    return User(service, ALICE)


pytestmark = with_users


def test_a_user_who_has_the_node_alone_measures_what_it_counts(service: NodeService, alice: User) -> None:
    service.start()
    service.open("a", ALICE)
    service.consume(500)  # before the measurement
    service.next_publication()
    process = alice.start_measurement()
    service.consume(50)
    service.next_publication()
    energies, err = alice.finish(process)
    assert {one["channel"] for one in energies} == {f"served:{zone}" for zone in service.counters}
    assert {one["kind"] for one in energies} == {"vendor-model"}
    assert 0 < sum(one["joules"] for one in energies) <= 50.4  # less what the ends cut off
    assert not any(one["lower_bound"] for one in energies)
    assert "served" not in err


SAMPLER = """
from lull import _core
sampler = _core.Sampler(hz=10, sources=["served"])
sampler.start()
print("started", flush=True)
input()
print(*[(total.joules, total.low_j, total.high_j, total.lower_bound) for total in sampler.stop().totals], sep=";")
"""


def test_what_it_serves_is_what_the_hardware_counted(service: NodeService, alice: User) -> None:
    service.start()
    service.open("a", ALICE)
    process = alice.start_python(SAMPLER)
    assert process.stdout
    assert process.stdout.readline() == "started\n"
    service.consume(50)
    service.next_publication()
    out, err = process.communicate("\n", timeout=TIMEOUT_S)
    totals = [ast.literal_eval(one) for one in out.split(";")]
    assert not any(total[3] for total in totals), err
    assert sum(total[0] for total in totals) == pytest.approx(50, abs=0.4)  # a step of each
    assert sum(total[1] for total in totals) <= 50 <= sum(total[2] for total in totals)


def test_its_channels_are_those_that_the_user_may_not_read(service: NodeService, alice: User) -> None:
    service.start()
    service.open("a", ALICE)
    served = alice.served()
    assert served["readable"]
    assert served["used"]
    assert [c["name"] for c in served["channels"] if c["domain"] == "package"] == [
        "served:package-0",
        "served:package-1",
    ]
    assert "0.1 J" in served["channels"][0]["basis"]


def test_doctor_and_sources_say_why_it_does_not_help(service: NodeService, alice: User) -> None:
    service.start()
    assert alice.served()["reason"] == "you have no job on this node"
    assert "you have no job on this node" in alice.run("doctor")[0]
    service.open("a", ALICE)
    service.open("b", BOB)
    assert alice.served()["reason"] == "2 users share this node"


def found_by_doctor(alice: User) -> dict[str, str]:
    process = alice.start_python(ENERGY)
    out, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, err
    [found] = [one for one in json.loads(out) if one["what"] == "lull-meterd"]
    finding: dict[str, str] = found
    return finding


def test_doctor_says_whether_it_runs_and_serves_this_user_and_what_to_do(service: NodeService, alice: User) -> None:
    service.start()
    found = found_by_doctor(alice)
    assert found["state"] == "limited"
    assert found["found"] == "runs, but does not serve this user: you have no job on this node"
    assert "node alone" in found["fix"]
    service.open("a", ALICE)
    found = found_by_doctor(alice)
    assert found["state"] == "works"
    assert "served:package-0" in found["found"]
    service.kill()
    found = found_by_doctor(alice)
    assert found["state"] == "missing"
    assert "it does not run" in found["found"]
    assert "systemctl status lull-meterd" in found["fix"]


def measured_without_it(alice: User) -> str:
    energies, err = alice.finish(alice.start_measurement())
    assert energies == []
    [line] = [line for line in err.splitlines() if "served" in line]
    return line


def test_a_refusal_is_one_line_and_the_measurement_falls_back(service: NodeService, alice: User) -> None:
    service.start()
    assert "served is not read: you have no job on this node" in measured_without_it(alice)


def test_a_service_that_is_not_there_is_one_line(service: NodeService, alice: User) -> None:
    service.start()
    service.kill()  # which leaves its sockets
    assert "it does not run" in measured_without_it(alice)


def test_a_service_that_stands_still_is_one_line(service: NodeService, alice: User) -> None:
    service.start()
    service.open("a", ALICE)
    assert service.process
    service.process.send_signal(signal.SIGSTOP)
    assert "does not answer" in measured_without_it(alice)


def test_a_service_that_ends_meanwhile_leaves_a_gap_and_no_amount(service: NodeService, alice: User) -> None:
    service.start()
    service.open("a", ALICE)
    process = alice.start_measurement()
    service.kill()
    energies, err = alice.finish(process)
    assert all(one["gaps"] > 0 and one["lower_bound"] and one["joules"] == 0 for one in energies)
    [line] = [line for line in err.splitlines() if "a reading is missing" in line]
    assert "served" in line


def test_a_restart_meanwhile_makes_a_lower_bound(service: NodeService, alice: User) -> None:
    service.start()
    service.open("a", ALICE)
    process = alice.start_measurement()
    service.kill()
    service.consume(202)  # by whom, the service cannot know
    service.start()
    service.consume(8)
    service.next_publication()
    energies, _ = alice.finish(process)
    assert sum(one["joules"] for one in energies) <= 8
    assert all(one["lower_bound"] for one in energies)


def test_whoever_comes_onto_the_node_ends_the_counting(service: NodeService, alice: User) -> None:
    service.start()
    service.open("a", ALICE)
    process = alice.start_measurement()
    service.open("b", BOB)
    service.consume(202)
    service.finish("b")
    service.next_publication()
    energies, _ = alice.finish(process)
    assert sum(one["joules"] for one in energies) <= 1
    assert all(one["lower_bound"] for one in energies)


def test_another_user_cannot_take_the_place_of_the_service(service: NodeService, alice: User) -> None:
    os.chown(service.sockets, 0, 0)
    service.sockets.chmod(0o777)
    fake = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    os.seteuid(BOB)
    try:
        fake.bind(str(service.sockets / "meter"))
        fake.listen(8)
    finally:
        os.seteuid(0)
    (service.sockets / "meter").chmod(0o666)
    assert "belongs to another user" in alice.served()["reason"]
    fake.close()


def test_a_setting_switches_it_off(service: NodeService, alice: User) -> None:
    service.start()
    service.open("a", ALICE)
    alice.socket = "off"
    assert alice.served()["reason"] == "LULL_SERVICE_SOCKET is off"
