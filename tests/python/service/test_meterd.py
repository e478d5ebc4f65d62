"""The service of a node: who may know what, and that nothing is lost, whatever happens to it."""

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import wait_until
from node_service import ALICE, BOB, SERVICE_UID, NodeService, node_service, with_users


@pytest.fixture
def service() -> Iterator[NodeService]:
    with node_service() as made:
        yield made


def joules(row: dict[str, object]) -> float:
    return round(sum(one["uj"] for one in row["energy"]) / 1e6, 3)  # type: ignore[attr-defined]


def test_a_job_alone_on_the_node_has_its_energy_with_the_kind_of_the_meter(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    service.consume(100)
    row = service.finish("a")
    assert row["alone"]
    assert joules(row) == 100
    assert {one["kind"] for one in row["energy"]} == {"vendor-model"}
    assert service.unattributed_uj() == 0


def test_jobs_that_share_the_node_have_derived_shares_by_cpu_time(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    service.open("b", BOB)
    service.set_cpu_time("/jobs/a", 3_000_000)
    service.set_cpu_time("/jobs/b", 1_000_000)
    service.set_cpu_time("/jobs", 4_000_000)
    service.set_cpu_time("", 4_000_000)
    service.consume(40)
    a, b = service.finish("a"), service.finish("b")
    assert {one["kind"] for row in (a, b) for one in row["energy"]} == {"derived"}
    assert joules(a) == 30
    assert joules(b) == 10
    assert service.unattributed_uj() == 0


def test_nothing_is_lost_while_it_is_killed_and_down(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    service.consume(10)
    service.kill()
    service.consume(20)
    service.set_cpu_time("/jobs/a", 2_000_000)
    service.start()
    service.consume(30)
    row = service.finish("a")
    assert joules(row) == 60
    assert row["cpu_us"] == 2_000_000
    assert not row["gap"]
    assert service.node()["lost"] == 0
    assert service.unattributed_uj() == 0


def test_sigterm_saves_and_removes_the_sockets(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    service.consume(10)
    assert service.stop() == ""
    assert not list(service.sockets.iterdir())
    service.start()
    service.finish("a")
    assert service.node_uj() == service.consumed_uj


def test_messages_wait_while_it_is_down_if_its_sockets_are_held(service: NodeService) -> None:
    service.hold_sockets()
    service.start()
    service.node()
    service.kill()
    service.set_cpu_time("/jobs", 0)
    service.set_cpu_time("/jobs/a", 0)
    began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    opened = service.send({"ask": "open", "key": "a", "uid": ALICE, "cpus": 1, "cgroup": "/jobs/a", "time_ns": began})
    service.consume(50)
    closed = service.send({"ask": "close", "key": "a", "usage_us": 700_000})
    service.start()
    assert json.loads(opened.recv(65536)) == {"v": 1, "ok": True}
    row = json.loads(closed.recv(65536))
    assert row["cpu_us"] == 700_000
    assert service.unattributed_uj() == 0
    for connection in (opened, closed):
        connection.close()


def test_a_job_that_ends_unseen_has_the_cpu_time_that_its_parent_counted(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    service.open("b", BOB)
    service.set_cpu_time("/jobs", 123_456)
    service.remove_cgroup("/jobs/a")
    assert service.finish("a")["cpu_us"] == 123_456
    assert service.finish("b")["cpu_us"] == 0


def test_a_reading_that_fails_is_a_gap_and_never_an_amount(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    counter = service.tree / "sys/class/powercap/intel-rapl:0/energy_uj"
    before = counter.read_text()
    with counter.open("r+") as file:
        file.truncate(0)
    assert service.ask({"ask": "counters"})["uj"].count(None) == 1
    counted = service.node_uj()
    assert counted <= service.consumed_uj
    with counter.open("r+") as file:
        file.write(before)
    service.consume(10)
    service.finish("a")
    assert service.node_uj() == service.consumed_uj
    assert service.unattributed_uj() == 0


def test_after_a_reboot_open_accounts_are_reported_once_as_lower_bounds(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    service.consume(10)
    service.stop()
    service.boot("second")
    service.start()
    assert service.node()["accounts"] == 0
    said = service.stop()
    assert said.count("account a of user") == 1
    assert "at least 10.0 J" in said
    service.start()
    assert service.stop() == ""


def test_a_state_that_cannot_be_written_is_said_once_and_stops_nothing(service: NodeService) -> None:
    service.state.parent.rmdir()
    service.start()
    service.open("a", ALICE)
    service.consume(10)
    assert joules(service.finish("a")) == 10
    said = service.stop()
    assert said.count("cannot write") == 1
    assert "No such file" in said


def test_half_a_state_is_not_used(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    service.stop()
    service.state.write_text(service.state.read_text()[:-20])
    service.start()
    assert service.node()["accounts"] == 0


def test_a_second_service_at_the_same_sockets_is_refused_in_one_line(service: NodeService) -> None:
    service.start()
    first, service.process = service.process, None
    with pytest.raises(AssertionError, match="another service answers there"):
        service.start()
    service.process = first
    assert service.node()["accounts"] == 0


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--idle-watts", "package"], "'package' is not DOMAIN=WATTS"),
        (["--idle-watts", "gpu=3"], "no counter of this domain is counted"),
        (["--scheduler-user", "no-such-user"], "there is no such user"),
    ],
)
def test_a_mistake_in_its_options_is_one_line(service: NodeService, options: list[str], found: str) -> None:
    service.options += options
    with pytest.raises(AssertionError, match=found):
        service.start()


def test_its_options_may_be_in_a_file_in_which_unknown_ones_are_refused(service: NodeService) -> None:
    file = service.folder / "meterd.conf"
    file.write_text("counters = never\n")
    service.options += ["--config", str(file)]
    service.start()
    service.stop()
    file.write_text("countres = never\n")
    with pytest.raises(AssertionError):
        service.start()


@with_users
def test_counters_are_for_the_user_who_has_the_node_alone(service: NodeService) -> None:
    service.start()
    alice = service.user(ALICE)
    assert alice.ask({"ask": "counters"})["refused"] == "you have no job on this node"
    service.open("a", ALICE)
    assert len(alice.ask({"ask": "counters"})["uj"]) == 4
    service.open("b", BOB)
    assert alice.ask({"ask": "counters"})["refused"] == "2 users share this node"
    assert service.user(BOB).ask({"ask": "counters"})["refused"] == "2 users share this node"
    assert alice.ask({"ask": "mine"})["accounts"][0]["refused"].startswith("2 users share this node")


@with_users
def test_what_another_used_meanwhile_never_appears(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    alice = service.user(ALICE)
    service.consume(20)
    before = alice.ask({"ask": "counters"})
    service.open("b", BOB)
    service.consume(202)
    service.finish("b")
    after = alice.ask({"ask": "counters"})
    assert after["epoch"] != before["epoch"]
    assert sum(after["uj"]) == 0
    service.consume(8)
    assert wait_until(lambda: sum(alice.ask({"ask": "counters"})["uj"]) == 8_000_000)


@with_users
def test_a_site_may_serve_counters_to_administrators_only(service: NodeService) -> None:
    service.options += ["--counters", "never"]
    service.start()
    service.open("a", ALICE)
    assert "administrators only" in service.user(ALICE).ask({"ask": "counters"})["refused"]
    assert service.ask({"ask": "counters"})["uj"]  # of root


@with_users
def test_an_ordinary_user_changes_no_account_and_sees_no_node(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    bob = service.user(BOB)
    for message in (
        {"ask": "open", "key": "x", "uid": ALICE},
        {"ask": "close", "key": "a"},
        {"ask": "used", "key": "a", "usage_us": 1},
    ):
        assert "socket of the scheduler" in bob.ask(message)["refused"]
    assert "administrators" in bob.ask({"ask": "node"})["refused"]
    assert bob.ask({"ask": "mine"})["accounts"] == []
    assert "no field 'uid'" in bob.ask({"ask": "mine", "uid": ALICE})["error"]
    assert "Permission denied" in service.user(BOB, "accounts").errors()
    assert service.node()["accounts"] == 1


@with_users
def test_it_runs_without_root_and_capabilities(service: NodeService) -> None:
    service.start()
    assert service.process
    lines = Path(f"/proc/{service.process.pid}/status").read_text(encoding="utf-8").splitlines()
    status = dict(line.split(":\t", 1) for line in lines)
    assert int(status["CapEff"], 16) == 0
    assert status["Uid"].split() == [str(SERVICE_UID)] * 4


def test_an_account_is_opened_once_and_closed_once(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    again = service.ask({"ask": "open", "key": "a", "uid": BOB}, "accounts")
    assert again["error"] == "account a is open already"
    service.finish("a")
    assert service.finish("a")["error"] == "no account a is open"


def test_rubbish_is_answered_with_a_line_or_the_end_and_the_service_goes_on(service: NodeService) -> None:
    service.start()
    chance = random.Random(1)
    rubbish = [b"{", b"[]", b"null", b'{"v": 1}', b'{"v": 2, "ask": "node"}', b'{"v": 1, "ask": "?"}', b"[" * 4000]
    rubbish += [b'{"v": 1, "ask": "open", "key": "", "uid": 1}', b'{"v": 1, "ask": "open", "key": "k", "uid": -1}']
    rubbish += [chance.randbytes(4096) for _ in range(20)]
    for name in ("meter", "accounts"):
        with service.connect(name) as connection:
            for message in rubbish:
                connection.send(message)
                assert "error" in json.loads(connection.recv(65536))
        with service.connect(name) as connection:
            connection.send(b"x" * 5000)
            assert "at most 4096 bytes" in json.loads(connection.recv(65536))["error"]
            assert connection.recv(1) == b""
        with service.connect(name) as connection:
            connection.send(b"")
            assert connection.recv(1) == b""
    assert service.node()["accounts"] == 0


@with_users
def test_a_flood_causes_no_reading_and_the_scheduler_is_served(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    flood = os.fork()
    if flood == 0:
        os.setgroups([])
        os.setresgid(ALICE, ALICE, ALICE)
        os.setresuid(ALICE, ALICE, ALICE)
        try:
            connections = [service.connect() for _ in range(64)]
            while True:
                for one in connections:
                    one.setblocking(False)
                    try:
                        one.send(b'{"v": 1, "ask": "counters"}')
                        one.recv(65536)
                    except OSError:
                        pass
        finally:
            os._exit(0)
    try:
        before, began = service.node()["readings"], time.monotonic()
        served = 0
        while served < 200:
            opening = {"ask": "open", "key": f"j{served}", "uid": ALICE}
            assert service.ask(opening, "accounts")["ok"]
            assert not service.ask({"ask": "close", "key": f"j{served}"}, "accounts")["alone"]
            served += 1
        readings, seconds = service.node()["readings"] - before, time.monotonic() - began
        # One a second, ten publications a second, and one at each opening and closing.
        assert readings <= 11 * seconds + 2 * served + 5
    finally:
        os.kill(flood, signal.SIGKILL)
        os.waitpid(flood, 0)


@with_users
def test_a_user_has_at_most_32_connections(service: NodeService) -> None:
    service.start()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(ALICE, ALICE, ALICE)
        os.setresuid(ALICE, ALICE, ALICE)
        connections = [service.connect() for _ in range(32)]
        for one in connections:
            one.send(b'{"v": 1, "ask": "mine"}')
            one.recv(65536)
        with service.connect() as last:
            os.write(write, last.recv(65536))
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answers:
        assert json.loads(answers.read())["refused"] == "a user may have 32 connections"
    os.waitpid(child, 0)


def test_the_sockets_have_their_rights(service: NodeService) -> None:
    service.start()
    assert (service.sockets / "meter").stat().st_mode & 0o777 == 0o666
    assert (service.sockets / "accounts").stat().st_mode & 0o777 == 0o600
