"""The report in use: sorting by pointer and key, accessible marks, narrow screens, paper."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import records
from browser import Browser, browser
from lull.report.write import write_report
from records import NOON, TIMES, faster, run

SOON = NOON + timedelta(seconds=30)
PAPER_PX = 688  # A4 without its margins, at 96 px an inch
SPEEDUPS = "[...document.querySelectorAll('#ratios table.sortable tbody tr')].map(r => r.cells[0].textContent.trim())"
HEAD = "#ratios table.sortable thead th:nth-child(2)"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every possible part."""
    folder = tmp_path_factory.mktemp("report")
    options = {"regions": {"setup": 0.3, "updates": 0.7}, "wire_bytes": 10**9}
    for name, by, watts, nodes in (
        ("poll", 1.0, 200, 1),
        ("adaptive with a name as long as people like to give", 2.0, 240, 1),
        ("interrupt", 0.9, 150, 1),
        ("poll-4", 0.8, 820, 4),
    ):
        of = run(
            name,
            faster(TIMES, by),
            watts,
            start=SOON,
            nodes=[f"n{i}" for i in range(nodes)],
            factors={"nodes": nodes},
            settings={
                "LULL_WAIT": name.split()[0].partition("-")[0],
                "LULL_A_LONG_ONE": "/some/where/deep/in/a/tree/that/goes/on/for/ever",
            },
            **options,
        )
        of = of.model_copy(update={"idle": [one for i in range(nodes) for one in records.idle(90.0, node=f"n{i}")]})
        waiting = records.waiting({("put", 1 << size): 0.1 * size for size in range(3, 20)}, policy="interrupt+dvfs")
        records.write(folder / name.replace(" ", "-"), records.with_waiting(of, waiting))
    write_report([folder], folder / "report.html", baseline=folder / "poll")
    return folder / "report.html"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def shown(chromium: Browser, page: Path) -> Iterator[Browser]:
    """The page, newly loaded; after each use it must have reported no error and requested nothing."""
    chromium.open(page)
    yield chromium
    assert chromium.complaints == []


def test_a_click_on_a_head_sorts_and_another_turns_it_round(shown: Browser):
    shown.point_at(f"{HEAD} button", click=True)
    up = shown.run(SPEEDUPS)
    assert up[0] == "poll-4"
    assert up[-1].startswith("adaptive")
    assert shown.run(f"document.querySelector('{HEAD}').getAttribute('aria-sort')") == "ascending"
    shown.point_at(f"{HEAD} button", click=True)
    assert shown.run(SPEEDUPS) == up[::-1]
    assert shown.run(f"document.querySelector('{HEAD}').getAttribute('aria-sort')") == "descending"


def test_tab_reaches_the_heads_and_enter_sorts(shown: Browser):
    shown.run("document.querySelector('#ratios .scroll').focus()")
    for _ in range(2):
        shown.press("Tab")
    assert shown.run("document.activeElement.textContent") == "Speedup"
    shown.press("Enter")
    assert shown.run(SPEEDUPS)[0] == "poll-4"
    shown.press("Enter")
    assert shown.run(SPEEDUPS)[-1] == "poll-4"
    heads = shown.run("[...document.querySelectorAll('#ratios [aria-sort]')].map(h => h.getAttribute('aria-sort'))")
    assert heads.count("none") == len(heads) - 1


def test_words_sort_as_words_and_every_table_keeps_its_rows(shown: Browser):
    rows = "[...document.querySelectorAll('table.sortable')].map(t => t.tBodies[0].rows.length)"
    before = shown.run(rows)
    shown.run("document.querySelectorAll('table.sortable thead th:first-child button').forEach(b => b.click())")
    assert shown.run(rows) == before
    assert shown.run(SPEEDUPS) == sorted(shown.run(SPEEDUPS))


def test_a_mark_speaks_when_it_is_pointed_at(shown: Browser):
    assert shown.run("document.getElementById('tip').hidden")
    shown.point_at("#ratios svg .tip")
    assert not shown.run("document.getElementById('tip').hidden")
    assert "Speedup 2.00 (1.97–2.03)" in shown.run("document.getElementById('tip').textContent")
    shown.point_at("h1")
    assert shown.run("document.getElementById('tip').hidden")


def test_a_mark_speaks_when_the_keyboard_reaches_it(shown: Browser):
    shown.run("document.querySelector('#scaling svg .tip').focus()")
    assert "N = 1: energy each, vendor-model, 2.00 kJ" in shown.run("document.getElementById('tip').textContent")
    shown.press("Escape")
    assert shown.run("document.getElementById('tip').hidden")


def test_a_tip_stays_within_the_window(shown: Browser):
    shown.resize(420)
    for place in range(shown.run("document.querySelectorAll('#ratios svg .tip').length")):
        shown.run(f"document.querySelectorAll('#ratios svg .tip')[{place}].focus()")
        box = shown.run("(b => [b.left, b.right])(document.getElementById('tip').getBoundingClientRect())")
        assert 0 <= box[0] < box[1] <= 420


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_no_screen_scrolls_sideways_as_a_whole(shown: Browser, width: int):
    shown.resize(width)
    assert shown.run("document.documentElement.scrollWidth") <= width


def test_paper_cuts_no_table_and_shows_what_is_folded(shown: Browser):
    shown.call("Emulation.setEmulatedMedia", media="print")
    shown.resize(PAPER_PX)
    shown.run("dispatchEvent(new Event('beforeprint'))")
    cut = shown.run(
        "[...document.querySelectorAll('table, figure svg')].filter(t => t.getBoundingClientRect().right >"
        " document.querySelector('main').getBoundingClientRect().right + 1 || t.scrollWidth > t.clientWidth + 1)"
        ".map(t => t.closest('section').id)"
    )
    assert cut == []
    assert shown.run("[...document.querySelectorAll('details')].every(d => d.open)")
    assert shown.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert len(shown.call("Page.printToPDF", preferCSSPageSize=True)["data"]) > 10_000
