"""The store: each row once, sums that follow from the rows, and answers that contain only what is visible."""

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from job_collector import ALICE, BOB, example_rows, row
from lull.base.errors import LullError
from lull.jobs.answers import answer
from lull.jobs.periods import DAY_US
from lull.jobs.question import Answer, Question
from lull.jobs.rows import Row, read_row
from lull.jobs.store import Store
from lull.jobs.visible import Rights, visible_to
from lull.record import EnergyKind

ROOT = visible_to(0, Rights())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "jobs.sqlite") as made:
        yield made


def rows(*contents: dict[str, Any]) -> list[Row]:
    return [read_row(one) for one in contents]


def ask(store: Store, visible: Any = ROOT, **question: Any) -> Answer:
    return answer(store, Question(**question), visible)


def test_a_job_is_the_sum_of_its_rows_with_the_weakest_kind(store: Store) -> None:
    assert store.ingest(example_rows()).stored == 5
    [job] = ask(store, ask="job", job="4711").jobs
    assert job.joules == 6898
    assert (job.low_j, job.high_j) == (5995, 7588)
    assert job.kind is EnergyKind.DERIVED
    assert (job.nodes, job.rows, job.cpu_us) == (2, 2, 226_300_000)
    assert (job.begin_us, job.end_us) == (1795888000123456, 1795888041402310)
    assert job.flags == ["shared"]


def test_the_order_and_repetition_of_rows_change_nothing(tmp_path: Path) -> None:
    chance = random.Random(7)
    contents = []
    for job in range(30):
        begin = 1_795_888_000_000_000 + chance.randrange(70) * DAY_US // 2
        contents += [
            row(
                str(job),
                node=f"n{node}",
                begin_us=begin - chance.randrange(2) * DAY_US,
                uid=ALICE + job % 3,
                project="ab"[job % 2],
                kind=chance.choice(["vendor-model", "derived", "measured"]),
                uj=chance.randrange(10**9) * 1000,
            )
            for node in range(chance.randrange(1, 4))
        ]
    answers = []
    for name in ("a", "b"):
        with Store(tmp_path / name) as store:
            waiting = contents + contents[::3]
            chance.shuffle(waiting)
            while waiting:
                store.ingest(rows(*waiting[:7]))
                waiting = waiting[7:]
            by = [ask(store, ask="sums", by=one) for one in ("user", "project", "day")]
            answers.append([ask(store, ask="jobs", most=1000), *by])
            total = sum(one["energy"]["package"]["active_uj"] for one in contents) / 1e6
            for one in by:
                assert sum(each.joules for each in one.sums) == pytest.approx(total, rel=1e-12)
                assert sum(each.jobs for each in one.sums) == 30
    assert answers[0] == answers[1]


def test_the_same_row_twice_is_stored_once_even_in_one_message(store: Store) -> None:
    done = store.ingest(rows(row("1"), row("1"), row("2")))
    assert (done.stored, done.known) == (2, 1)
    assert store.ingest(rows(row("1", uj=99))).known == 1
    assert [job.joules for job in ask(store, ask="job", job="1").jobs] == [10]


def test_a_row_of_another_user_does_not_get_into_a_job(store: Store) -> None:
    store.ingest(rows(row("1")))
    done = store.ingest(rows(row("2"), row("1", node="n2", uid=BOB)))
    assert done.stored == 1
    assert done.refused == [(1, f"uid: this job is of user {ALICE}, not {BOB}")]
    assert [job.joules for job in ask(store, ask="job", job="1").jobs] == [10]


def test_a_job_without_any_meter_is_not_metered_rather_than_0(store: Store) -> None:
    store.ingest(rows(row("1", energy={}), row("2"), row("3"), row("3", node="n2", energy={})))
    [job] = ask(store, ask="job", job="1").jobs
    assert job.kind is None
    assert job.flags == ["gap"]
    [partly] = ask(store, ask="job", job="3").jobs
    assert (partly.joules, partly.kind, partly.flags) == (10, EnergyKind.VENDOR_MODEL, ["gap"])
    assert [(one.kind, one.jobs) for one in ask(store, ask="sums", by="user").sums] == [("vendor-model", 2), (None, 1)]


def test_sums_keep_kinds_apart(store: Store) -> None:
    store.ingest(rows(row("1"), row("2", kind="derived"), row("3", kind="derived", uj=1_000_000)))
    found = [(one.project, one.kind, one.jobs, one.joules) for one in ask(store, ask="sums", by="project").sums]
    assert found == [("physics", "derived", 2, 11), ("physics", "vendor-model", 1, 10)]


def test_a_job_moves_to_the_day_of_its_earliest_row(store: Store) -> None:
    later = row("1", begin_us=1_795_888_000_000_000)
    store.ingest(rows(later))
    [before] = ask(store, ask="sums", by="day").sums
    store.ingest(rows(later | {"node": "n2", "begin_us": 1_795_888_000_000_000 - DAY_US}))
    [after] = ask(store, ask="sums", by="day").sums
    assert (before.day, before.joules, after.day, after.joules) == ("2026-11-28", 10, "2026-11-27", 20)
    assert store.db.execute("select count(*) from days").fetchone() == (1,)


def test_users_see_their_own_and_heads_their_projects(store: Store) -> None:
    store.ingest(rows(row("1"), row("2", uid=BOB), row("3", uid=BOB, project="ocean"), row("4", project="ocean")))
    heads = Rights(heads={"ocean": frozenset({ALICE}), "unknown": frozenset({ALICE})})

    def jobs(asker: int, **more: Any) -> list[str]:
        return [job.job for job in ask(store, visible_to(asker, heads), ask="jobs", **more).jobs]

    assert jobs(0) == ["1", "2", "3", "4"]
    assert jobs(ALICE) == ["1", "3", "4"]
    assert jobs(ALICE, uid=BOB) == ["3"]
    assert jobs(ALICE, project="physics") == ["1"]
    assert jobs(BOB) == ["2", "3"]
    assert jobs(BOB, uid=ALICE) == []
    assert jobs(7) == []
    assert [job.job for job in ask(store, visible_to(BOB, heads), ask="job", job="1").jobs] == []
    mine = ask(store, visible_to(BOB, heads), ask="sums", by="project").sums
    assert [(one.project, one.jobs) for one in mine] == [("ocean", 1), ("physics", 1)]
    assert [one.jobs for one in ask(store, visible_to(7, heads), ask="sums", by="day").sums] == []


def test_the_newest_jobs_come_first_and_more_are_announced(store: Store) -> None:
    begin = 1_795_888_000_000_000
    store.ingest(rows(*(row(str(job), begin_us=begin + job * 1_000_000) for job in range(5))))
    found = ask(store, ask="jobs", most=3)
    assert [job.job for job in found.jobs] == ["4", "3", "2"]
    assert found.more
    found = ask(store, ask="jobs", since_s=begin // 1_000_000 + 1, until_s=begin // 1_000_000 + 3)
    assert [job.job for job in found.jobs] == ["2", "1"]
    assert not found.more


def test_sums_of_a_span_are_of_the_jobs_that_began_in_it(store: Store) -> None:
    """From some day in one year to another in the next, over whole months and single days."""
    days = range(20_000, 20_500, 3)
    store.ingest(rows(*(row(str(day), begin_us=day * DAY_US + 5, uj=day * 1_000_000) for day in days)))
    for first, end in ((20_000, 20_500), (20_017, 20_411), (20_030, 20_040), (20_100, 20_100)):
        expected = sum(day for day in days if first <= day < end)
        for by in ("user", "project", "day"):
            found = ask(store, ask="sums", by=by, since_s=first * 86_400, until_s=end * 86_400)
            assert sum(one.joules for one in found.sums) == expected, (first, end, by)


def test_impossible_numbers_of_one_node_leave_the_sums_readable(store: Store) -> None:
    """Root of a node may send anything; the largest that a row may have, often, must not end in an overflow."""
    most = {"kind": "vendor-model", "active_uj": 1 << 56, "held_uj": 1 << 56, "overhead_uj": 1 << 56}
    energy = {f"domain {each}": most | {"low_uj": 0, "high_uj": 1 << 56} for each in range(32)}
    big = {"energy": energy, "cpu_us": 1 << 53, "begin_us": 250_000_000_000_000_000, "end_us": 0}
    for first in range(0, 2000, 200):
        store.ingest(rows(*(row(str(job), **big) for job in range(first, first + 200))))

    def add_to_one_job() -> None:
        for first in range(0, 2000, 200):
            store.ingest(rows(*(row("a", node=f"n{node}", **big) for node in range(first, first + 200))))

    with pytest.raises(LullError, match="impossible rows"):
        add_to_one_job()
    store.ingest(rows(row("9999")))
    for by in ("user", "project", "day"):
        assert sum(one.jobs for one in ask(store, ask="sums", by=by).sums) == 2002
    assert len(ask(store, ask="jobs", most=1000).jobs) == 1000


def test_words_of_a_question_are_values_never_sql(store: Store) -> None:
    store.ingest(rows(row("1"), row("it's", project="' or 1=1 --")))
    bob = visible_to(BOB, Rights(heads={"x' or 1=1 --": frozenset({BOB})}))
    for words in ("1' or '1'='1", "x' or 1=1 --"):
        assert ask(store, bob, ask="job", job=words).jobs == []
        assert ask(store, bob, ask="jobs", project=words).jobs == []
    assert [job.job for job in ask(store, ask="job", job="it's").jobs] == ["it's"]
    assert [job.job for job in ask(store, ask="jobs", project="' or 1=1 --").jobs] == ["it's"]


def test_what_is_sent_while_the_disk_is_full_is_not_half_stored(store: Store) -> None:
    store.ingest(rows(row("0")))
    [(pages,)] = store.db.execute("pragma page_count")
    store.db.execute(f"pragma max_page_count = {pages}")
    many = rows(*(row(str(job), project=f"project {job} " + "x" * 200) for job in range(1, 200)))
    with pytest.raises(LullError, match="store 199 rows: database or disk is full"):
        store.ingest(many)
    assert [job.job for job in ask(store, ask="jobs").jobs] == ["0"]
    store.db.execute("pragma max_page_count = 1000000")
    assert store.ingest(many).stored == 199
    assert sum(one.jobs for one in ask(store, ask="sums", by="user").sums) == 200


def test_what_is_stored_is_there_after_it_is_opened_again(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.ingest(example_rows())
    with Store(tmp_path / "s") as store:
        assert store.ingest(example_rows()).known == 5
        assert len(ask(store, ask="jobs").jobs) == 4


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_text("this is a text, not a database, and it stays one\n" * 20)
    with pytest.raises(LullError, match=r"open the store .*other: file is not a database"):
        Store(path)
    assert path.read_text().startswith("this is a text")
    other = sqlite3.connect(tmp_path / "b")
    other.execute("create table t (a)")
    other.close()
    with pytest.raises(LullError, match="it is a database of another program"):
        Store(tmp_path / "b")
    newer = sqlite3.connect(tmp_path / "c")
    newer.execute("pragma user_version = 7")
    newer.close()
    with pytest.raises(LullError, match="its tables have version 7; this Lull needs 2"):
        Store(tmp_path / "c")
    with pytest.raises(LullError, match="unable to open"):
        Store(tmp_path / "no folder" / "s")
