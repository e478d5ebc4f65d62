"""How choices of the runtime turned out, from the file that a job writes to the plot and the table of a report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import records
from conftest import Lull
from lull import record
from lull.record import Alternative, Choice, Run
from lull.record.append import add_repeats
from lull.record.choices import typical_choices
from lull.regions.accounts import read_accounts
from lull.report.write import write_report
from places import TESTS
from records import run, samples


def choice(name: str = "coalesce", regret_s: float = 0.5, observed_ns: float | None = 4000, where: str = "") -> Choice:
    """The outcome of a choice in a job of 4 PEs, which took the first of two alternatives."""
    return Choice(
        choice=name,
        where=where,
        per="put",
        processes=4,
        wall_s=2.5,
        switches=3,
        alternatives=[
            Alternative(name="alone", predicted_ns=3000, corrected_ns=3900, observed_ns=observed_ns, operations=100),
            Alternative(name="coalesced", predicted_ns=200, corrected_ns=300, operations=0),
        ],
        regret_s=regret_s,
    )


def with_choices(of: Run, *choices: Choice) -> Run:
    """The same record, with `choices` in each repeat."""
    return of.model_copy(
        update={"repeats": [repeat.model_copy(update={"choices": list(choices)}) for repeat in of.repeats]}
    )


def leave(folder: Path, **change: object) -> None:
    content = {"schema": 1, "choices": [choice().model_dump()]} | change
    (folder / "choices-pes-n1-7.json").write_text(json.dumps(content))


def test_what_a_job_left_is_in_the_record_of_its_run(tmp_path: Path) -> None:
    leave(tmp_path)
    found = read_accounts(tmp_path)
    assert (found.choices, found.warnings) == ([choice()], [])


def test_what_cannot_be_read_is_left_out_with_a_line(tmp_path: Path) -> None:
    leave(tmp_path, schema=2)
    found = read_accounts(tmp_path)
    assert found.choices == []
    [line] = found.warnings
    assert line.startswith("choices-pes-n1-7.json of the program is left out: ")


def test_choices_are_kept_where_records_are_appended(tmp_path: Path) -> None:
    of = with_choices(run(times=[10.0]), choice())
    folder = records.write(tmp_path / "r", of)
    assert [one.choices for one in add_repeats(folder, of, samples(of)).repeats] == [[choice()], [choice()]]


def test_the_regret_is_a_share_of_the_time_of_all_processes() -> None:
    assert choice().regret_share == pytest.approx(0.5 / (4 * 2.5))


def test_choices_are_medians_over_repeats_and_kinds_of_operations_stay_apart() -> None:
    of = run(times=[1.0, 1.0, 1.0])
    repeats = [
        repeat.model_copy(update={"choices": [choice(regret_s=regret, observed_ns=observed), choice(where="small")]})
        for repeat, regret, observed in zip(of.repeats, (0.1, 0.3, 9.0), (3000.0, None, 5000.0), strict=True)
    ]
    all_sizes, small = typical_choices(repeats)
    assert (all_sizes.name, small.name) == ("coalesce", "coalesce, small")
    assert all_sizes.regret_s == 0.3
    assert all_sizes.taken.name == "alone"
    assert all_sizes.taken.observed_ns == 4000
    assert all_sizes.taken.error == pytest.approx(-0.25)
    assert all_sizes.alternatives[1].error is None


@pytest.mark.parametrize("choose", ["auto", "off"])
def test_a_measured_job_keeps_what_its_choices_came_to(lull: Lull, choose: str) -> None:
    wrong = TESTS / "run" / "machines" / "wrong.toml"
    lull.env = {"LULL_STATS": "1", "LULL_CHOOSE": choose, "LULL_MACHINE": str(wrong)}
    program = ["histogram", "--updates", "20000", "--table", "1000"]
    done = lull.run("measure", "--runs", "1", "--out", "r", "--", "lull", "run", "-n", "2", "--nodes", "2", *program)
    assert done.returncode == 0, done.stderr
    [repeat] = record.read(lull.folder / "r").repeats
    [route] = [one for one in repeat.choices if one.choice == "route"]
    # one PE on each of two nodes: further hops between whole nodes would lead nowhere
    assert {one.name for one in route.alternatives} == {
        "per-pe, 1 hop",
        "per-pe, 2 hops",
        "per-pe, 3 hops",
        "per-node, 1 hop",
    }
    items = sum(one.operations for one in route.alternatives)
    assert 0.5 * 2 * 20000 < items <= 2 * 20000  # the first of a phase may go directly
    messages = [one for one in repeat.choices if one.choice == "coalesce"]
    assert messages
    for alone in (one.alternatives[0] for one in messages):
        assert alone.predicted_ns == 300
        assert (alone.corrected_ns == 300) == (choose == "off")
        assert (alone.observed_ns is None) == (choose == "off")


def page(folder: Path, *runs: Run) -> str:
    folders = [records.write(folder / of.label, of) for of in runs]
    write_report(folders, folder / "out.html")
    return (folder / "out.html").read_text(encoding="utf-8")


def test_a_report_shows_predicted_against_observed_with_the_regret(tmp_path: Path) -> None:
    text = page(tmp_path, with_choices(run("a"), choice(), choice("copy-source", regret_s=2.0, where="up to 4 KiB")))
    [section] = re.findall(r'<section id="choices">.*?</section>', text, re.DOTALL)
    rows = [re.sub(r"<[^>]*>", "|", row) for row in re.findall(r"<tbody>(.*?)</tbody>", section, re.DOTALL)]
    assert "copy-source, up to 4 KiB" in rows[0].split("\n")[0]  # most regret first
    assert "3.00 µs" in rows[0]
    assert "−25 %" in rows[0]
    assert "2.00 s (20 %)" in rows[0]
    assert "predicted 3.00 µs, corrected 3.90 µs, observed 4.00 µs per put" in section


def test_without_anything_observed_there_is_a_table_and_no_plot(tmp_path: Path) -> None:
    text = page(tmp_path, with_choices(run("a"), choice(observed_ns=None)))
    [section] = re.findall(r'<section id="choices">.*?</section>', text, re.DOTALL)
    assert "<svg" not in section
    assert "<tbody>" in section


def test_a_report_without_choices_says_nothing_of_them(tmp_path: Path) -> None:
    assert "Choices of the runtime" not in page(tmp_path, run("a"))
