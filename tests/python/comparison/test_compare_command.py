"""`lull compare` as a user calls it: one or several candidates; on screen, in Markdown, in JSON; as a build's gate."""

from __future__ import annotations

import json
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

import records
from conftest import Lull
from lull import record
from lull.comparison.compare import compare_all
from lull.comparison.result import Comparisons
from lull.record import EnergyKind
from records import TIMES, faster, run

SOON = records.NOON + timedelta(seconds=30)


def made() -> dict[str, record.Run]:
    """A baseline, a candidate that saves, one that wastes and one of few runs."""
    return {
        "a": run("poll", wire_bytes=10**9),
        "b": run("adaptive", faster(TIMES, 2), 240, start=SOON, wire_bytes=10**9),
        "c": run("busy", faster(TIMES, 0.9), 250, start=SOON, wire_bytes=10**9),
        "few": run("few", faster(TIMES, 0.5)[:3], start=SOON),
        "guess": run("guess", kind=EnergyKind.ESTIMATED, start=SOON),
    }


@pytest.fixture
def three(lull: Lull) -> Lull:
    for name, of in made().items():
        records.write(lull.folder / name, of)
    return lull


def test_the_screen_says_what_how_much_and_which_kind(three: Lull):
    done = three.run("compare", "a", "b")
    assert done.returncode == 0, done.stderr
    for words in ("adaptive against poll: whole runs", "2.00 kJ", "vendor-model", "Speedup", "wire, derived"):
        assert words in done.stdout
    for words in ("category 3", "ED²P", "energy per MB", "saved", "50 %", "−5.0", "largely cancels"):
        assert words in done.stdout
    assert "\x1b" not in done.stdout, "plain when piped"
    assert len(done.stdout.splitlines()) <= 24, "one screen"


def test_json_is_by_its_schema(three: Lull):
    told = Comparisons.model_validate_json(three.run("compare", "a", "b", "c", "--format", "json").stdout)
    runs = made()
    assert told.baseline == "poll"
    assert told.comparisons == compare_all(runs["a"], [runs["b"], runs["c"]])
    assert json.loads(three.run("compare", "a", "b", "--format", "json").stdout)["schema"] == 1


def test_several_are_rows_of_one_table(three: Lull):
    text = three.run("compare", "a", "b", "c").stdout
    assert "2 records against poll: whole runs" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["poll", "10", "10.0", "s", "2.00", "kJ", "vendor-model"] in rows
    assert "adaptive is 2.00× faster and uses 1.67× less energy (category 3" in text
    assert "busy is 11 % slower and uses 1.39× more energy (category 8" in text
    assert len(text.splitlines()) <= 24


def test_any_record_may_be_the_baseline(three: Lull):
    assert "poll is 2.00× slower" in three.run("compare", "a", "b", "--baseline", "b").stdout
    assert "2 records against busy" in three.run("compare", "a", "b", "--baseline", "./c").stdout, "one more record"


def test_markdown_is_a_table_of_github(three: Lull):
    text = three.run("compare", "a", "b", "--format", "markdown").stdout
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert table[0] == "|  | poll | 95 % | adaptive | 95 % |  | ratio (95 %) | saved | shift | p |"
    assert table[1] == "| --- | ---: | ---: | ---: | ---: | --- | --- | ---: | ---: | ---: |"
    assert {line.replace("\\|", "").count("|") for line in table} == {11}
    assert any(line.startswith("| time | 10.0 s | 9.95") for line in table)
    assert "category 3" in text
    several = three.run("compare", "a", "b", "c", "--format", "markdown").stdout
    assert "| busy | 10 |" in several
    assert "8: slower and hotter" in several


def test_a_pipe_in_a_label_does_not_break_the_table(lull: Lull):
    records.write(lull.folder / "a", run("a|b"))
    records.write(lull.folder / "b", run("c", start=SOON))
    assert "| a\\|b | 95 % | c |" in lull.run("compare", "a", "b", "--format", "markdown").stdout


def test_mixed_kinds_are_labelled_by_the_weakest(three: Lull):
    told = json.loads(three.run("compare", "a", "guess", "--allow-mixed", "--format", "json").stdout)
    assert told["comparisons"][0]["kind"] == "estimated"


def test_two_records_of_a_thousand_runs_compare(lull: Lull):
    generator = np.random.default_rng(1)
    nothing = pa.Table.from_pylist([], schema=record.SAMPLES_SCHEMA)
    for name, scale in (("a", 10.0), ("b", 9.0)):
        seconds = generator.normal(scale, 0.2, 1000)
        of = run(name, seconds.tolist(), generator.normal(200, 5, 1000).tolist(), wire_bytes=10**9)
        record.write(lull.folder / name, of, nothing)
    done = lull.cold.run("compare", "a", "b")
    assert done.returncode == 0, done.stderr
    assert "1,000" in done.stdout
