"""Statements of papers compared with the model's results for machine files: from the file, each with its source."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Lull
from lull import _core
from lull.base import installed
from lull.base.errors import LullError
from lull.model.machine import MACHINES, Machine, read_machine
from lull.study.kinds import read_study
from lull.study.publications.description import PublishedStatement, StudyOfPublications
from lull.study.publications.predicted import FIGURES
from lull.study.publications.results import NO_PREDICTION, NOT_REPRODUCED, POSSIBLE, REPRODUCED, judge, told
from places import TOP

DOCUMENTATION = TOP / "docs" / "explanation"
RATIOS = "sandy-bridge-ratios"
SMALL = """
kind = "publications"
title = "t"
question = "q"
[[papers]]
title = "p"
authors = ["a"]
[[papers.statements]]
says = "s"
where = "table 1"
machine = "{machine}"
figure = "less_power_idle"
paper = -16
unit = "%"
"""


@pytest.fixture(scope="module")
def study() -> StudyOfPublications:
    return read_study(installed.studies()["published-machines"])


def statements(study: StudyOfPublications) -> list[PublishedStatement]:
    return [one for paper in study.papers for one in paper.statements]


def machine_of(study: StudyOfPublications, name: str) -> Machine:
    own = study.machines.get(name)
    return read_machine(name) if own is None else Machine.model_validate(own)


def test_each_statement_says_where_the_paper_has_it_and_each_term_where_it_is_from(study: StudyOfPublications) -> None:
    assert len(study.papers) == 5
    assert all(one.where for one in statements(study))
    for one in statements(study):
        assert machine_of(study, one.machine).measured is None  # so that its format requires a source of each figure
        assert not one.see or (DOCUMENTATION / f"{one.see}.md").is_file()


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('where = "table 1"\n', "", "where"),
        ('where = "table 1"\n', 'where = ""\n', "where"),
        ('figure = "less_power_idle"', 'figure = "less_power"', "less_power_idle"),
        ("paper = -16\n", "", "paper"),
        ('unit = "%"', 'see = "link-power"', "one of figure, needs and see"),
        ("[[papers]]", "[machines.m.watts]\nnic = { value = 1 }\n[[papers]]", "source"),
    ],
)
def test_a_statement_without_its_source_or_figure_is_refused(
    tmp_path: Path, before: str, after: str, words: str
) -> None:
    text = SMALL.format(machine="nw-ice")
    assert before in text
    path = tmp_path / "s.toml"
    path.write_text(text.replace(before, after, 1))
    with pytest.raises(LullError, match=words):
        read_study(path)


@pytest.mark.parametrize(
    ("figure", "machine", "change"),
    [
        ("wire_over_node", "frontier", ("value = 60", "value = 61")),
        ("share_of_core", "grid5000-nancy", ("cores = 4", "cores = 5")),
        ("more_frequency", "nw-ice", ("1900000", "1800000")),
        ("less_power_idle", "nw-ice", ("value = 278.6", "value = 270")),
        ("least_energy", "nw-ice", ("value = 335.7", "value = 340")),
        ("output_change", "grid5000-nancy", ("ns_per_byte = {value = 8,", "ns_per_byte = {value = 9,")),
        ("output_change", "grid5000-rennes", ("cores = 24", "cores = 12")),
        ("cpu_uses_close", "grid5000-nancy", ("cores = 4", "cores = 8")),
        ("switches", "sleeping-links-fat-tree", ('"fat-tree-4608"', '"hyperx-4608"')),
        ("packet_us", "sleeping-links-dragonfly", ("value = 0.08", "value = 0.04")),
        ("wake_over_packet", "sleeping-links-dragonfly", ('"100GBASE-R"', '"25GBASE-R"')),
        ("saved_deep", "sleeping-links-dragonfly", ('"100GBASE-R"', '"100GBASE-R"\ndeep_share = 0.2')),
        ("saved_fast", "sleeping-links-dragonfly", ('"100GBASE-R"', '"100GBASE-R"\nfast_share = 0.2')),
    ],
)
def test_another_term_in_the_machine_file_is_another_figure(
    study: StudyOfPublications, tmp_path: Path, figure: str, machine: str, change: tuple[str, str]
) -> None:
    text = (MACHINES / f"{machine}.toml").read_text()
    assert change[0] in text
    path = tmp_path / "changed.toml"
    path.write_text(text.replace(*change, 1))
    asked = [one for one in statements(study) if (one.figure, one.machine) == (figure, machine)]
    assert asked
    before, after = ([told(one, read_machine(name)).model for one in asked] for name in (machine, str(path)))
    assert before != after and None not in (*before, *after)


@pytest.mark.parametrize("term", ["gap_ns", "latency_ns"])
def test_so_it_is_of_the_terms_that_the_study_has_taken(study: StudyOfPublications, term: str) -> None:
    machine = machine_of(study, RATIOS).model_dump()
    machine["transports"]["network"]["pieces"][0][term]["value"] *= 2
    asked = [one for one in statements(study) if one.machine == RATIOS and one.figure == "non_blocking_change"]
    changed = Machine.model_validate(machine)
    assert all(told(one, changed).model != told(one, machine_of(study, RATIOS)).model for one in asked)


def test_every_function_of_the_model_is_asked_for_by_some_statement(study: StudyOfPublications) -> None:
    assert {one.figure for one in statements(study)} - {""} == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_a_file_without_the_term_is_not_filled_in(study: StudyOfPublications, name: str) -> None:
    if name == "share_of_core":
        return  # every node has a core
    one = next(one for one in statements(study) if one.figure == name)
    found = told(one, Machine(title="nothing is known"))
    assert (found.verdict, found.model) == (NO_PREDICTION, None)
    assert "the file has no" in found.why


def test_what_the_model_cannot_express_is_said_by_what_the_file_lacks() -> None:
    one = PublishedStatement(says="s", where="w", machine="m", needs=["watts.nic", "transports.network.pieces.gap_ns"])
    assert told(one, read_machine("frontier")).why == "the file has no transports.network.pieces.gap_ns"
    one = one.model_copy(update={"needs": ["watts.nic"]})
    assert told(one, read_machine("frontier")).why == "no cost function takes what the file has"


@pytest.mark.parametrize(
    ("relation", "paper", "model", "verdict"),
    [
        ("about", 100, 91, REPRODUCED),
        ("about", -100, -111, NOT_REPRODUCED),
        ("at least", 10, 10.5, REPRODUCED),
        ("at least", 10, 9, NOT_REPRODUCED),
        ("at most", 0, -1, REPRODUCED),
        ("at most", 0, 1, NOT_REPRODUCED),
        ("least", -6, -13, POSSIBLE),
        ("least", -14, -13, NOT_REPRODUCED),
        ("most", 1, 2, POSSIBLE),
        ("most", 1, 0.9, NOT_REPRODUCED),
    ],
)
def test_a_verdict_follows_from_the_two_figures_alone(relation: str, paper: float, model: float, verdict: str) -> None:
    asked = {"says": "s", "where": "w", "machine": "m", "figure": "switches", "paper": paper, "relation": relation}
    assert judge(PublishedStatement.model_validate(asked), model) == verdict


def test_a_stream_of_messages_costs_what_the_model_of_transfers_says() -> None:
    pieces = [(0.0, [10.0, 1.0, 2.0, 5.0, 0.5, 0.25, 0.0, 0.0]), (100.0, [20.0, 0.0, 0.0, 7.0, 1.0, 1.0, 0.0, 0.0])]
    assert _core.stream_ns(pieces, 8, 1) == pytest.approx(13 + 2)
    assert _core.stream_ns(pieces, 8, 3) == pytest.approx(15 + 2 * (5 + 4))
    assert _core.stream_ns(pieces, 200, 2) == pytest.approx(220 + 207)
    with pytest.raises(_core.CoreUsageError, match="no piece"):
        _core.stream_ns([], 8, 1)


def test_packing_two_copies_is_what_its_letters_say() -> None:
    machine = Machine.model_validate(
        {
            "transports": {"network": {"pieces": [
                {"from_bytes": 0, **{key: {"value": value, "source": "s"} for key, value in
                                     (("latency_ns", 100), ("gap_ns", 10), ("ns_per_byte", 1))}}
            ]}},
            "memory": {"copy_cold_bytes_per_s": {"value": 2e9, "source": "s"}},
        }
    )  # fmt: skip
    ppq = 100 + 1000 + 3 * 10
    assert FIGURES["packing_change"](machine, {"payload": 1000, "puts": 4, "copies": 2}) == pytest.approx(
        100 * ((2 * 500 + 1100 + 108) / ppq - 1)
    )
    assert FIGURES["non_blocking_change"](machine, {"payload": 1000, "puts": 4}) == pytest.approx(
        100 * (ppq / (4 * 350) - 1)
    )


def test_the_study_prints_each_paper_and_runs_nothing(lull: Lull, study: StudyOfPublications) -> None:
    done = lull.run("study", "published-machines")
    assert done.returncode == 0, done.stderr
    assert all(paper.title in done.stdout for paper in study.papers)
    assert done.stdout.count("\npaper: ") == len(statements(study))
    assert "simulated" in done.stdout
    assert not (lull.folder / "results").exists()


@pytest.mark.parametrize("option", ["--quick", "--fresh", "--grid=a", "--workers=2", "--out=o"])
def test_options_of_studies_that_run_something_are_refused(lull: Lull, option: str) -> None:
    done = lull.run("study", "published-machines", option)
    assert done.returncode == 2
    assert option.partition("=")[0] in done.stderr and "leave it out" in done.stderr


@pytest.mark.parametrize(
    ("figure", "given", "words"),
    [
        ("least_energy", "{}", "given.slower is missing"),
        ("least_energy", '{ slower = "a" }', "given.slower is 'a'"),
        ("packing_from", "{ payload = 0 }", "given.payload is 0"),
        ("output_change", '{ site = "nancy", quantity = "watts", of = "a", over = "b" }', "a"),
        ("output_change", '{ site = "nancy", quantity = "volts", of = "a", over = "b" }', "quantity or over is wrong"),
        ("wire_over_node", '{ node = "nowhere" }', "there is none of that name"),
    ],
)
def test_a_wrong_parameter_is_one_line(lull: Lull, figure: str, given: str, words: str) -> None:
    machine = {"output_change": "grid5000-nancy", "wire_over_node": "frontier"}.get(figure, "nw-ice")
    text = SMALL.format(machine=machine).replace('"less_power_idle"', f'"{figure}"\ngiven = {given}')
    (lull.folder / "s.toml").write_text(text)
    done = lull.run("study", "s.toml")
    assert done.returncode == 2, done.stdout
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_study_of_ones_own_asks_for_ones_own_machine(lull: Lull) -> None:
    text = (MACHINES / "nw-ice.toml").read_text()
    (lull.folder / "mine.toml").write_text(text.replace("value = 335.7", "value = 278.6"))
    (lull.folder / "s.toml").write_text(SMALL.format(machine="mine.toml"))
    done = lull.run("study", "s.toml")
    assert done.returncode == 0, done.stderr
    assert "model: not reproduced: 0 %; by mine.toml" in done.stdout
