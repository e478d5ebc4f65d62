"""The collector with a real munge and several users: who gets which answers, and what the network can do to it."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bounds import TIMEOUT_S
from job_collector import ALICE, BOB, CAROL, DAVE, HERE, IS_ROOT, SERVICE, Site, row, site, spool_file, with_munge
from lull.base.errors import LullError
from lull.jobs.collector import Addresses
from lull.jobs.connection import Address, ask, parse_address
from lull.jobs.credential import Munge
from lull.jobs.question import Answer, Question, Rows, Stored
from lull.jobs.site import read_site
from node_service import as_user

RIGHTS = f"""
senders = [{SERVICE}]
admins = [{CAROL}]
[heads]
physics = [{DAVE}]
[price]
per_kwh = 0.25
currency = "EUR"
source = "contract of 2026"
[carbon]
g_per_kwh = 400
source = "the supplier"
"""
ROWS = [row("1"), row("2", uid=BOB), row("3", uid=BOB, project="ocean"), row("4", uid=SERVICE, project="ocean")]

# As another user: encodes its input for the user of the first argument, or decodes it.
ENCODE = """
import sys
from lull.jobs.credential import Munge
sys.stdout.buffer.write(Munge(sys.argv[1]).encode(sys.stdin.buffer.read(), int(sys.argv[2])))
"""
DECODE = "import sys; from lull.jobs.credential import Munge; print(Munge(sys.argv[1]).decode(sys.stdin.buffer.read()))"


@pytest.fixture(scope="module")
def collector() -> Iterator[Site]:
    with site() as made:
        made.describe(RIGHTS)
        made.start_munge()
        made.start()
        send(made, ROWS)
        yield made


def send(collector: Site, rows: list[dict[str, Any]]) -> Stored:
    made = read_site(collector.file)
    return ask(made, parse_address(made.collector, "send"), Rows(rows=rows), Stored)


def exchange(collector: Site, line: bytes, address: str = HERE) -> bytes:
    """What the collector answers to a line from an address of this machine; b"" if it closes the connection."""
    host, _, port = collector.address.rpartition(":")
    with socket.create_connection((host, int(port)), TIMEOUT_S, source_address=(address, 0)) as connection:
        connection.sendall(line)
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as answer:
            return answer.readline().strip()


def munge_of(collector: Site) -> Munge:
    return Munge(read_site(collector.file).munge_socket)


def by_munge(
    collector: Site, program: str, uid: int, content: bytes, *words: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-B", "-c", program, read_site(collector.file).munge_socket, *words],
        input=content,
        capture_output=True,
        check=False,
        cwd="/",
        **as_user(uid),
    )


@with_munge
def test_users_see_their_own_jobs_heads_their_projects_administrators_all(collector: Site) -> None:
    assert collector.names(ALICE) == ["1"]
    assert collector.names(BOB) == ["2", "3"]
    assert collector.names(DAVE) == ["1", "2"]
    assert {"1", "2", "3", "4"} <= set(collector.names(CAROL))


@with_munge
def test_who_asks_for_others_gets_the_reason(collector: Site) -> None:
    code, out, err = collector.lull(ALICE, "jobs", "--uid", str(BOB))
    assert (code, out) == (1, "")
    assert f"jobs of user {BOB} are visible to that user, to the heads of their projects and to administrators" in err
    code, out, err = collector.lull(ALICE, "jobs", "2")
    assert (code, out) == (1, "")
    assert "show job 2: there is none that you may see" in err


@with_munge
def test_users_cannot_send_rows(collector: Site) -> None:
    spool = collector.folder / "spool-of-alice"
    spool.mkdir()
    path = spool_file(spool, 1, [row("99")])
    for one in (spool, path):
        os.chown(one, ALICE, ALICE)
    code, _, err = collector.lull(ALICE, "ship", "--spool", spool)
    assert code == 1
    assert f"user {ALICE} may not send rows" in err
    assert path.exists()
    assert "99" not in collector.names(None)


@with_munge
def test_the_user_of_the_service_sends_rows_and_sees_no_others(collector: Site) -> None:
    spool = collector.folder / "spool-of-service"
    spool.mkdir()
    path = spool_file(spool, 1, ROWS)
    for one in (spool, path):
        os.chown(one, SERVICE, SERVICE)
    code, _, err = collector.lull(SERVICE, "ship", "--spool", spool)
    assert (code, err) == (0, "lull: 0 rows stored, 4 known already\n")
    assert list(spool.iterdir()) == []
    assert collector.names(SERVICE) == ["4"]


@with_munge
def test_a_question_that_was_overheard_cannot_be_read_altered_or_sent_again(collector: Site) -> None:
    question = json.dumps({"v": 1, "nonce": "n", "ask": "jobs"}).encode()
    done = by_munge(collector, ENCODE, ALICE, question, str(os.geteuid()))
    assert done.returncode == 0, done.stderr
    credential = done.stdout
    listener = by_munge(collector, DECODE, BOB, credential)
    assert listener.returncode != 0
    assert b"Unauthorized credential" in listener.stderr

    altered = bytearray(credential)
    altered[len(altered) // 2] ^= 1
    assert exchange(collector, bytes(altered) + b"\n") == b""

    answer = exchange(collector, credential + b"\n")
    assert answer
    assert exchange(collector, credential + b"\n") == b""  # again

    listener = by_munge(collector, DECODE, BOB, answer)
    assert b"Unauthorized credential" in listener.stderr
    for_alice = by_munge(collector, DECODE, ALICE, answer)
    assert f", {os.geteuid()})".encode() in for_alice.stdout
    assert b'"job":"1"' in for_alice.stdout
    assert b'"job":"2"' not in for_alice.stdout


@with_munge
def test_rows_of_a_node_come_from_its_address_alone(collector: Site) -> None:
    """Root of one node can speak for any user by munge, but not from another node's address."""
    munge = munge_of(collector)

    def sent(node: str, address: str) -> dict[str, Any]:
        content = json.dumps({"v": 1, "nonce": "n", "rows": [row("50", node=node, uid=7)]}).encode()
        line = munge.encode(content, os.geteuid()) + b"\n"
        answer: dict[str, Any] = json.loads(munge.decode(exchange(collector, line, address))[0])
        return answer

    words = "127.0.0.2 is not the address of 127.0.0.1, whose rows it sends"
    assert sent(HERE, "127.0.0.2")["refused"].startswith(words)
    assert "is not the address of no-such-node.invalid" in sent("no-such-node.invalid", HERE)["refused"]
    assert "50" not in collector.names(None)
    assert sent("127.0.0.2", "127.0.0.2")["stored"] == 1
    assert "50" in collector.names(None)


@with_munge
def test_rubbish_gets_no_answer_and_harms_no_other(collector: Site) -> None:
    munge = munge_of(collector)
    for rubbish in (b"", b"\n", b"MUNGE:\n", b"MUNGE:AAAA:\n", b"\0" * 5000 + b"\n", b"GET / HTTP/1.1\r\n\r\n"):
        assert exchange(collector, rubbish) == b""
    for content in (
        b"",
        b"[",
        b"[" * 7000,
        b"{}",
        b"[]",
        b'{"v": 2, "ask": "jobs"}',
        b'{"v": 1, "ask": "all"}',
        b"\xff",
    ):
        line = munge.encode(content, os.geteuid())
        answer = json.loads(munge.decode(exchange(collector, line + b"\n"))[0])
        assert answer["refused"].startswith("the message is ")
    too_long = b"x" * 1_600_000
    with suppress(OSError):  # it is closed before all has been sent
        assert exchange(collector, too_long) == b""
    assert collector.names(BOB) == ["2", "3"]


@with_munge
def test_connections_that_say_nothing_keep_no_other_waiting(collector: Site) -> None:
    """A client has at most 16 connections, so that many of one remain without effect on others."""
    host, _, port = collector.address.rpartition(":")
    silent = [socket.create_connection((host, int(port)), source_address=("127.0.0.3", 0)) for _ in range(100)]
    try:
        assert collector.names(BOB) == ["2", "3"]
    finally:
        for one in silent:
            one.close()


@with_munge
def test_the_socket_of_this_machine_knows_the_user_by_the_kernel(collector: Site) -> None:
    assert collector.names(ALICE, "--collector", str(collector.socket)) == ["1"]
    assert "2" in collector.names(CAROL, "--collector", str(collector.socket))


@with_munge
def test_a_collector_of_another_user_is_not_believed(collector: Site, tmp_path: Path) -> None:
    """It listens where the real one should; what is sent to it, it cannot read, and its answer is refused."""
    question = Question(ask="jobs")
    made = read_site(collector.file)
    with socket.create_server((HERE, 0)) as listening:
        address = Address(host=HERE, port=listening.getsockname()[1])
        program = f"""
import socket, sys
from lull.jobs.credential import Munge
munge = Munge(sys.argv[1])
connection = socket.socket(fileno=int(sys.argv[2])).accept()[0]
line = connection.makefile("rb").readline().strip()
try:
    munge.decode(line)
except Exception as error:
    print(error)
connection.sendall(munge.encode(b'{{"v": 1, "jobs": []}}', {os.geteuid()}) + b"\\n")
"""
        fake = subprocess.Popen(
            [sys.executable, "-B", "-c", program, made.munge_socket, str(listening.fileno())],
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=[listening.fileno()],
            cwd="/",
            **as_user(BOB),
        )
        with pytest.raises(LullError, match=f"user {BOB} answers"):
            ask(made, address, question, Answer)
    assert "Unauthorized credential" in fake.communicate(timeout=TIMEOUT_S)[0]


@pytest.mark.skipif(not IS_ROOT, reason="needs root, to be several users")
def test_a_collector_of_another_user_at_a_socket_is_not_asked() -> None:
    with site() as made:
        made.describe(collector_user=SERVICE)
        path = made.folder / "socket"
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
            path.chmod(0o666)
            if (child := os.fork()) == 0:
                os.setuid(BOB)
                listening.listen()  # from now on, the kernel names this user
                os._exit(0)
            os.waitpid(child, 0)
            code, _, err = made.lull(ALICE, "jobs", "--collector", path)
    assert code == 1
    assert f"user {BOB} listens there; only {SERVICE} may" in err


@with_munge
def test_an_answer_to_another_message_is_refused(collector: Site) -> None:
    """It might say that rows were stored which were not."""
    made, munge = read_site(collector.file), munge_of(collector)
    with socket.create_server((HERE, 0)) as listening:
        address = Address(host=HERE, port=listening.getsockname()[1])
        if (child := os.fork()) == 0:
            connection = listening.accept()[0]
            connection.makefile("rb").readline()
            old = b'{"v": 1, "nonce": "of another message", "stored": 1, "known": 0, "refused": []}'
            connection.sendall(munge.encode(old, os.geteuid()) + b"\n")
            os._exit(0)
        with pytest.raises(LullError, match="the answer belongs to another message"):
            ask(made, address, Rows(rows=[row("60")]), Stored)
        os.waitpid(child, 0)


@with_munge
def test_without_munged_or_collector_there_is_one_line(collector: Site, tmp_path: Path) -> None:
    made = read_site(collector.file)
    gone = made.model_copy(update={"munge_socket": str(tmp_path / "none")})
    with pytest.raises(LullError, match=r"encode a message by munge: .*see whether munged runs"):
        ask(gone, parse_address(made.collector, "ask"), Question(ask="jobs"), Answer)
    with socket.create_server((HERE, 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(LullError, match="Connection refused; see whether lull collect runs there"):
        ask(made, Address(host=HERE, port=port), Question(ask="jobs"), Answer)


def test_without_libmunge_the_line_names_its_package() -> None:
    program = """
import ctypes
from lull.base.errors import LullError
from lull.jobs.credential import Munge
found = ctypes.CDLL
def missing(name, *words):
    if name == "libmunge.so.2":
        raise OSError("cannot open shared object file")
    return found(name, *words)
ctypes.CDLL = missing
try:
    Munge()
except LullError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, check=True)
    assert "use munge: libmunge.so.2 is not installed; " in done.stdout
    assert "or use a socket or a shared folder" in done.stdout


def test_nodes_have_the_addresses_of_the_name_service() -> None:
    addresses = Addresses()
    assert addresses.belongs("127.0.0.1", "localhost")
    assert addresses.belongs("::ffff:127.0.0.1", "localhost")
    assert not addresses.belongs("10.9.8.7", "localhost")
    assert not addresses.belongs("127.0.0.1", "no such node")
    assert not addresses.belongs("127.0.0.1", "x" * 300)


@pytest.mark.skipif(not IS_ROOT, reason="needs root, to name another user")
def test_it_listens_only_as_the_user_whom_senders_encode_for() -> None:
    with site() as made:
        made.describe(collector_user=SERVICE)
        code, _, err = made.lull(
            None, "collect", "--store", made.store, "--socket", made.socket, "--listen", f"{HERE}:0"
        )
        assert code == 2
        assert f"what is sent can be read by {SERVICE} alone" in err
        assert not made.store.exists()
