"""One reader for each node: the wrappers of a job on one node meet at an address, and whoever takes it first reads.

The address is an abstract Unix socket. The kernel gives it to one process only and takes it back when that process
ends, however it ends: there is no lock that could be stale and no file that could be left. When the reader dies, its
members see their connections end and elect another.

Over the connection go lines of JSON: a member sends its rank, later its report; the reader sends `go` when the meter
runs and `done` when the record is written.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import Any

from lull.base.errors import LullError, describe_os_error

ELECTION_S = 30.0
RETRY_S = 0.01
BACKLOG = 4096
CHUNK = 1 << 16


@dataclass
class Line:
    """A connection between a member and its reader, as lines of JSON."""

    connection: socket.socket
    pending: bytes = b""

    def fileno(self) -> int:
        """For `select`."""
        return self.connection.fileno()

    def send(self, message: dict[str, Any]) -> bool:
        """Send one message; False when the other end is gone."""
        try:
            self.connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            return False
        return True

    def receive(self) -> list[dict[str, Any]] | None:
        """The messages that have arrived; None when the other end is gone and nothing is left of it."""
        try:
            arrived = self.connection.recv(CHUNK)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError:
            return None
        if not arrived:
            return None
        *lines, self.pending = (self.pending + arrived).split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """Let go of it."""
        self.connection.close()


@dataclass
class Reader:
    """The seat of the one who reads: members connect here."""

    listener: socket.socket
    members: list[Line] = field(default_factory=list)

    def accept(self) -> Line | None:
        """The member that has just come; None when it is another user's process, or gone again."""
        try:
            connection, _ = self.listener.accept()
        except OSError:
            return None
        if _user_of(connection) != os.getuid():
            connection.close()
            return None
        return Line(connection)

    def close(self) -> None:
        """Give the seat back."""
        self.listener.close()


def elect(address: str) -> Reader | Line:
    """Take the seat at `address`, or a connection to whoever holds it.

    Raises:
        LullError: Neither can be had.
    """
    name = f"\0{address}"
    end = time.monotonic() + ELECTION_S
    while True:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(name)
            listener.listen(BACKLOG)
            return Reader(listener)
        except OSError:
            listener.close()
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(name)
        except OSError as error:  # bound and not yet listening, or just given back
            connection.close()
            if time.monotonic() > end:
                raise LullError("find the reader of this node", describe_os_error(error)) from error
            time.sleep(RETRY_S)
            continue
        if _user_of(connection) != os.getuid():
            connection.close()
            raise LullError("find the reader of this node", "a process of another user has its address")
        return Line(connection)


def _user_of(connection: socket.socket) -> int:
    """The user at the other end."""
    _, user, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    )
    return int(user)
