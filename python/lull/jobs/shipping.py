"""Rows from a node's spool to the store: by messages to the collector, or through a folder that nodes share.

A file leaves the spool after the collector has its rows on disk. If the collector is away, or a process is killed in
between, the file remains and is sent again; the collector keeps one of equal rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from lull.base.documents import parse_json
from lull.base.errors import LullError, describe_os_error
from lull.jobs.collector import Collector, complain
from lull.jobs.connection import Address, ask
from lull.jobs.question import Rows, Stored
from lull.jobs.site import Site
from lull.jobs.spool import PATTERN, REFUSED, batches, copy, finish, locked


@dataclass
class Shipped:
    """What became of the rows: `refused` are reasons."""

    stored: int = 0
    known: int = 0
    files: int = 0
    refused: list[str] = field(default_factory=list)

    def check(self, spool: Path) -> None:
        """Raise a `LullError` if some were refused."""
        if self.refused:
            found = f"{len(self.refused)} lines are refused, the first because of {self.refused[0]}"
            raise LullError(f"ship the rows of {spool}", found, f"they are kept in {spool / REFUSED}")


def ship(site: Site, address: Address, spool: Path) -> Shipped:
    """Send all complete files of a spool to the collector.

    Raises:
        Taken: Another process does.
        LullError: The collector cannot be reached or refuses; what it has not stored remains.
    """
    done = Shipped()
    with locked(spool):
        for batch in batches(spool):
            refused: list[tuple[bytes, str]] = []
            if batch.rows:
                message = Rows(rows=[parse_json(line) for _, line in batch.rows])
                stored = ask(site, address, message, Stored)
                done.stored += stored.stored
                done.known += stored.known
                refused = [(batch.rows[place][1], reason) for place, reason in stored.refused]
            done.refused += [reason for _, reason in (*batch.refused, *refused)]
            done.files += len(batch.finished)
            finish(spool, batch, refused)
    return done


def ship_to_folder(folder: Path, spool: Path, node: str) -> Shipped:
    """Move all complete files of a spool into a folder that nodes share.

    Raises:
        Taken: Another process does.
        LullError: The folder cannot be written; what has not been copied remains.
    """
    done = Shipped()
    with locked(spool):
        for path in sorted(spool.glob(PATTERN)):
            try:
                copy(path, folder, node)
                path.unlink()
            except OSError as error:
                raise LullError(f"move {path} to {folder}", describe_os_error(error)) from error
            done.files += 1
    return done


def collect_folder(collector: Collector, folder: Path, owners: frozenset[int]) -> Shipped:
    """Store the rows of all files of a folder that belong to one of these users, or root.

    Raises:
        Taken: Another process does.
        LullError: The folder or the store cannot be used; what has not been stored remains.
    """
    done = Shipped()
    with locked(folder):
        for batch in batches(folder, owners):
            stored = collector.ingest([row for row, _ in batch.rows])
            refused = [(batch.rows[place][1], reason) for place, reason in stored.refused]
            done.stored += stored.stored
            done.known += stored.known
            done.files += len(batch.finished)
            finish(folder, batch, refused)
            for _, reason in (*batch.refused, *refused):
                complain(f"a line in {folder} is refused and kept in {REFUSED}: {reason}")
    return done
