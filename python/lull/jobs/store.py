"""The store of jobs, one SQLite file: each row once, whatever is sent twice, and sums that follow from the rows.

`ingest` is one transaction, on disk when it returns. One process writes; a `Store` belongs to one thread.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lull.base.energy_kind import EnergyKind
from lull.base.errors import LullError
from lull.jobs import tables
from lull.jobs.archive import Archive
from lull.jobs.periods import DAY_US, month_of
from lull.jobs.rows import FLAGS, OTHER, DomainEnergy, Row

KINDS: Final = tuple(EnergyKind)
NO_METER: Final = -1
ALL_FLAGS: Final = (*FLAGS, OTHER)
GAP: Final = 1 << FLAGS.index("gap")
BUSY_S: Final = 30.0  # how long to wait for another process that writes
UJ_PER_MJ: Final = 1000

_Key = tuple[str, int, int]  # job, cluster, restart


@dataclass
class Ingested:
    """What became of rows: `refused` are those that can never be stored, by their place, with the reason."""

    stored: int = 0
    known: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class JobSum:
    """A row of the table `jobs` after its key."""

    uid: int
    project: int
    begin_us: int
    end_us: int
    nodes: int
    rows: int
    cpu_us: int
    mj: int
    low_mj: int
    high_mj: int
    kind: int
    flags: int

    def values(self) -> tuple[int, ...]:
        """In the order of the columns."""
        return tuple(vars(self).values())

    def amounts(self, sign: int) -> tuple[int, ...]:
        """What it adds to a sum: itself as one job, its CPU time and energies."""
        return tuple(sign * one for one in (1, self.cpu_us, self.mj, self.low_mj, self.high_mj))


class Store:
    """An open store.

    Raises:
        LullError: The file cannot be opened, is no store, or one of another version.
    """

    def __init__(self, path: Path) -> None:
        self._asked = f"open the store {path}"
        self.names = Names(self)
        try:
            self.db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise LullError(self._asked, str(error), "see whether its folder exists and is writable") from error
        self.archive = Archive(self.db, path)
        try:
            self._prepare()
        except BaseException:
            self.db.close()
            raise

    def _prepare(self) -> None:
        try:
            [(version,)] = self.db.execute("pragma user_version")
            if version == 0:
                self.db.execute("pragma journal_mode = wal")
                with self.transaction():
                    [(version,)] = self.db.execute("pragma user_version")  # another process may have been faster
                    [(count,)] = self.db.execute("select count(*) from sqlite_master")
                    if version == 0 and count:
                        raise LullError(self._asked, "it is a database of another program", "name another file")
                    if version == 0:
                        for statement in tables.TABLES.split(";"):
                            self.db.execute(statement)
                        version = 1
                        self.db.execute("pragma user_version = 1")
            if version == 1:
                with self.transaction():
                    self.db.execute(tables.ARCHIVES)
                    self.db.execute(f"pragma user_version = {tables.VERSION}")
                version = tables.VERSION
            self.db.execute("pragma synchronous = full")
        except sqlite3.Error as error:
            raise LullError(self._asked, str(error), "name another file") from error
        if version != tables.VERSION:
            raise LullError(self._asked, f"its tables have version {version}", f"this Lull needs {tables.VERSION}")

    def close(self) -> None:
        """Close it."""
        self.db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All statements within it, or none."""
        self.db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self.names.forget()
            if self.db.in_transaction:  # SQLite itself has rolled back if the disk is full
                self.db.execute("rollback")
            raise
        self.db.execute("commit")

    def ingest(self, rows: Sequence[Row]) -> Ingested:
        """Store rows. A row whose cluster, job, restart and node are known is not stored again.

        Raises:
            LullError: The disk is full, or the file cannot be written; then none of them is stored.
        """
        done = Ingested()
        try:
            with self.transaction():
                jobs = _Changes(self)
                for place, row in enumerate(rows):
                    key = (row.job, self.names.id(row.cluster), row.restart)
                    run, found = jobs.get(key)
                    if found is not None and found.uid != row.uid:
                        done.refused.append((place, f"uid: this job is of user {found.uid}, not {row.uid}"))
                    elif not (found and self.archive.has(run, row.node)) and self._add_row(run, row):
                        jobs.set(key, _added(found, row, self.names.id(row.project)))
                        done.stored += 1
                    else:
                        done.known += 1
                jobs.write()
        except sqlite3.Error as error:
            raise LullError(f"store {len(rows)} rows", str(error), "see whether the disk is full") from error
        except OverflowError as error:  # a job of many rows with impossible numbers
            raise LullError(f"store {len(rows)} rows", str(error), "see which node sends impossible rows") from error
        return done

    def _add_row(self, run: int, row: Row) -> bool:
        """Whether it is new."""
        node = self.names.id(row.node)
        values = (row.begin_us, row.end_us, row.cpus, row.memory_mib, row.cpu_us, _bits(row))
        new = self.db.execute("insert or ignore into nodes values (?,?,?,?,?,?,?,?)", (run, node, *values))
        if not new.rowcount:
            return False
        self.db.executemany(
            "insert into energy values (?,?,?,?,?,?,?,?,?)",
            [
                (run, node, self.names.id(domain), KINDS.index(one.kind), *_microjoules(one))
                for domain, one in row.energy.items()
            ],
        )
        return True


class _Changes:
    """The jobs that some rows change, and the sums that change with them."""

    def __init__(self, store: Store) -> None:
        self._db = store.db
        self._runs: dict[_Key, int] = {}
        self._before: dict[_Key, JobSum | None] = {}
        self._after: dict[_Key, JobSum] = {}
        [(self._newest,)] = self._db.execute("select coalesce(max(run), 0) from jobs")

    def get(self, key: _Key) -> tuple[int, JobSum | None]:
        """The number of a run of a job, and what is known of it."""
        if key not in self._runs:
            found = self._db.execute(
                f"select {tables.JOB_COLUMNS} from jobs where job = ? and cluster = ? and restart = ?", key
            ).fetchone()
            self._before[key] = JobSum(*found[1 + len(key) :]) if found else None
            self._newest += found is None
            self._runs[key] = found[0] if found else self._newest
        return self._runs[key], self._after.get(key, self._before[key])

    def set(self, key: _Key, job: JobSum) -> None:
        """Change a job that get() has returned."""
        self._after[key] = job

    def write(self) -> None:
        """Write jobs, and add what they have changed to the sums."""
        self._db.executemany(
            f"insert or replace into jobs values ({','.join('?' * 16)})",
            [(self._runs[key], *key, *job.values()) for key, job in self._after.items()],
        )
        days: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0] * 5)
        for key, after in self._after.items():
            for sign, job in ((-1, self._before[key]), (1, after)):
                if job is not None:
                    place = (job.begin_us // DAY_US, job.kind, job.uid, job.project)
                    days[place] = [a + b for a, b in zip(days[place], job.amounts(sign), strict=True)]
        months: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0] * 5)
        for (day, *rest), amounts in days.items():
            month = (month_of(day), *rest)
            months[month] = [a + b for a, b in zip(months[month], amounts, strict=True)]
        self._add("days", "day", days)
        self._add("months", "month", months)

    def _add(self, table: str, period: str, sums: dict[tuple[int, ...], list[int]]) -> None:
        changed = [(*key, *amounts) for key, amounts in sums.items() if any(amounts)]
        key = f"{period}, kind, uid, project"
        added = ", ".join(f"{one} = {one} + excluded.{one}" for one in ("jobs", "cpu_us", "mj", "low_mj", "high_mj"))
        self._db.executemany(
            f"insert into {table} values (?,?,?,?,?,?,?,?,?) on conflict ({key}) do update set {added}", changed
        )
        emptied = [row[:4] for row in changed if row[4] < 0]
        self._db.executemany(
            f"delete from {table} where {period} = ? and kind = ? and uid = ? and project = ? and jobs = 0", emptied
        )


class Names:
    """The numbers of texts that repeat."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ids: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def id(self, name: str) -> int:
        """The number of a text, which gets one if it has none."""
        if (known := self.find(name)) is not None:
            return known
        self._store.db.execute("insert into names (name) values (?)", (name,))
        found = self.find(name)
        assert found is not None
        return found

    def find(self, name: str) -> int | None:
        """The number of a text; None if it has none."""
        if name not in self._ids:
            row = self._store.db.execute("select id from names where name = ?", (name,)).fetchone()
            if row is None:
                return None
            self._ids[name] = row[0]
        return self._ids[name]

    def of(self, number: int) -> str:
        """The text of a number."""
        if number not in self._names:
            [(name,)] = self._store.db.execute("select name from names where id = ?", (number,))
            self._names[number] = name
        return self._names[number]

    def forget(self) -> None:
        """Forget the numbers, because a transaction that gave some of them has failed."""
        self._ids.clear()
        self._names.clear()


def flags_of(bits: int) -> list[str]:
    """The names of flags."""
    return [flag for place, flag in enumerate(ALL_FLAGS) if bits >> place & 1]


def kind_of(number: int) -> EnergyKind | None:
    """The kind of an energy; None: no meter counted it."""
    return None if number == NO_METER else KINDS[number]


def _microjoules(one: DomainEnergy) -> tuple[int, ...]:
    return one.active_uj, one.held_uj, one.overhead_uj, one.low_uj, one.high_uj


def _bits(row: Row) -> int:
    # Without any meter, energy is missing.
    return sum(1 << ALL_FLAGS.index(flag) for flag in row.known_flags) | (0 if row.energy else GAP)


def _added(job: JobSum | None, row: Row, project: int) -> JobSum:
    """The job with one more of its rows. The project is that of the first row."""
    energies = row.energy.values()
    mj, low_mj, high_mj = (
        round(sum(amounts) / UJ_PER_MJ)
        for amounts in (
            [one.uj for one in energies],
            [one.low_uj for one in energies],
            [one.high_uj for one in energies],
        )
    )
    kind = max((KINDS.index(one.kind) for one in energies), default=NO_METER)
    flags = _bits(row)
    if job is None:
        return JobSum(
            row.uid, project, row.begin_us, row.end_us, row.nodes, 1, row.cpu_us, mj, low_mj, high_mj, kind, flags
        )
    return JobSum(
        job.uid,
        job.project,
        min(job.begin_us, row.begin_us),
        max(job.end_us, row.end_us),
        max(job.nodes, row.nodes),
        job.rows + 1,
        job.cpu_us + row.cpu_us,
        job.mj + mj,
        job.low_mj + low_mj,
        job.high_mj + high_mj,
        max(job.kind, kind),
        job.flags | flags,
    )
