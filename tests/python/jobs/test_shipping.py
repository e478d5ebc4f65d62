"""Rows on their path from a node to the store: none is lost and none is stored twice, whatever happens."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import wait_until
from job_collector import HERE, IS_ROOT, SERVICE, Site, row, site, spool_file
from lull.base.errors import LullError
from lull.base.file_lock import Taken
from lull.jobs.collector import Collector, Sender
from lull.jobs.connection import ask, parse_address
from lull.jobs.listening import Listener, listen_at_socket
from lull.jobs.price import Prices
from lull.jobs.question import Answer, By, Question
from lull.jobs.shipping import Shipped, collect_folder, ship, ship_to_folder
from lull.jobs.site import Site as SiteFile
from lull.jobs.spool import MOST_ROW_BYTES, MOST_ROWS, batches, locked
from lull.jobs.store import Store
from lull.jobs.visible import Rights

OWN = frozenset({os.geteuid()})


class Machine:
    """A spool, and a collector at a socket of this machine that can go away and come back."""

    def __init__(self, folder: Path) -> None:
        self.spool = folder / "spool"
        self.spool.mkdir()
        self.store = folder / "jobs.sqlite"
        self.address = parse_address(str(folder / "socket"), "test")
        self.listener: Listener | None = None
        self.collector: Collector | None = None

    def start(self) -> None:
        self.collector = Collector(self.store, Rights(senders=OWN), Prices())
        self.listener = listen_at_socket(self.collector, Path(self.address.path))

    def stop(self) -> None:
        if self.listener and self.collector:
            self.listener.close()
            self.collector.close()
        self.listener = self.collector = None

    def ship(self) -> Shipped:
        return ship(SiteFile(), self.address, self.spool)

    def stored(self) -> list[str]:
        """The jobs of all rows."""
        with Store(self.store) as store:
            return sorted(job for (job,) in store.db.execute("select job from jobs join nodes using (run)"))

    def refused(self) -> list[bytes]:
        path = self.spool / "refused.jsonl"
        return path.read_bytes().splitlines() if path.exists() else []

    def files(self) -> list[str]:
        return sorted(path.name for path in self.spool.glob("rows-*"))


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    made.stop()


def jobs(first: int, last: int) -> list[str]:
    return sorted(str(job) for job in range(first, last))


def test_rows_leave_the_spool_when_they_are_stored(machine: Machine) -> None:
    machine.start()
    spool_file(machine.spool, 1, [row("1"), row("2")])
    spool_file(machine.spool, 2, [row("3")])
    (machine.spool / "writing").write_text("the service's own")
    done = machine.ship()
    assert (done.stored, done.known, done.files) == (3, 0, 2)
    assert machine.stored() == ["1", "2", "3"]
    assert [path.name for path in machine.spool.iterdir()] == ["writing"]
    assert machine.ship() == Shipped()


def test_while_the_collector_is_away_rows_wait_in_the_spool(machine: Machine) -> None:
    for number in range(1440):
        spool_file(machine.spool, number, [row(str(number))])
    for _ in range(2):
        with pytest.raises(LullError, match="see whether lull collect runs there"):
            machine.ship()
    assert len(machine.files()) == 1440
    machine.start()
    assert machine.ship().stored == 1440
    assert machine.files() == []
    assert machine.stored() == jobs(0, 1440)


def test_rows_that_were_stored_before_a_crash_of_the_sender_are_not_stored_again(machine: Machine) -> None:
    machine.start()
    path = spool_file(machine.spool, 1, [row("1"), row("2")])
    content = path.read_bytes()
    machine.ship()
    path.write_bytes(content)  # as if it had been killed before it could remove the file
    done = machine.ship()
    assert (done.stored, done.known) == (0, 2)
    assert machine.stored() == ["1", "2"]


def test_a_collector_that_goes_before_its_answer_loses_and_doubles_nothing(machine: Machine) -> None:
    """It stores the rows, and ends before the sender gets to know."""
    spool_file(machine.spool, 1, [row("1")])
    collector = Collector(machine.store, Rights(senders=OWN), Prices())
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(machine.address.path)
        listening.listen()

        def take() -> None:
            with listening.accept()[0] as connection, connection.makefile("rb") as file:
                collector.reply(file.readline(), Sender(0))

        thread = threading.Thread(target=take)
        thread.start()
        with pytest.raises(LullError, match="it closed the connection"):
            machine.ship()
        thread.join()
    collector.close()
    assert machine.stored() == ["1"]
    assert len(machine.files()) == 1
    machine.start()
    assert machine.ship().known == 1
    assert machine.stored() == ["1"]
    assert machine.files() == []


def test_jobs_without_any_meter_arrive_as_such(machine: Machine) -> None:
    machine.start()
    spool_file(machine.spool, 1, [row("1", energy={})])
    machine.ship()
    for question in (Question(ask="jobs"), Question(ask="sums", by=By.DAY)):
        found = ask(SiteFile(), machine.address, question, Answer)
        assert [one.kind for one in (*found.jobs, *found.sums)] == [None]


def test_half_a_line_is_kept_aside_and_the_rest_is_stored(machine: Machine) -> None:
    machine.start()
    path = spool_file(machine.spool, 1, [row("1")])
    half = json.dumps(row("2"))[:200].encode()
    with path.open("ab") as file:
        file.write(half + b"\n" + json.dumps(row("3")).encode() + b"\n\n" + b"\xff\xfe\n" + half)
    done = machine.ship()
    assert done.stored == 2
    with pytest.raises(
        LullError, match=r"3 lines are refused, the first because of .*; they are kept in .*refused.jsonl"
    ):
        done.check(machine.spool)
    assert machine.stored() == ["1", "3"]
    assert machine.refused() == [half, b"\xff\xfe", half]
    assert machine.files() == []


def test_a_row_that_the_collector_refuses_does_not_hold_up_the_others(machine: Machine) -> None:
    machine.start()
    spool_file(machine.spool, 1, [row("1"), row("1", node="n2", uid=7), row("2")])
    done = machine.ship()
    assert done.stored == 2
    assert [json.loads(line)["node"] for line in machine.refused()] == ["n2"]
    assert machine.files() == []


def test_messages_have_at_most_200_rows_and_half_a_megabyte(machine: Machine) -> None:
    spool_file(machine.spool, 1, [row(str(job)) for job in range(450)])
    spool_file(machine.spool, 2, [row(str(job), extra="x" * 100_000) for job in range(450, 462)])
    spool_file(machine.spool, 3, [row("462", extra="x" * 600_000), row("463")])
    found = list(batches(machine.spool))
    assert [len(one.rows) for one in found] == [200, 200, 54, 4, 4, 1]
    for one in found:
        assert len(one.rows) <= MOST_ROWS
        assert sum(len(line) for _, line in one.rows) <= MOST_ROW_BYTES
    assert sum(len(one.refused) for one in found) == 1
    machine.start()
    assert machine.ship().stored == 463
    assert machine.files() == []


def test_two_processes_that_ship_at_once_store_each_row_once(machine: Machine) -> None:
    """One of them has the folder, the other leaves it alone; without this lock, equal rows are still stored once."""
    machine.start()
    for number in range(40):
        spool_file(machine.spool, number, [row(f"{number}-{each}") for each in range(10)])
    with locked(machine.spool), pytest.raises(Taken):
        machine.ship()
    assert len(machine.files()) == 40
    copies = [(path, path.read_bytes()) for path in machine.spool.glob("rows-*")]
    results: list[Shipped] = []

    def one() -> None:
        try:
            results.append(machine.ship())
        except Taken:
            results.append(Shipped())

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for path, content in copies:
        path.write_bytes(content)
    assert machine.ship().known == 400
    assert sum(result.stored for result in results) == 400
    assert len(machine.stored()) == 400


def test_senders_that_store_at_once_store_everything_once(machine: Machine) -> None:
    machine.start()
    spools = []
    for number in range(6):
        spools.append(machine.spool / f"n{number}")
        spools[-1].mkdir()
        spool_file(spools[-1], 1, [row(f"{job}", node=f"n{number}") for job in range(250)])
    threads = [threading.Thread(target=ship, args=(SiteFile(), machine.address, one)) for one in spools]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(machine.stored()) == 1500
    with Store(machine.store) as store:
        assert store.db.execute("select count(*), sum(mj), min(rows), max(rows) from jobs").fetchone() == (
            250,
            1500 * 10_000,
            6,
            6,
        )
        assert store.db.execute("select sum(mj), sum(jobs) from days").fetchone() == (15_000_000, 250)
        assert store.db.execute("select sum(mj), sum(jobs) from months").fetchone() == (15_000_000, 250)


def test_a_full_disk_of_the_collector_leaves_the_rows_with_the_sender(machine: Machine) -> None:
    machine.start()
    assert machine.collector
    store = machine.collector._store
    store.db.execute(f"pragma max_page_count = {store.db.execute('pragma page_count').fetchone()[0]}")
    spool_file(machine.spool, 1, [row(str(job), project=f"project {job}") for job in range(200)])
    with pytest.raises(LullError, match="store 200 rows: database or disk is full"):
        machine.ship()
    assert len(machine.files()) == 1
    store.db.execute("pragma max_page_count = 1000000")
    assert machine.ship().stored == 200


# Without munge: a folder that nodes share


def test_a_shared_folder_takes_the_place_of_messages(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    spools = []
    for node in ("n1", "n2"):
        spools.append(tmp_path / node)
        spools[-1].mkdir()
        path = spool_file(spools[-1], 1, [row("1", node=node)])
        content = path.read_bytes()
        assert ship_to_folder(shared, spools[-1], node).files == 1
        path.write_bytes(content)  # as if it had been killed in between
        ship_to_folder(shared, spools[-1], node)
        assert not path.exists()
    assert len(list(shared.iterdir())) == 2
    collector = Collector(tmp_path / "jobs.sqlite", Rights(), Prices())
    assert collect_folder(collector, shared, OWN).stored == 2
    assert list(shared.iterdir()) == []
    collector.close()


@pytest.mark.skipif(not IS_ROOT, reason="needs root, to own files of other users")
def test_files_of_others_and_links_in_a_shared_folder_are_not_read(machine: Machine) -> None:
    machine.start()
    assert machine.collector
    path = spool_file(machine.spool, 2, [row("1")])
    os.chown(path, SERVICE, SERVICE)
    with pytest.raises(LullError, match=f"it belongs to user {SERVICE}, who may not send rows"):
        collect_folder(machine.collector, machine.spool, OWN)
    assert machine.stored() == []
    assert collect_folder(machine.collector, machine.spool, OWN | {SERVICE}).stored == 1
    elsewhere = machine.spool / "elsewhere"
    elsewhere.write_text(json.dumps(row("2")) + "\n")
    (machine.spool / "rows-3.jsonl").symlink_to(elsewhere)
    with pytest.raises(LullError, match="symbolic links"):
        collect_folder(machine.collector, machine.spool, OWN)
    (machine.spool / "rows-3.jsonl").unlink()
    os.mkfifo(machine.spool / "rows-4.jsonl")
    with pytest.raises(LullError, match="it is no file of rows"):
        collect_folder(machine.collector, machine.spool, OWN)
    assert machine.stored() == ["1"]


@pytest.fixture
def own_site() -> Iterator[Site]:
    with site() as made:
        yield made


def test_the_commands_need_no_munge_on_one_machine(own_site: Site) -> None:
    """The collector reads the spool of its own machine; users are known by the kernel. A kill loses nothing."""
    own_site.describe(f"senders = [{os.geteuid()}]\n")
    shared = own_site.folder / "shared"
    shared.mkdir()
    own_site.start("--spool", shared, "--every", "0.1", listen="")
    assert own_site.store.stat().st_mode & 0o077 == 0
    spool_file(own_site.spool, 1, [row("1"), row("2")])
    code, _, err = own_site.lull(None, "ship", "--spool", own_site.spool, "--collector", shared)
    assert (code, err) == (0, f"lull: 1 files moved to {shared}\n")

    def names() -> list[str]:
        return own_site.names(None, "--collector", str(own_site.socket))

    assert wait_until(lambda: not list(shared.glob("rows-*")))
    assert names() == ["1", "2"]
    own_site.kill()
    spool_file(shared, 1, [row("2"), row("3")])
    own_site.start("--spool", shared, "--every", "0.1", listen="")  # in the place of the socket that was left
    assert wait_until(lambda: not list(shared.glob("rows-*")))
    assert names() == ["1", "2", "3"]
    code, _, err = own_site.lull(None, "collect", "--store", own_site.store, "--socket", own_site.socket)
    assert code == 1
    assert "a collector runs there already" in err
    assert own_site.stop() == ""
    assert not own_site.socket.exists()
    code, _, err = own_site.lull(None, "jobs", "--collector", str(own_site.socket))
    assert code == 1
    assert err.startswith("lull: ask the collector at ")
    assert "see whether lull collect runs there" in err


def test_what_is_wrong_in_the_sites_file_is_named(own_site: Site) -> None:
    for text, words in (
        ("admin = [1]\n", "admin: there is no such key"),
        ('admins = ["no-such-user"]\n', "find the user of admins: there is no user 'no-such-user'"),
        ("[price]\nper_kwh = 0.2\ncurrency = 'EUR'\n", "price.source: Field required"),
        ("[carbon]\ng_per_kwh = -1\nsource = 'x'\n", "carbon.g_per_kwh: Input should be greater than 0"),
        ("= 5\n", "it is not TOML"),
    ):
        own_site.file.write_text(text)
        code, _, err = own_site.lull(None, "collect", "--store", own_site.store, "--socket", own_site.socket)
        assert code == 2
        assert words in err
        assert err.count("\n") == 1
    assert not own_site.store.exists()


def test_without_an_address_the_line_says_where_to_write_it(own_site: Site) -> None:
    own_site.file.write_text("")
    code, _, err = own_site.lull(None, "jobs")
    assert code == 2
    assert "no collector is known here; write collector = HOST:PORT" in err
    assert HERE not in err
