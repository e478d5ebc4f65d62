"""`lull show` and `lull list`: every kind of result, in every form; damaged ones; none."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import records
from conftest import Lull
from lull.present.forms import FORMS
from lull.record import Run
from records import run

NET = """
[topology]
name = "fat-tree"
radix = 4
[power]
mode = "deep-sleep"
[[jobs]]
pattern = "uniform"
load = 0.2
messages = 20
"""


@pytest.fixture
def results(lull: Lull) -> Lull:
    records.write(lull.folder / "results" / "first", run("first"))
    records.write(lull.folder / "results" / "study" / "second", run("second"))
    (lull.folder / "net.toml").write_text(NET)
    done = lull.run("simulate", "net.toml", "--out", "results/net")
    assert done.returncode == 0, done.stderr
    return lull


def test_a_list_has_every_result_below_a_folder(results: Lull) -> None:
    rows = {one["folder"]: one for one in json.loads(results.run("list", "--format", "json").stdout)}
    assert set(rows) == {"results/first", "results/study/second", "results/net"}
    assert rows["results/first"]["runs"] == 10
    assert rows["results/first"]["seconds"] == pytest.approx(10.0, rel=0.05)
    assert rows["results/first"]["kind"] == "vendor-model"
    assert rows["results/net"]["is_a"] == "simulation"
    text = results.run("list", "results/study").stdout
    assert "second" in text and "first" not in text
    read = list(csv.DictReader(io.StringIO(results.run("list", "--format", "csv").stdout)))
    assert {one["is_a"] for one in read} == {"run", "simulation"}


def test_the_newest_is_first_and_shown_by_default(results: Lull) -> None:
    newest = json.loads(results.run("list", "--format", "json").stdout)[0]["folder"]
    assert newest == "results/net", "the others were made at noon of a day long ago"
    assert results.run("show").stdout == results.run("show", "results/net").stdout


@pytest.mark.parametrize("form", FORMS)
def test_a_record_is_shown_in_every_form(results: Lull, form: str) -> None:
    done = results.run("show", "results/first", "--format", form)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    if form == "json":
        assert Run.model_validate_json(done.stdout).label == "first"
    elif form == "csv":
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        assert [one["repeat"] for one in rows] == [*(str(n) for n in range(1, 11)), "median"]
        assert float(rows[-1]["node_j"]) == pytest.approx(2000, rel=0.05)
    else:
        assert "median" in done.stdout
        assert "vendor-model" in done.stdout


def test_a_simulation_and_a_trace_are_shown(results: Lull) -> None:
    text = results.run("show", "results/net").stdout
    assert "fat-tree" in text
    assert "link power saved" in text


def test_a_damaged_result_is_listed_with_its_damage_and_not_shown(results: Lull) -> None:
    (results.folder / "results" / "first" / "run.json").write_text("{")
    done = results.run("list")
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stdout.splitlines() if line.startswith("results/first")]
    assert "–" in line
    shown = results.run("show", "results/first")
    assert (shown.returncode, shown.stdout, len(shown.stderr.splitlines())) == (1, "", 1)


def test_no_result_is_said_in_one_line(lull: Lull) -> None:
    done = lull.run("show")
    assert (done.returncode, done.stderr) == (
        1,
        "lull: show the newest result: there is none in results; name the folder of a result\n",
    )
    assert lull.run("list").returncode == 1
    Path(lull.folder / "results").mkdir()
    assert lull.run("list").stdout == "no results in results\n"
