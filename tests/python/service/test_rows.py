"""The rows of closed accounts: each is in the spool once, whatever happens to the service, the caller and the disk."""

import json
import os
import socket
import time
from collections.abc import Iterator

import pytest

from conftest import wait_until
from node_service import ALICE, BOB, IS_ROOT, SERVICE_UID, Answer, NodeService, node_service
from places import TESTS

EXAMPLES = TESTS / "data" / "service" / "rows.jsonl"
NAMES = {"cluster": "blue", "job": "7", "restart": 0, "nodes": 2, "project": "physics"}


@pytest.fixture
def service() -> Iterator[NodeService]:
    with node_service() as made:
        yield made


def monotonic_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def joules(row: Answer) -> float:
    parts = ("active_uj", "held_uj", "overhead_uj")
    return round(sum(one[part] for one in row["energy"].values() for part in parts) / 1e6, 3)


def test_a_closed_account_is_a_row_with_the_fields_of_the_examples(service: NodeService) -> None:
    service.start()
    began = time.time()
    service.open("slurm.7", ALICE, **NAMES, memory_mib=512)
    service.consume(100)
    service.finish("slurm.7")
    [row] = service.rows()
    example = json.loads(EXAMPLES.read_text().splitlines()[0])
    assert list(row) == list(example)
    assert list(row["energy"]["package"]) == list(example["energy"]["package"])
    assert {name: row[name] for name in NAMES} == NAMES
    assert (row["node"], row["uid"], row["cpus"], row["memory_mib"], row["flags"]) == ("n1", ALICE, 1, 512, [])
    assert began - 1 <= row["begin_us"] / 1e6 <= row["end_us"] / 1e6 <= time.time() + 1
    assert joules(row) == 100


def test_a_row_is_written_though_its_caller_has_gone(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    service.send({"ask": "close", "key": "a"}).close()
    assert wait_until(lambda: len(service.rows()) == 1)


def test_all_messages_of_a_caller_who_has_gone_count(service: NodeService) -> None:
    service.hold_sockets()
    service.start()
    service.kill()
    service.set_cpu_time("/jobs", 0)
    with service.connect("accounts") as connection:
        for message in ({"ask": "open", "key": "a", "uid": ALICE}, {"ask": "close", "key": "a"}):
            connection.send(json.dumps({"v": 1} | message).encode())
    service.start()
    assert wait_until(lambda: [row["job"] for row in service.rows()] == ["a"])
    assert service.node()["accounts"] == 0


def test_a_close_that_waited_ends_the_account_when_it_was_sent(service: NodeService) -> None:
    service.hold_sockets()
    service.start()
    service.open("a", ALICE)
    service.kill()
    sent = monotonic_ns() - 3_000_000_000  # in the past, as after three seconds
    closed = service.send({"ask": "close", "key": "a", "usage_us": 700_000, "time_ns": sent})
    service.consume(50)
    service.start()
    answer = json.loads(closed.recv(65536))
    closed.close()
    assert answer["cpu_us"] == 700_000
    [row] = service.rows()
    lateness_s = time.time() - (monotonic_ns() - sent) / 1e9 - row["end_us"] / 1e6
    # It is not before the last reading of the first service.
    assert -5 < lateness_s < 0.1
    assert row["end_us"] - row["begin_us"] < 1_000_000
    assert service.unattributed_uj() == 0


def test_jobs_of_a_time_without_the_service_share_what_was_counted_by_their_times(service: NodeService) -> None:
    service.options += ["--idle-watts", "package=1000000"]  # all of it is held
    service.hold_sockets()
    service.start()
    service.move()
    service.node()
    service.kill()
    held = [
        service.send({"ask": "open", "key": "a", "uid": ALICE, "cpus": os.cpu_count(), "time_ns": monotonic_ns()}),
    ]
    end_of_a = monotonic_ns()
    held += [
        service.send({"ask": "close", "key": "a", "time_ns": end_of_a}),
        service.send({"ask": "open", "key": "b", "uid": BOB, "cpus": os.cpu_count(), "time_ns": end_of_a}),
    ]
    time.sleep(1.2)  # so that these messages are late: this is the time of b
    service.consume(40)
    service.move()
    service.start()
    assert wait_until(lambda: len(service.rows()) == 1)
    service.finish("b")
    a, b = service.rows()
    assert a["flags"] == b["flags"] == []  # neither was there with the other
    assert joules(a) < joules(b)
    for connection in held:
        connection.close()


def was_dropped(caller: socket.socket) -> bool:
    """Whether the service was killed with the caller's message in its hands."""
    caller.setblocking(False)
    try:
        return caller.recv(65536) == b""
    except BlockingIOError:  # it waits for the next service
        return False
    except ConnectionError:
        return True


def test_no_row_is_lost_or_doubled_by_kills(service: NodeService) -> None:
    service.hold_sockets()
    for turn in range(4):
        service.start()
        service.node()
        for job in range(3):
            assert service.ask({"ask": "open", "key": f"{turn}.{job}", "uid": ALICE}, "accounts") == {
                "v": 1,
                "ok": True,
            }
        closing = [{"ask": "close", "key": f"{turn}.{job}"} for job in range(3)]
        callers = [service.send(message) for message in closing]
        service.kill()
        for caller, message in zip(callers, closing, strict=True):
            if was_dropped(caller):  # as lull-account does
                service.send(message).close()
            caller.close()
    service.start()
    assert wait_until(lambda: service.node()["accounts"] == 0)
    keys = [row["job"] for row in service.rows()]
    assert sorted(keys) == [f"{turn}.{job}" for turn in range(4) for job in range(3)]
    assert service.unattributed_uj() == 0


def test_complete_files_are_whole_and_of_an_earlier_service_at_once(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    service.finish("a")
    assert not list(service.spool.glob("rows-*"))
    service.kill()
    with (service.spool / "writing").open("a") as file:
        file.write('{"v":1,"clus')
    service.start()
    assert wait_until(lambda: len(list(service.spool.glob("rows-*"))) == 1)
    assert [row["job"] for row in service.rows()] == ["a"]


def test_with_a_spool_that_cannot_be_written_rows_wait_and_survive_a_restart(service: NodeService) -> None:
    service.spool.write_text("not a folder")
    service.start()
    service.open("a", ALICE)
    assert "energy" in service.finish("a")
    assert service.node()["rows_waiting"] == 1
    service.kill()
    service.start()
    assert service.node()["rows_waiting"] == 1
    service.spool.unlink()
    service.open("b", ALICE)
    service.finish("b")
    assert [row["job"] for row in service.rows()] == ["a", "b"]
    assert service.node()["rows_lost"] == 0
    assert service.stop().count("rows wait in memory") == 1


def test_after_a_reboot_open_accounts_are_rows_with_lower_bounds_once(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    service.consume(10)
    service.stop()
    service.boot("second")
    for _ in range(2):
        service.start()
        service.node()
        service.stop()
    [row] = service.rows()
    assert row["flags"] == ["gap", "unclosed"]
    assert joules(row) == 10


def test_a_job_that_starts_again_closes_what_its_first_start_left_open(service: NodeService) -> None:
    service.start()
    service.open("slurm.7", ALICE, **NAMES)
    service.consume(10)
    service.move()
    again = {"ask": "open", "key": "slurm.7", "uid": ALICE, **NAMES, "restart": 1}
    assert service.ask(again, "accounts") == {"v": 1, "ok": True}
    service.finish("slurm.7")
    first, second = service.rows()
    assert (first["restart"], second["restart"]) == (0, 1)
    assert first["flags"] == ["unclosed"]
    assert second["flags"] == []
    assert joules(first) == 10


def test_each_step_may_open_the_account_and_adds_what_the_first_did_not_know(service: NodeService) -> None:
    service.start()
    service.open("slurm.7", ALICE, job="7")
    again = {"ask": "open", "key": "slurm.7", "uid": ALICE, "job": "8", "project": "physics", "nodes": 2}
    assert service.ask(again, "accounts") == {"v": 1, "ok": True}
    service.consume(30)
    service.move()
    assert sum(one["uj"] for one in service.ask({"ask": "figures", "key": "slurm.7"}, "accounts")["energy"]) >= 30e6
    service.finish("slurm.7")
    [row] = service.rows()
    assert (row["job"], row["project"], row["nodes"]) == ("7", "physics", 2)


def test_an_account_whose_processes_have_long_gone_is_closed(service: NodeService) -> None:
    service.options += ["--close-after", "1", "--hz", "10"]
    service.start()
    service.open("a", ALICE)
    service.remove_cgroup("/jobs/a")
    assert wait_until(lambda: service.node()["accounts"] == 0)
    service.stop()
    [row] = service.rows()
    assert "unclosed" in row["flags"]


def test_others_cannot_read_the_spool(service: NodeService) -> None:
    service.start()
    service.open("a", ALICE)
    service.finish("a")
    assert service.spool.stat().st_mode & 0o777 == 0o700
    assert (service.spool / "writing").stat().st_mode & 0o777 == 0o600
    if IS_ROOT:
        assert service.spool.stat().st_uid == SERVICE_UID
