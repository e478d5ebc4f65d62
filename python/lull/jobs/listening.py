"""Where the collector listens: a Unix socket, at which the kernel says who asks, and a TCP port, at which munge does.

Every connection is one message and one answer, within ten seconds each. Whoever has too many of them loses the newest;
whoever is slow keeps one thread waiting, and no other client.
"""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from lull.base.errors import LullError, describe_os_error
from lull.jobs.collector import Collector, Sender, complain
from lull.jobs.connection import Address, LineTooLong, read_line, uid_of
from lull.jobs.credential import Munge

MESSAGE_S: Final = 10.0  # in which a message must arrive, and its answer leave
MOST_CONNECTIONS: Final = 128  # at the same time, of one socket
MOST_OF_ONE: Final = 16  # of them of one user, or one address
RETRY_S: Final = 0.5
BACKLOG: Final = 4096  # all nodes of a large machine may send at the same moment


class Listener:
    """Serves the connections of one listening socket, each in a thread, until it is closed.

    Args:
        listening: The socket, which the listener closes.
        answer: The answer to a line from a connection; b"" for none.
        peer: What limits the connections of one client: its user or address.
    """

    def __init__(
        self,
        listening: socket.socket,
        answer: Callable[[bytes, socket.socket], bytes],
        peer: Callable[[socket.socket], object],
    ) -> None:
        self._listening, self._answer, self._peer = listening, answer, peer
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._open: Counter[object] = Counter()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no further connection."""
        self._closing.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # ends accept()
        self._listening.close()

    def _accept(self) -> None:
        while True:
            self._free.acquire()
            try:
                connection, _ = self._listening.accept()
            except OSError as error:
                self._free.release()
                if self._closing.is_set():
                    return
                complain(f"accept a connection: {describe_os_error(error)}")
                self._closing.wait(RETRY_S)  # such as too many open files
                continue
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        peer: object = None
        try:
            with connection:
                peer = self._peer(connection)
                with self._lock:
                    self._open[peer] += 1
                    is_within_limit = self._open[peer] <= MOST_OF_ONE
                if is_within_limit:
                    self._exchange(connection)
        except OSError:
            pass  # the client has gone, or is too slow
        finally:
            with self._lock:
                self._open[peer] -= 1
                if self._open[peer] <= 0:
                    del self._open[peer]
            self._free.release()

    def _exchange(self, connection: socket.socket) -> None:
        try:
            line = read_line(connection, MESSAGE_S)
            reply = self._answer(line, connection) if line else b""
        except LineTooLong:
            complain(f"a message of {self._peer(connection)} is longer than any may be")
            return
        except LullError as error:
            complain(f"a message of {self._peer(connection)}: {error}")
            return
        if reply:
            connection.settimeout(MESSAGE_S)
            connection.sendall(reply + b"\n")


def listen_at_port(collector: Collector, address: Address, munge: Munge) -> tuple[Listener, Address]:
    """Serve at a TCP port. Returns the listener, and the address with the port that the kernel has chosen for 0.

    Raises:
        LullError: The address cannot be used.
    """

    def answer(line: bytes, connection: socket.socket) -> bytes:
        content, uid = munge.decode(line)
        return munge.encode(collector.reply(content, Sender(uid, address_of(connection))), uid)

    try:
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        listening = socket.create_server((address.host, address.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise LullError(
            f"listen at {address}", describe_os_error(error), "choose another --listen HOST:PORT"
        ) from error
    port = int(listening.getsockname()[1])
    return Listener(listening, answer, address_of), Address(host=address.host, port=port)


def listen_at_socket(collector: Collector, path: Path) -> Listener:
    """Serve at a Unix socket that everybody may use. One that an ended collector has left is replaced.

    Raises:
        LullError: The path cannot be used, or a collector runs there.
    """

    def answer(line: bytes, connection: socket.socket) -> bytes:
        return collector.reply(line, Sender(uid_of(connection)))

    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        if path.is_socket():
            _remove_left(path)
        listening.bind(str(path))
        path.chmod(0o666)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise LullError(f"listen at {path}", describe_os_error(error), "choose another --socket PATH") from error
    return Listener(listening, answer, uid_of)


def address_of(connection: socket.socket) -> str:
    """The IP address at the other end."""
    return str(connection.getpeername()[0])


def _remove_left(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        try:
            trial.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise LullError(f"listen at {path}", "a collector runs there already", "choose another --socket PATH")
