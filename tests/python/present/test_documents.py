"""A document in each form: what people see, and what programs read."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.base.energy_kind import EnergyKind
from lull.present import cells
from lull.present.coloured import coloured
from lull.present.csv_text import as_csv
from lull.present.document import Cell, Code, Column, Document, Heading, Item, Line, Note, row, slug, table
from lull.present.forms import FORMS, show_result
from lull.present.kinds import COLOURS, MEANINGS
from lull.present.markdown import as_markdown
from lull.present.page import as_fragment, as_page
from lull.present.terminal import as_text
from lull.statistics.bootstrap import Interval

COLUMNS = [
    Column("", words=True, key="side"),
    Column("time", "s"),
    Column("95 %", optional=2, in_data=False),
    Column("unit", words=True, shown=False),
    Column("speedup", words=True, optional=1),
    Column("energy is", words=True, key="kind"),
]


def made() -> Document:
    ratio = cells.ratio(Interval(2.0, 1.9, 2.1))
    rows = [
        row("a|b", cells.si(0.0123, "s"), cells.ends(0.0121, 0.0125, "s"), "s", "", "measured"),
        row("<c>", cells.si(None, "s"), "", "s", ratio, "estimated", tone="good"),
    ]
    parts = (
        Line("Medians.", "aside"),
        table(COLUMNS, rows, title="Sides"),
        Line("c is faster."),
        Note("one machine"),
        Note("one day"),
        Heading("What to do"),
        Code(("export LULL_WAIT=adaptive",)),
        Item("or nothing"),
    )
    return Document("c against a", parts)


def test_plain_text_has_every_part_and_no_colour() -> None:
    assert as_text(made()).splitlines() == [
        "c against a",
        "Medians.",
        "",
        "Sides",
        "        time          95 %  speedup           energy is",
        "a|b  12.3 ms  12.1–12.5 ms                    measured ",
        "<c>        –                2.00 (1.90–2.10)  estimated",
        "",
        "c is faster.",
        "note: one machine",
        "note: one day",
        "",
        "What to do",
        "  export LULL_WAIT=adaptive",
        "  or nothing",
    ]


@pytest.mark.parametrize(("width", "headings"), [(80, 4), (45, 3), (30, 2), (10, 2)])
def test_a_narrow_terminal_omits_optional_columns_the_least_important_first(width: int, headings: int) -> None:
    text = as_text(made(), width)
    there = [name for name in ("time", "95 %", "speedup", "energy is") if name in text]
    assert len(there) == headings or width == 10
    assert ("95 %" in there) <= ("speedup" in there) or width == 10


def test_a_terminal_says_how_many_rows_it_does_not_show() -> None:
    long = table(["name", "n"], [row(str(n), cells.count(n)) for n in range(20)], most=3, of="names")
    text = as_text(Document("", (long,)))
    assert text.splitlines()[-1] == "and 17 more names; --format json has all"
    assert len(as_csv(Document("", (long,))).splitlines()) == 21


def test_csv_has_numbers_with_their_interval_and_what_people_do_not_see() -> None:
    read = list(csv.DictReader(io.StringIO(as_csv(made()))))
    assert read == [
        {"side": "a|b", "time_s": "0.0123", "unit": "s", "speedup": "", "speedup_low": "", "speedup_high": "",
         "kind": "measured"},
        {"side": "<c>", "time_s": "", "unit": "s", "speedup": "2.0", "speedup_low": "1.9", "speedup_high": "2.1",
         "kind": "estimated"},
    ]  # fmt: skip
    assert as_csv(Document("", (Line("nothing"),))) == ""


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=5))
def test_csv_gives_every_number_back(values: list[float]) -> None:
    document = Document("", (table(["n", "value"], [row(str(n), cells.si(one, "J")) for n, one in enumerate(values)]),))
    assert [float(one["value"]) for one in csv.DictReader(io.StringIO(as_csv(document)))] == values


def test_markdown_is_a_table_of_github() -> None:
    assert as_markdown(made()) == (
        "## c against a\n\n"
        "Medians.\n\n"
        "**Sides**\n\n"
        "|  | time | 95 % | speedup | energy is |\n"
        "| --- | ---: | ---: | --- | --- |\n"
        "| a\\|b | 12.3 ms | 12.1–12.5 ms |  | measured |\n"
        "| &lt;c> | – |  | 2.00 (1.90–2.10) | estimated |\n\n"
        "c is faster.\n\n"
        "- note: one machine\n"
        "- note: one day\n\n"
        "## What to do\n\n"
        "```sh\nexport LULL_WAIT=adaptive\n```\n\n"
        "- or nothing\n"
    )


@pytest.mark.parametrize("text", [as_page(made(), "1.0"), as_fragment(made())])
def test_html_escapes_texts_explains_kinds_and_loads_nothing(text: str) -> None:
    assert "&lt;c&gt;" in text
    assert f'title="{MEANINGS[EnergyKind.ESTIMATED]}"' in text.replace("&#39;", "'")
    assert 'data-v="0.0123"' in text
    assert "unit" not in text.partition("<tbody>")[0].partition("<thead>")[2]
    assert "://" not in text
    assert ("<script>" in text) == ("<html" in text)


@pytest.mark.parametrize("form", FORMS)
def test_a_result_is_printed_in_each_form(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    show_result(form, made, lambda: json.dumps({"side": "c"}))
    out = capsys.readouterr().out
    assert "c" in out
    assert (json.loads(out) == {"side": "c"}) if form == "json" else "measured" in out


def test_each_kind_has_a_meaning_and_a_colour() -> None:
    assert set(MEANINGS) == set(COLOURS) == set(EnergyKind)
    assert coloured([("node ", "plain"), (" estimated", "plain")], 40) == "node \x1b[33m estimated\x1b[0m"
    assert coloured([("a long line", "strong")], 6) == "\x1b[1ma lon…\x1b[0m"


def test_a_row_has_a_cell_for_each_column() -> None:
    with pytest.raises(AssertionError):
        table(["a", "b"], [row("1")])


@pytest.mark.parametrize(
    ("text", "name"),
    [("run time s", "run_time_s"), ("CPU use %", "cpu_use_percent"), ("ED²P J·s²", "ed2p_j_s2"), ("B/s", "b_per_s")],
)
def test_names_in_data(text: str, name: str) -> None:
    assert slug(text) == name
    assert Column("", key="x").name == "x"
    assert Column("run time", "s").name == "run_time_s"


def test_what_is_not_known_is_a_dash_without_a_number() -> None:
    unknown = [cells.si(None, "J"), cells.share(None), cells.count(None), cells.number(None), cells.decimal(None, 1)]
    assert unknown == [Cell("–")] * 5
    assert [cells.ratio(None), cells.shift(None, "s"), cells.probability(None), cells.ends(None, 1, "s")] == [
        Cell("")
    ] * 4


def test_csv_of_equal_tables_is_one_table() -> None:
    first, second = (table(["name", "n"], [row(f"  {name}  ", cells.count(n))]) for n, name in enumerate("ab"))
    other = table(["name"], [row("c")])
    assert as_csv(Document("", (first, other, second))) == "name,n\na,0\nb,1\n"


def test_a_page_always_has_a_title() -> None:
    assert "<h1>Power</h1>" in as_page(Document("", (), "Power"), "1")
    assert "<h1>x</h1>" in as_page(Document("x", (), "Power"), "1")
