"""Details of old jobs in Parquet files next to the store, a pair for each month, instead of rows of SQLite.

`NUMBER.nodes.parquet` has what jobs held and used on each node, `NUMBER.energy.parquet` its energy by domain; NUMBER
contains the month (2026-01-1). Jobs and sums stay in the store, so that lists and sums need no file; one old job is
read from its files. Texts are in the files, so that other programs can read them without the store.

The table `archives` of the store lists the files; one that it does not list counts as not there. What archiving.py was
killed in is in the files and in the store, and counts once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lull.base.errors import LullError, describe_os_error

TEXT: Final = pa.dictionary(pa.int32(), pa.string())
RUN: Final = [
    ("run", pa.int64()),
    ("cluster", TEXT),
    ("job", pa.string()),
    ("restart", pa.int32()),
    ("uid", pa.int64()),
    ("project", TEXT),
    ("node", TEXT),
]
NODES: Final = pa.schema(
    [
        *RUN,
        *((name, pa.int64()) for name in ("begin_us", "end_us", "cpus", "memory_mib", "cpu_us")),
        ("flags", pa.list_(pa.string())),
    ]
)
ENERGY: Final = pa.schema(
    [
        *RUN,
        ("domain", TEXT),
        ("kind", TEXT),
        *((f"{part}_uj", pa.int64()) for part in ("active", "held", "overhead", "low", "high")),
    ]
)


class Archive:
    """The files of a store, as its table `archives` lists them."""

    def __init__(self, db: sqlite3.Connection, store: Path) -> None:
        self._db = db
        self.folder = store.with_name(f"{store.stem}-archive")

    def names(self) -> list[str]:
        """What is listed, the oldest first."""
        return [name for (name,) in self._db.execute("select name from archives order by name")]

    def files(self, name: str) -> tuple[Path, Path]:
        """The files of an entry: nodes, and energy."""
        return self.folder / f"{name}.nodes.parquet", self.folder / f"{name}.energy.parquet"

    def nodes(self, run: int) -> list[dict[str, Any]]:
        """What a run of a job held on its nodes; the columns of `NODES`.

        Raises:
            LullError: A file is missing or damaged.
        """
        return [row for name in self._names_of(run) for row in _rows_of(self.files(name)[0], run)]

    def energies(self, run: int) -> list[dict[str, Any]]:
        """Its energy; the columns of `ENERGY`.

        Raises:
            LullError: A file is missing or damaged.
        """
        return [row for name in self._names_of(run) for row in _rows_of(self.files(name)[1], run)]

    def has(self, run: int, node: str) -> bool:
        """Whether the row of a run of a job on a node is in a file.

        Raises:
            LullError: A file is missing or damaged.
        """
        return any(row["node"] == node for row in self.nodes(run))

    def keys_of(self, name: str) -> Iterator[list[tuple[int, str]]]:
        """The runs and nodes of an entry, in parts."""
        path = self.files(name)[0]
        with _opened(path) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns=["run", "node"])
                yield list(zip(table["run"].to_pylist(), table["node"].to_pylist(), strict=True))

    def _names_of(self, run: int) -> list[str]:
        found = self._db.execute("select name from archives where first_run <= ? and last_run >= ?", [run, run])
        return [name for (name,) in found]


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    asked = f"read the archive {path}"
    try:
        with path.open("rb") as file:
            yield pq.ParquetFile(file)
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "restore it from a backup") from error
    except pa.ArrowException as error:
        raise LullError(asked, str(error), "restore it from a backup") from error


def _rows_of(path: Path, run: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    with _opened(path) as file:
        for group in range(file.num_row_groups):
            span = file.metadata.row_group(group).column(0).statistics
            if span.min <= run <= span.max:
                table = file.read_row_group(group)
                found += table.filter(pc.equal(table["run"], run)).to_pylist()
    return found
