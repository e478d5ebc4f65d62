"""One message and its answer over one connection: what both ends share.

A message is a line. Over TCP it is a munge credential, which says who wrote it and which only the reader can decode;
over a Unix socket it is JSON, and the kernel says who is at the other end.
"""

from __future__ import annotations

import os
import secrets
import socket
import struct
import time
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from lull.base.documents import DamagedError, parse_json
from lull.base.errors import LullError, UsageError, describe_os_error
from lull.jobs.credential import MOST_ENCODED, Munge
from lull.jobs.question import Message, Refusal
from lull.jobs.rows import first_of
from lull.jobs.site import SITE_FILE, Site, exists

TIMEOUT_S: Final = 30.0
Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True)
class Address:
    """Where a collector listens: the path of a Unix socket, or a host with a port."""

    path: str = ""
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        return self.path or (f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}")


def parse_address(text: str, asked: str) -> Address:
    """An address from `HOST:PORT` or the path of a socket.

    Raises:
        UsageError: It is neither, or empty.
    """
    if text.startswith("/"):
        return Address(path=text)
    host, _, port = text.rpartition(":")
    if not text:
        fix = f"write collector = HOST:PORT or the path of its socket into {SITE_FILE}, or give --collector"
        raise UsageError(asked, "no collector is known here", fix)
    if not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise UsageError(asked, f"{text!r} is neither HOST:PORT nor the path of a socket", "e.g. head:7464")
    return Address(host=host.strip("[]"), port=int(port))


class LineTooLong(Exception):
    """The other end has sent more than a message may have."""


def read_line(connection: socket.socket, seconds: float) -> bytes:
    """The bytes before the first newline; b"" if the other end closes before it.

    Raises:
        LineTooLong: There is none within the longest message.
        OSError: The connection is broken, or `seconds` have passed.
    """
    end = time.monotonic() + seconds
    pieces: list[bytes] = []
    length = 0
    while True:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError("no complete message")
        connection.settimeout(left)
        piece = connection.recv(1 << 16)
        if not piece:
            return b""
        before, newline, _ = piece.partition(b"\n")
        pieces.append(before)
        length += len(before)
        if length > MOST_ENCODED:
            raise LineTooLong
        if newline:
            return b"".join(pieces)


def ask(site: Site, address: Address, message: Message, form: type[Reply]) -> Reply:
    """Send a message to the collector and return its answer.

    Raises:
        LullError: There is no collector, it refuses, or the answer is not from it.
    """
    asked = f"ask the collector at {address}"
    nonce = secrets.token_hex(16)
    content = message.model_copy(update={"nonce": nonce}).model_dump_json(exclude_none=True).encode()
    munge = None if address.path else Munge(site.munge_socket)
    collector_uid = None if munge is None else site.collector_uid()
    if munge is not None and collector_uid is not None:
        content = munge.encode(content, collector_uid)
    try:
        with _connected(address) as connection:
            if address.path:
                _check_owner(site, asked, uid_of(connection))
            connection.settimeout(TIMEOUT_S)
            connection.sendall(content + b"\n")
            line = read_line(connection, TIMEOUT_S)
    except LineTooLong as error:
        raise LullError(asked, "its answer is too long") from error
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "see whether lull collect runs there") from error
    if not line:
        raise LullError(asked, "it closed the connection", "its log says why")
    if munge is not None:
        line, uid = munge.decode(line)
        if uid not in (collector_uid, 0):
            raise LullError(asked, f"user {uid} answers", f"only {site.collector_user} may, by {SITE_FILE}")
    return _read_answer(asked, line, nonce, form)


def uid_of(connection: socket.socket) -> int:
    """The user at the other end of a Unix socket, as the kernel names it."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("iIi", credentials)[1])


def _check_owner(site: Site, asked: str, uid: int) -> None:
    """Raise a `LullError` unless the collector at a socket runs as the right user, root, or the one who asks."""
    if uid in (0, os.geteuid()):
        return
    if not exists(site.collector_user) or uid != site.collector_uid():
        raise LullError(asked, f"user {uid} listens there", f"only {site.collector_user} may, by {SITE_FILE}")


def _connected(address: Address) -> socket.socket:
    if not address.path:
        return socket.create_connection((address.host, address.port), TIMEOUT_S)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        connection.settimeout(TIMEOUT_S)
        connection.connect(address.path)
    except BaseException:
        connection.close()
        raise
    return connection


def _read_answer(asked: str, line: bytes, nonce: str, form: type[Reply]) -> Reply:
    try:
        content: Any = parse_json(line)
        if not isinstance(content, dict) or content.get("nonce") != nonce:
            raise LullError(asked, "the answer belongs to another message")
        if "refused" in content and "stored" not in content:
            raise LullError(asked, Refusal.model_validate(content).refused)
        return form.model_validate(content)
    except (DamagedError, ValidationError) as error:
        words = first_of(error.errors()) if isinstance(error, ValidationError) else str(error)
        raise LullError(asked, f"its answer is wrong: {words}", "both sides need the same version of Lull") from error


def as_line(answer: BaseModel) -> bytes:
    """An answer as JSON on one line."""
    return answer.model_dump_json(exclude_none=True).encode()
