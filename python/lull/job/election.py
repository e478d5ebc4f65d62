"""Elect one reader per node: the first wrapper of a job on a node that binds the node's address reads the meter.

The address is an abstract Unix socket. The kernel lets only one process bind it, and releases it when that process
ends in any way, so no lock can be stale and no file can be left. When the reader dies, its members notice that their
connections end, and elect another.

The messages are lines of JSON: a member sends its rank, and later its report; the reader sends `go` when the meter runs
and `done` when the record is written.
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
    """A connection between a member and its reader, which carries lines of JSON."""

    connection: socket.socket
    pending: bytes = b""

    def fileno(self) -> int:
        """The descriptor, for `select`."""
        return self.connection.fileno()

    def send(self, message: dict[str, Any]) -> bool:
        """Send one message; False if the other end is gone."""
        try:
            self.connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            return False
        return True

    def receive(self) -> list[dict[str, Any]] | None:
        """The messages that have arrived; None if the other end is gone and all its messages were returned."""
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
        """Close the connection."""
        self.connection.close()


@dataclass
class Reader:
    """The listening socket of the reader, to which members connect."""

    listener: socket.socket
    members: list[Line] = field(default_factory=list)

    def accept(self) -> Line | None:
        """Accept a member; None if it is a process of another user, or has gone again."""
        try:
            connection, _ = self.listener.accept()
        except OSError:
            return None
        if _user_of(connection) != os.getuid():
            connection.close()
            return None
        return Line(connection)

    def close(self) -> None:
        """Release the address."""
        self.listener.close()


def elect(address: str) -> Reader | Line:
    """Bind `address`, or connect to the process that has bound it.

    Raises:
        LullError: Neither succeeds.
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
        except OSError as error:  # bound but not yet listening, or just released
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
    """The user of the process at the other end."""
    _, user, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    )
    return int(user)
