"""What `lull jobs` prints, as tables, CSV and a page."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import pytest

from browser import Browser, browser
from job_collector import ALICE, BOB, EXAMPLES, example_rows, row
from lull.jobs.answers import answer
from lull.jobs.describe import View, clock, describe, describe_page, job_lines, jobs_table, parts_table, sums_table
from lull.jobs.price import Carbon, Price, Prices, grams, money
from lull.jobs.question import Answer, Question
from lull.jobs.rows import read_row
from lull.jobs.store import Store
from lull.jobs.visible import Rights, visible_to
from lull.present.csv_text import as_csv
from lull.present.document import Table
from lull.present.page import as_page

VIEW = View(UTC, {ALICE: "alice", BOB: "bob"}.__getitem__)
PRICES = Prices(
    price=Price(per_kwh=0.25, currency="EUR", source="contract of 2026"),
    carbon=Carbon(g_per_kwh=400, source="the supplier"),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "jobs.sqlite") as made:
        made.ingest(example_rows())
        yield made


def ask(store: Store, prices: Prices | None = None, uid: int = 0, **question: object) -> tuple[Answer, Question]:
    asked = Question.model_validate(question)
    found = answer(store, asked, visible_to(uid, Rights()))
    return found.model_copy(update={"prices": prices or Prices()}), asked


def shown(table: Table) -> list[list[str]]:
    """The headings and rows that people see."""
    places = [place for place, column in enumerate(table.columns) if column.shown]
    rows = [[one.cells[place].text for place in places] for one in table.rows]
    return [[table.columns[place].title for place in places], *rows]


def text(table: Table) -> str:
    return "\n".join(map("|".join, shown(table)))


def page_of(found: Answer, asked: Question) -> str:
    return as_page(describe_page(found, asked, View(UTC, str)), "1")


def test_the_table_of_jobs(store: Store) -> None:
    found, _ = ask(store, PRICES, ask="jobs")
    assert text(jobs_table(found, VIEW)) == (EXAMPLES.parent / "jobs.txt").read_text().rstrip("\n")


def test_columns_that_say_nothing_are_left_out(store: Store) -> None:
    found, _ = ask(store, uid=ALICE, ask="jobs", project="physics")
    assert shown(jobs_table(found, VIEW))[0] == [
        "job", "project", "began", "nodes", "time", "energy", "interval", "kind", "note",
    ]  # fmt: skip


def test_a_job_whose_rows_are_still_under_way_says_so(store: Store) -> None:
    store.ingest([read_row(row("9", nodes=3))])
    found, _ = ask(store, ask="job", job="9")
    assert shown(jobs_table(found, VIEW))[1][-1] == "1 of 3 nodes so far"


def test_one_job_by_node_and_domain_with_what_it_held_and_did_not_use(store: Store) -> None:
    found, _ = ask(store, ask="job", job="4711")
    assert job_lines(found.jobs[0], VIEW) == [
        "job 4711 of cluster blue: user alice, project physics; began 2026-11-28 17:46, took 0:00:41",
        "energy 1.92 Wh (1.67–2.11 Wh), derived",
        "shared a node",
    ]
    assert text(parts_table(found.jobs[0], found.parts, found.nodes)) == (
        "node|CPUs|CPU time|domain|energy|interval|active|idle held|rest|kind\n"
        "n1|4|0:02:31|dram|83.6 mWh|81.9–85.3 mWh|58.3 mWh|25.0 mWh|278 µWh|vendor-model\n"
        "n1|||package|1.21 Wh|1.20–1.22 Wh|861 mWh|333 mWh|14.4 mWh|vendor-model\n"
        "n2|2|0:01:15|dram|40.3 mWh|25.0–52.8 mWh|27.8 mWh|12.5 mWh|0 Wh|derived\n"
        "n2|||package|583 mWh|361–750 mWh|417 mWh|167 mWh|0 Wh|derived"
    )


def test_restarts_of_a_job_have_a_table_each(store: Store) -> None:
    found, _ = ask(store, ask="job", job="4712")
    assert [one.restart for one in found.jobs] == [0, 1]
    assert [len(parts_table(one, found.parts, found.nodes).rows) for one in found.jobs] == [1, 1]


def test_a_node_without_meters_is_not_metered_rather_than_0(store: Store) -> None:
    store.ingest([read_row(row("9", energy={}, cpus=0))])
    found, _ = ask(store, PRICES, ask="job", job="9")
    assert text(parts_table(found.jobs[0], found.parts, found.nodes)).endswith("|–|0:00:01|–|–|–|–|–|–|not metered")
    assert shown(jobs_table(found, VIEW))[1][-6:] == ["–", "–", "not metered", "–", "–", "lower bound"]


def test_sums_have_a_line_for_each_kind(store: Store) -> None:
    found, asked = ask(store, PRICES, ask="sums", by="user")
    assert asked.by
    assert text(sums_table(found, asked.by, VIEW)) == (
        "user|jobs|CPU time|energy|interval|kind|cost|CO2e\n"
        "alice|2|0:03:46|1.95 Wh|1.70–2.17 Wh|derived|< 0.01 EUR|0.780 g\n"
        "bob|1|0:00:10|103 mWh|97.2–108 mWh|vendor-model|< 0.01 EUR|0.0411 g\n"
        "bob|1|0:00:01|20.1 mWh|5.56–52.8 mWh|derived|< 0.01 EUR|0.00802 g"
    )


def test_prices_name_their_source_and_are_absent_without_one() -> None:
    assert PRICES.notes() == ["cost at 0.25 EUR/kWh: contract of 2026", "CO2e at 400 g/kWh: the supplier"]
    assert PRICES.cells(3.6e6) == ["0.25 EUR", "400 g"]
    assert PRICES.cells(None) == ["–", "–"]
    assert Prices().headings() == Prices().cells(3.6e6) == Prices().notes() == []


def test_forms_of_numbers() -> None:
    assert [money(one) for one in (1234.5, 0.1, 0.0123, 0.004, 0)] == ["1234.50", "0.10", "0.01", "< 0.01", "0.00"]
    assert [grams(one) for one in (0.5, 999, 1500, 2.5e6)] == ["0.500 g", "999 g", "1.50 kg", "2.50 t"]
    assert [clock(one).text for one in (0, 59.6, 3661, 360_000)] == ["0:00:00", "0:01:00", "1:01:01", "100:00:00"]


def test_csv_has_exact_numbers_and_the_names_of_users(store: Store) -> None:
    found, asked = ask(store, ask="jobs")
    read = list(csv.DictReader(io.StringIO(as_csv(describe(found, asked, VIEW)))))
    assert len(read) == 4
    assert read[3] == {
        "job": "4711", "restart": "0", "cluster": "blue", "uid": "64001", "user": "alice", "project": "physics",
        "began": "2026-11-28 17:46", "nodes": "2", "time_s": "41.278854", "cpu_time_s": "226.3", "energy_j": "6898.0",
        "energy_j_low": "5995.0", "energy_j_high": "7588.0", "kind": "derived", "note": "shared a node",
    }  # fmt: skip
    sums, asked = ask(store, ask="sums", by="project")
    header = as_csv(describe(sums, asked, VIEW)).splitlines()[0]
    assert header == "project,jobs,cpu_time_s,energy_j,energy_j_low,energy_j_high,kind"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize(("width", "form"), [(390, "block"), (768, "block"), (1100, "table"), (1400, "table")])
def test_the_page_fits_into_every_window(
    store: Store, tmp_path: Path, chromium: Browser, width: int, form: str
) -> None:
    store.ingest([read_row(row("9", nodes=3, project="computational-fluid-dynamics"))])
    page = tmp_path / "jobs.html"
    for question in ({"ask": "jobs"}, {"ask": "sums", "by": "project"}, {"ask": "job", "job": "4711"}):
        page.write_text(page_of(*ask(store, PRICES, **question)))
        chromium.open(page, width)
        assert [chromium.barriers(width, scheme) for scheme in ("light", "dark")] == [[], []]
        assert chromium.run(
            "[...document.querySelectorAll('.scroll')].every(box => box.scrollWidth <= box.clientWidth)"
        )
        chromium.screenshot(tmp_path / f"{question['ask']}.png")
    page.write_text(page_of(*ask(store, PRICES, ask="jobs")))
    chromium.open(page, width)
    assert chromium.run("getComputedStyle(document.querySelector('table')).display") == form
    chromium.point_at("thead th:nth-child(8) button", click=True)  # the energy
    energies = chromium.run("[...document.querySelectorAll('tbody td:nth-child(8)')].map(one => Number(one.dataset.v))")
    assert energies == sorted(energies)
    assert chromium.run("document.querySelector('tbody td:nth-child(8)').dataset.label") == "energy"


@pytest.mark.xdist_group("browser")
def test_the_page_shows_and_sorts_the_table_without_network(store: Store, tmp_path: Path, chromium: Browser) -> None:
    store.ingest([read_row(row("<b>9</b>", project="&amp; <script>alert(1)</script>", uj=7_200_000_000_000))])
    found, asked = ask(store, PRICES, ask="jobs")
    page = tmp_path / "jobs.html"
    page.write_text(page_of(found, asked))
    chromium.open(page)
    jobs = "[...document.querySelectorAll('tbody th')].map(one => one.textContent)"
    assert chromium.run(jobs) == ["f2Xs9", "4712 (restart 1)", "4712", "4711", "<b>9</b>"]
    assert "2.00 kWh" in chromium.run("document.body.textContent")
    assert "cost at 0.25 EUR/kWh: contract of 2026" in chromium.run("document.body.textContent")
    place = shown(jobs_table(found, VIEW))[0].index("energy") + 1
    chromium.point_at(f"thead th:nth-child({place}) button", click=True)
    assert chromium.run(jobs) == ["4712", "f2Xs9", "4712 (restart 1)", "4711", "<b>9</b>"]
    chromium.screenshot(tmp_path / "jobs.png")
    for question in ({"ask": "sums", "by": "day"}, {"ask": "job", "job": "4711"}, {"ask": "jobs", "project": "none"}):
        page.write_text(page_of(*ask(store, PRICES, **question)))
        chromium.open(page)
        chromium.screenshot(tmp_path / f"{'-'.join(question.values())}.png")
    assert "no jobs that you may see" in chromium.run("document.body.textContent")
    assert chromium.complaints == []
