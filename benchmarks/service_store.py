"""The store of jobs in `make bench-service`: three million jobs of a year, in a file of its own that is removed.

Their rows in `jobs` are made at random with a seed: 2,000 users, of whom some have most of the jobs, and 300 projects.
`days` and `months` follow from them. Rows are then stored as the collector stores them, in messages of 200, and
questions are answered as it answers them: an open file, the query, and the answer as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from job_collector import row, site
from lull.base.energy_kind import EnergyKind
from lull.jobs.answers import answer
from lull.jobs.connection import as_line
from lull.jobs.credential import Munge
from lull.jobs.periods import DAY_US, month_of
from lull.jobs.question import MOST_ROWS, Question
from lull.jobs.rows import read_row
from lull.jobs.store import Store
from lull.jobs.visible import Rights, Visible, visible_to

JOBS = 3_000_000
DAYS = 365
BEGIN = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
ROWS = 20_000
QUESTIONS = 9
INDEXES = {
    "jobs_by_name": "jobs (job, cluster, restart)",
    "jobs_by_user": "jobs (uid, begin_us)",
    "jobs_by_project": "jobs (project, begin_us)",
    "jobs_by_time": "jobs (begin_us)",
}
SUMS = "count(*), sum(cpu_us), sum(mj), sum(low_mj), sum(high_mj)"


def store_figures() -> dict[str, float]:
    """The figures of the store."""
    with tempfile.TemporaryDirectory(prefix="lull-store-") as folder:
        path = Path(folder) / "jobs.sqlite"
        with Store(path) as store:
            busiest = _fill(store)
            rows_per_s, bytes_of_row = _ingest(store)

        def ask(visible: Visible, **question: Any) -> Callable[[], bytes]:
            def one() -> bytes:
                with Store(path) as store:
                    return as_line(answer(store, Question.model_validate(question), visible))

            return one

        root = visible_to(0, Rights())
        year = {"ask": "sums", "since_s": BEGIN, "until_s": BEGIN + DAYS * 86_400}
        return {
            "row_bytes": _wire_bytes(),
            "store_bytes_per_row": round(bytes_of_row, 1),
            "ingest_rows_per_s": round(rows_per_s),
            "query_ms_last50_3m_jobs": _ms(ask(visible_to(busiest, Rights()), ask="jobs", most=50)),
            "query_ms_sum_year": max(_ms(ask(root, by=by, **year)) for by in ("user", "project")),
            "query_ms_days_of_year": _ms(ask(root, by="day", **year)),
        }


def _fill(store: Store) -> int:
    """Three million jobs. Returns the user who has most of them."""
    chance = np.random.default_rng(1)
    uid = 20_000 + np.minimum(chance.zipf(1.5, JOBS) - 1, 1999)
    projects = [store.names.id(f"project {number}") for number in range(300)]
    cluster = store.names.id("blue")
    begin_us = np.sort(chance.integers(0, DAYS * DAY_US, JOBS)) + BEGIN * 1_000_000
    seconds = chance.lognormal(6, 2, JOBS).clip(1, 172_800)
    mj = (seconds * chance.normal(400, 90, JOBS).clip(120, 900) * 1000).astype(np.int64)
    kind = np.where(chance.random(JOBS) < 0.7, 1, 2)

    def rows() -> Iterator[tuple[Any, ...]]:
        columns = (uid, begin_us, (seconds * 1e6).astype(np.int64), mj, kind)
        listed = zip(*(one.tolist() for one in columns), strict=True)
        for run, (user, begin, time_us, energy, of_kind) in enumerate(listed, 1):
            project = projects[user * 7919 % 300]
            yield (
                *(run, str(5_000_000 + run), cluster, 0, user, project, begin, begin + time_us, 1, 1),
                *(time_us, energy, energy * 99 // 100, energy * 101 // 100, of_kind, 0),
            )

    db = store.db
    for name in INDEXES:
        db.execute(f"drop index {name}")
    with store.transaction():
        db.executemany(f"insert into jobs values ({','.join('?' * 16)})", rows())
    for name, columns in INDEXES.items():
        db.execute(f"create {'unique ' * (name == 'jobs_by_name')}index {name} on {columns}")
    db.create_function("month_of", 1, month_of, deterministic=True)
    with store.transaction():
        db.execute(
            f"insert into days select begin_us / {DAY_US} as day, kind, uid, project, {SUMS} from jobs"
            " group by day, kind, uid, project"
        )
        db.execute(
            "insert into months select month_of(day) as month, kind, uid, project, sum(jobs), sum(cpu_us), sum(mj),"
            " sum(low_mj), sum(high_mj) from days group by month, kind, uid, project"
        )
    return 20_000


def _rows() -> list[dict[str, Any]]:
    """Rows of new jobs at the end of the year, each on two nodes with three domains."""
    begin = (BEGIN + (DAYS - 1) * 86_400) * 1_000_000
    found = []
    for number in range(ROWS // 2):
        one = row(str(9_000_000 + number), uid=20_000 + number % 2000, project=f"project {number % 300}", nodes=2)
        uj = 123_456_789_012 + number
        parts = {"kind": EnergyKind.VENDOR_MODEL.value, "active_uj": uj, "held_uj": uj // 3, "overhead_uj": 0}
        domain = parts | {"low_uj": uj, "high_uj": uj * 2}
        one |= {"begin_us": begin + number, "end_us": begin + number * 1000, "memory_mib": 65_536}
        one |= {"energy": dict.fromkeys(("package", "dram", "gpu"), domain)}
        found += [one | {"node": f"node{number % 1000:04}"}, one | {"node": f"node{(number + 1) % 1000:04}"}]
    return found


def _ingest(store: Store) -> tuple[float, float]:
    """Rows a second, and bytes of the file for each."""
    lines = [json.dumps(one, separators=(",", ":")).encode() for one in _rows()]
    before = _size(store)
    began = time.perf_counter()
    for first in range(0, ROWS, MOST_ROWS):
        done = store.ingest([read_row(line) for line in lines[first : first + MOST_ROWS]])
        assert done.stored == MOST_ROWS
    seconds = time.perf_counter() - began
    return ROWS / seconds, (_size(store) - before) / ROWS


def _size(store: Store) -> int:
    [(pages,)] = store.db.execute("pragma page_count")
    [(page,)] = store.db.execute("pragma page_size")
    return int(pages * page)


def _wire_bytes() -> float:
    """Of a row in a message of 200 that differ, as munge's text; without munge, as if it did not compress."""
    chance = np.random.default_rng(2)
    rows = []
    for number in range(MOST_ROWS):
        one = row(str(4_711_000 + number), node=f"node{number % 40:04}", uid=20_000 + number % 30, memory_mib=65_536)
        one |= {"begin_us": one["begin_us"] + int(chance.integers(10**9)), "cpu_us": int(chance.integers(10**12))}
        parts = ("active_uj", "held_uj", "overhead_uj", "low_uj", "high_uj")
        for domain in ("package", "dram"):
            one["energy"][domain] = {"kind": "vendor-model"} | {part: int(chance.integers(10**12)) for part in parts}
        rows.append(one)
    message = json.dumps({"v": 1, "nonce": "0" * 32, "rows": rows}, separators=(",", ":")).encode()
    if os.geteuid() != 0 or shutil.which("munged") is None:
        return round(len(message) * 4 / 3 / MOST_ROWS, 1)
    with site() as made:
        made.start_munge()
        credential = Munge(str(made.folder / "munge" / "socket")).encode(message, os.geteuid())
    return round(len(credential) / MOST_ROWS, 1)


def _ms(ask: Callable[[], bytes]) -> float:
    """The median CPU time of an answer; the file is in memory."""
    times = []
    for _ in range(QUESTIONS):
        began = time.process_time()
        ask()
        times.append((time.process_time() - began) * 1e3)
    return round(statistics.median(times), 2)
