"""Details of old jobs in Parquet files: answers over both are those from the store alone, and nothing is lost."""

import random
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conftest import Lull
from job_collector import ALICE, BOB, row
from lull.base.errors import LullError
from lull.jobs import archiving
from lull.jobs.answers import answer
from lull.jobs.archiving import archive
from lull.jobs.periods import DAY_US, EPOCH
from lull.jobs.question import Question
from lull.jobs.rows import Row, read_row
from lull.jobs.store import Store
from lull.jobs.visible import Rights, visible_to

FIRST = (date(2026, 1, 1) - EPOCH).days
MARCH = (date(2026, 3, 1) - EPOCH).days


def rows_of_a_quarter() -> list[dict[str, Any]]:
    """Jobs of January to March on one or two nodes; some of them are shared, restarted or without a meter."""
    chance = random.Random(3)
    found = []
    for number in range(60):
        begin = (FIRST + chance.randrange(90)) * DAY_US + chance.randrange(DAY_US)
        job = row(str(number // 2), restart=number % 2, uid=(ALICE, BOB)[number % 2], project="ab"[number % 2])
        job |= {"begin_us": begin, "end_us": begin + chance.randrange(10**10), "uj": 0}
        job.pop("uj")
        for node in range(1 + number % 3 % 2):
            part = job["energy"]["package"] | {"active_uj": chance.randrange(10**9)}
            energy = {"package": part, "dram": part | {"kind": "derived"}} if number % 5 else {}
            found.append(job | {"node": f"n{node}", "energy": energy, "flags": ["shared"] * (number % 2)})
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Store(tmp_path / "jobs.sqlite") as store:
        store.ingest([read_row(one) for one in rows_of_a_quarter()])
    return tmp_path / "jobs.sqlite"


def answers(path: Path) -> list[str]:
    """To questions of an administrator and of a user, about lists, sums and each job."""
    questions: list[dict[str, Any]] = [{"ask": "jobs", "most": 1000}]
    questions += [{"ask": "sums", "by": by} for by in ("user", "project", "day")]
    questions += [{"ask": "job", "job": str(job)} for job in range(30)]
    with Store(path) as store:
        return [
            answer(store, Question(**question), visible_to(uid, Rights())).model_dump_json()
            for uid in (0, ALICE)
            for question in questions
        ]


def stored(path: Path, table: str = "nodes") -> int:
    with Store(path) as store:
        [(count,)] = store.db.execute(f"select count(*) from {table}")
        return int(count)


def archived(path: Path, day: int = MARCH) -> list[str]:
    with Store(path) as store:
        return [file.name for file in archive(store, day).files]


def test_answers_are_the_same_before_and_after(path: Path) -> None:
    before, count = answers(path), stored(path)
    assert archived(path, MARCH + 3) == [
        "2026-01-1.nodes.parquet", "2026-01-1.energy.parquet", "2026-02-1.nodes.parquet", "2026-02-1.energy.parquet",
    ]  # fmt: skip
    assert 0 < stored(path) < count
    assert stored(path, "energy") < 2 * stored(path) + 1
    assert answers(path) == before
    assert archived(path) == []


def test_other_programs_can_read_the_files(path: Path) -> None:
    archived(path)
    table = pq.read_table(path.parent / "jobs-archive" / "2026-01-1.energy.parquet")
    wanted = [
        (one["job"], one["restart"], one["node"], domain, part["active_uj"], part["kind"])
        for one in rows_of_a_quarter()
        if one["begin_us"] < (FIRST + 31) * DAY_US
        for domain, part in one["energy"].items()
    ]
    columns = ("job", "restart", "node", "domain", "active_uj", "kind")
    assert sorted(zip(*(table[name].to_pylist() for name in columns), strict=True)) == sorted(wanted)


def test_rows_that_come_again_are_known_and_new_ones_get_further_files(path: Path) -> None:
    archived(path)
    late = rows_of_a_quarter()[0] | {"node": "late"}
    with Store(path) as store:
        done = store.ingest([read_row(one) for one in [*rows_of_a_quarter(), late]])
    assert (done.stored, done.known) == (1, len(rows_of_a_quarter()))
    before = answers(path)
    month = date.fromordinal(EPOCH.toordinal() + late["begin_us"] // DAY_US).month
    if month < 3:
        assert archived(path)[0] == f"2026-0{month}-2.nodes.parquet"
    assert answers(path) == before
    with Store(path) as store:
        assert store.ingest([read_row(late)]).known == 1


class KilledError(Exception):
    pass


def killed(*_: object) -> None:
    raise KilledError


@pytest.mark.parametrize("place", ["_energy_columns", "_remove"])
def test_a_process_that_is_killed_loses_and_doubles_nothing(
    path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = answers(path)
    with monkeypatch.context() as patch:
        patch.setattr(archiving, place, killed)
        with pytest.raises(KilledError):
            archived(path)
    assert answers(path) == before
    archived(path)
    assert answers(path) == before
    assert stored(path) == sum(one["begin_us"] >= MARCH * DAY_US for one in rows_of_a_quarter())


def test_what_was_half_removed_counts_once_and_goes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = answers(path)
    transaction: Callable[[Store], Any] = Store.transaction
    left = [4]

    def some(store: Store) -> Any:
        left[0] -= 1
        return transaction(store) if left[0] >= 0 else killed()

    with monkeypatch.context() as patch:
        patch.setattr(archiving, "NODES_OF_TURN", 3)
        patch.setattr(Store, "transaction", some)
        with pytest.raises(KilledError):
            archived(path)
    assert answers(path) == before
    archived(path)
    assert answers(path) == before


def test_a_missing_file_is_an_error_rather_than_a_job_without_nodes(path: Path) -> None:
    archived(path)
    for file in (path.parent / "jobs-archive").glob("*.parquet"):
        file.unlink()
    with Store(path) as store, pytest.raises(LullError, match="restore it from a backup"):
        store.ingest([Row.model_validate(one) for one in rows_of_a_quarter()])


def test_a_store_of_the_first_version_gets_the_table(path: Path) -> None:
    with Store(path) as store:
        store.db.execute("drop table archives")
        store.db.execute("pragma user_version = 1")
    before = answers(path)
    archived(path)
    assert answers(path) == before


def test_the_command_keeps_the_last_days_and_says_what_it_wrote(lull: Lull, path: Path) -> None:
    none = lull.run("collect", "--archive", "--keep", "36500", "--store", str(path))
    assert (none.returncode, none.stderr) == (0, "lull: nothing to archive\n")
    done = lull.run("collect", "--archive", "--keep", "1", "--store", str(path))
    first, *files = done.stderr.splitlines()
    assert first == f"lull: details of jobs on {len(rows_of_a_quarter())} nodes moved into 6 files"
    assert files[0] == f"lull: written: {path.parent / 'jobs-archive' / '2026-01-1.nodes.parquet'}"
    wrong = lull.run("collect", "--keep", "3", "--store", str(path))
    assert "it belongs to --archive" in wrong.stderr
    missing = lull.run("collect", "--archive", "--store", "none")
    assert (missing.returncode, "there is no such store" in missing.stderr) == (2, True)
