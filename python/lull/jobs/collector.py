"""The collector: stores rows of nodes and answers questions of users, whoever they are by `Sender`.

Rows of a node are taken only from that node's address, because root of one node can speak for any user by munge.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from lull.base.documents import DamagedError, parse_json
from lull.base.errors import LullError
from lull.jobs.answers import answer
from lull.jobs.connection import as_line
from lull.jobs.price import Prices
from lull.jobs.question import MOST_ROWS, Question, Refusal, Rows, Stored
from lull.jobs.rows import Invalid, Row, first_of, read_row
from lull.jobs.store import Ingested, Store
from lull.jobs.visible import Rights, may_send_rows, refusal, visible_to

ADDRESSES_S: Final = 60.0  # how long the addresses of a node are kept


@dataclass(frozen=True)
class Sender:
    """Who is at the other end: the user as the kernel or munge names it, and the IP address; "": this machine."""

    uid: int
    address: str = ""


class Collector:
    """Stores rows and answers questions, for several threads."""

    def __init__(self, path: Path, rights: Rights, prices: Prices) -> None:
        self._path, self._rights, self._prices = path, rights, prices
        self._store = Store(path)
        self._lock = threading.Lock()
        self._addresses = Addresses()

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            self._store.close()

    def reply(self, content: bytes, sender: Sender) -> bytes:
        """The answer to a message."""
        nonce = ""
        try:
            message = parse_json(content)
            if isinstance(message, dict) and isinstance(message.get("nonce"), str):
                nonce = message["nonce"][:64]
            found = self._reply(message, sender)
        except ValidationError as error:
            found = Refusal(refused=f"the message is wrong: {first_of(error.errors())}")
        except DamagedError as error:
            found = Refusal(refused=f"the message is not JSON: {error}")
        except LullError as error:
            complain(str(error))
            found = Refusal(refused=str(error))
        return as_line(found.model_copy(update={"nonce": nonce}))

    def _reply(self, message: Any, sender: Sender) -> BaseModel:
        if isinstance(message, dict) and "rows" in message:
            return self._take(Rows.model_validate(message), sender)
        question = Question.model_validate(message)
        visible = visible_to(sender.uid, self._rights)
        if reason := refusal(visible, question.uid, question.project):
            return Refusal(refused=reason)
        with Store(self._path) as store:
            found = answer(store, question, visible)
        return found.model_copy(update={"prices": self._prices})

    def _take(self, message: Rows, sender: Sender) -> BaseModel:
        if not may_send_rows(sender.uid, self._rights):
            return Refusal(refused=f"user {sender.uid} may not send rows; senders in the site's file names who may")
        rows: list[tuple[int, Row]] = []
        refused: list[tuple[int, str]] = []
        for place, content in enumerate(message.rows):
            try:
                rows.append((place, read_row(content)))
            except Invalid as error:
                refused.append((place, str(error)))
        for node in dict.fromkeys(row.node for _, row in rows):
            if sender.address and not self._addresses.belongs(sender.address, node):
                words = f"{sender.address} is not the address of {node}, whose rows it sends"
                return Refusal(refused=f"{words}; name the node in /etc/hosts or the DNS of the collector")
        done = self.ingest([row for _, row in rows])
        refused += [(rows[place][0], reason) for place, reason in done.refused]
        for place, reason in refused:
            complain(f"row {place} from {sender.address or 'this machine'} is refused: {reason}")
        return Stored(stored=done.stored, known=done.known, refused=refused)

    def ingest(self, rows: list[Row]) -> Ingested:
        """Store rows that are trusted.

        Raises:
            LullError: The store cannot be written.
        """
        total = Ingested()
        for first in range(0, len(rows), MOST_ROWS):
            with self._lock:
                done = self._store.ingest(rows[first : first + MOST_ROWS])
            total.stored += done.stored
            total.known += done.known
            total.refused += [(first + place, reason) for place, reason in done.refused]
        return total


@dataclass
class Addresses:
    """The IP addresses of nodes, by name service, which is asked once a minute at most for each."""

    _known: dict[str, tuple[float, frozenset[str]]] = field(default_factory=dict)

    def belongs(self, address: str, node: str) -> bool:
        """Whether the node has this address."""
        until, found = self._known.get(node, (0.0, frozenset()))
        if time.monotonic() >= until:
            try:
                found = frozenset(plain(str(one[4][0])) for one in socket.getaddrinfo(node, None))
            except (OSError, UnicodeError):
                found = frozenset()
            self._known[node] = (time.monotonic() + ADDRESSES_S, found)
        return plain(address) in found


def plain(address: str) -> str:
    """An IP address without its zone, and an IPv4 address as such."""
    return address.partition("%")[0].removeprefix("::ffff:")


def complain(line: str) -> None:
    """Write a line into the log."""
    print(f"lull: {line}", file=sys.stderr, flush=True)
