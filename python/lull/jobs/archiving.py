"""Moving details of old jobs from the store into the files of its archive.

Rows leave SQLite after both files of a month are on the disk and listed in the table `archives`, each node of a job in
one transaction. A process that is killed in between leaves rows in both, and the next one removes them. It writes a
file that is not listed again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from lull.base.errors import LullError, describe_os_error
from lull.base.file_lock import FileLock
from lull.jobs.archive import ENERGY, NODES, RUN
from lull.jobs.periods import DAY_US, first_day, month_of
from lull.jobs.store import KINDS, Store, flags_of

ROWS_OF_GROUP: Final = 20_000  # of Parquet: what is read for one job
NODES_OF_TURN: Final = 500  # whose rows are removed in one transaction
OF_RUN: Final = "run, jobs.cluster, jobs.job, jobs.restart, jobs.uid, jobs.project, part.node"
JOINED: Final = (
    "join jobs using (run) where part.run between ? and ? and jobs.begin_us >= ? and jobs.begin_us < ? order by"
)
NODE_ROWS: Final = (
    f"select {OF_RUN}, part.begin_us, part.end_us, part.cpus, part.memory_mib, part.cpu_us, part.flags"
    f" from nodes as part {JOINED} run, part.node"
)
ENERGY_ROWS: Final = (
    f"select {OF_RUN}, domain, part.kind, active_uj, held_uj, overhead_uj, low_uj, high_uj"
    f" from energy as part {JOINED} run, part.node, domain"
)


@dataclass(frozen=True)
class Archived:
    """What was moved."""

    files: tuple[Path, ...]
    nodes: int


def archive(store: Store, before_day: int) -> Archived:
    """Move the details of all jobs of the months that end before a day.

    Args:
        store: The store; a collector may be running on it.
        before_day: Number of the day since 1970-01-01 in UTC.

    Raises:
        Taken: Another process does.
        LullError: A file or the store cannot be written. Nothing is lost: the next call goes on.
    """
    asked = f"archive old jobs into {store.archive.folder}"
    try:
        store.archive.folder.mkdir(mode=0o700, exist_ok=True)
        with FileLock(store.archive.folder / ".lock"):
            left = store.db.execute("select name from archives where not removed").fetchall()
            removed = sum(_remove(store, name) for (name,) in left)
            files: list[Path] = []
            for month in _months(store, month_of(before_day)):
                name = _write(store, month)
                removed += _remove(store, name)
                files += store.archive.files(name)
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "see whether the disk is full") from error
    except (sqlite3.Error, pa.ArrowException) as error:
        raise LullError(asked, str(error)) from error
    return Archived(tuple(files), removed)


def _months(store: Store, before: int) -> list[int]:
    """The months before one of which some jobs have details in the store."""
    limit_us = first_day(before) * DAY_US
    [(last,)] = store.db.execute("select max(run) from jobs where begin_us < ?", [limit_us])
    days = store.db.execute(
        f"select distinct begin_us / {DAY_US} from jobs where begin_us < ?"
        " and run in (select run from nodes where run <= ?)",
        [limit_us, last],
    )
    return sorted({month_of(day) for (day,) in days})


def _write(store: Store, month: int) -> str:
    """Write and list the files of a month."""
    folder = store.archive.folder
    begin = f"{month // 12:04}-{month % 12 + 1:02}-"
    name = f"{begin}{1 + sum(one.startswith(begin) for one in store.archive.names())}"
    span = [first_day(month) * DAY_US, first_day(month + 1) * DAY_US]
    store.db.execute("begin")  # both files from one state of the store
    try:
        first, last = store.db.execute(
            "select min(run), max(run) from nodes join jobs using (run) where jobs.begin_us >= ? and jobs.begin_us < ?",
            span,
        ).fetchone()
        for path, schema, query, convert in (
            (folder / f"{name}.nodes.parquet", NODES, NODE_ROWS, _node_columns),
            (folder / f"{name}.energy.parquet", ENERGY, ENERGY_ROWS, _energy_columns),
        ):
            with _written(path, schema) as writer:
                found = store.db.execute(query, [first, last, *span])
                while rows := found.fetchmany(ROWS_OF_GROUP):
                    columns = convert(store, list(zip(*rows, strict=True)))
                    arrays = [pa.array(one, kind) for one, kind in zip(columns, schema.types, strict=True)]
                    writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    finally:
        store.db.execute("rollback")
    with store.transaction():
        store.db.execute("insert into archives values (?,?,?,0)", [name, first, last])
    return name


def _named(store: Store, columns: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """The columns of a run of a job on a node, with texts for the numbers of texts."""
    run, cluster, job, restart, uid, project, node = columns[: len(RUN)]
    name = store.names.of
    return [run, [*map(name, cluster)], job, restart, uid, [*map(name, project)], [*map(name, node)]]


def _node_columns(store: Store, columns: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    *amounts, bits = columns[len(RUN) :]
    return [*_named(store, columns), *amounts, [*map(flags_of, bits)]]


def _energy_columns(store: Store, columns: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    domain, kind, *amounts = columns[len(RUN) :]
    return [*_named(store, columns), [*map(store.names.of, domain)], [KINDS[one].value for one in kind], *amounts]


def encodings(schema: pa.Schema) -> dict[str, Any]:
    """Differences for numbers, which grow with the run or are alike; dictionaries for texts that repeat."""
    numbers = {field.name: "DELTA_BINARY_PACKED" for field in schema if pa.types.is_integer(field.type)}
    return {
        "use_dictionary": [field.name for field in schema if pa.types.is_dictionary(field.type)],
        "column_encoding": numbers,
    }


@contextmanager
def _written(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """A file that is on the disk, whole, at the end of the `with` block, or not there."""
    aside = path.with_name(f".{path.name}.new")
    try:
        with aside.open("wb") as file:
            with pq.ParquetWriter(file, schema, compression="zstd", **encodings(schema)) as writer:
                yield writer
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def _remove(store: Store, name: str) -> int:
    """Remove from the store what a file has. Returns how many nodes of jobs these were."""
    removed = 0
    for keys in store.archive.keys_of(name):
        for first in range(0, len(keys), NODES_OF_TURN):
            with store.transaction():
                turn = [(run, store.names.id(node)) for run, node in keys[first : first + NODES_OF_TURN]]
                store.db.executemany("delete from energy where run = ? and node = ?", turn)
                removed += store.db.executemany("delete from nodes where run = ? and node = ?", turn).rowcount
    with store.transaction():
        store.db.execute("update archives set removed = 1 where name = ?", [name])
    return removed
