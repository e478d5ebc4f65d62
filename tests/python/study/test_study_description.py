"""The description of a study, its points, and the verdict on a claim: pure parts."""

import importlib
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from lull.base import installed
from lull.base.errors import LullError, UsageError
from lull.present.runs_progress import in_words
from lull.record import EnergyKind
from lull.study.kind import Request
from lull.study.kinds import KINDS, read_study, run_study, study_kind
from lull.study.runs.claims import (
    DOES_NOT,
    REPRODUCES,
    UNDECIDED,
    ObservedRatio,
    StudyComparison,
    find,
    judge,
    wire_over_node,
)
from lull.study.runs.description import Check, PaperResult, StudyOfRuns
from lull.study.runs.needs import NEEDS, Needed, without_missing
from lull.study.runs.points import Places, all_points, pairs
from records import TIMES, run

MINIMAL = """
title = "t"
question = "q"
command = ["echo", "{size}", "--n={size}"]
[factors]
size = [1, 2.5]
mode = ["a", "b"]
[values.mode.b.env]
LULL_WAIT = "poll"
[[compare]]
name = "modes"
baseline = { mode = "a" }
candidate = { mode = "b" }
for_each = ["size"]
"""


def described(folder: Path, text: str):
    path = folder / "s.toml"
    path.write_text(text)
    return read_study(path)


def places(folder: Path) -> Places:
    return Places(folder, folder / "inputs")


def test_points_are_all_combinations_with_their_own_environment(tmp_path: Path) -> None:
    found = all_points(described(tmp_path, MINIMAL), places(tmp_path))
    assert [point.name for point in found] == ["size-1.mode-a", "size-1.mode-b", "size-2_5.mode-a", "size-2_5.mode-b"]
    assert found[2].command == ["echo", "2.5", "--n=2.5"]
    assert [point.env for point in found[:2]] == [{}, {"LULL_WAIT": "poll"}]


def test_values_that_need_what_is_missing_here_are_no_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needing = '[values.mode.b]\nneeds = "frequency"\n[values.mode.b.env]'
    whole = described(tmp_path, MINIMAL.replace("[values.mode.b.env]", needing))
    reason = ["there is no cpufreq"]
    monkeypatch.setitem(NEEDS, "frequency", Needed("a frequency", lambda: reason[0]))
    study, lines = without_missing(whole)
    assert lines == ["no points with mode b, which need a frequency: there is no cpufreq"]
    assert [point.name for point in all_points(study, places(tmp_path))] == ["size-1.mode-a", "size-2_5.mode-a"]
    assert pairs(study, study.compare[0]) == []
    reason[0] = ""
    assert without_missing(whole) == (whole, [])


def test_the_study_of_waiting_lowers_frequencies_only_where_they_can_be() -> None:
    waiting = read_study(installed.studies()["waiting"]).values["wait"]
    assert {name for name, meaning in waiting.items() if meaning.needs == "frequency"} == {
        "poll+dvfs",
        "interrupt+dvfs",
    }


def test_the_arguments_of_a_value_may_name_other_factors(tmp_path: Path) -> None:
    nested = (
        MINIMAL.replace("[values.mode.b.env]", 'a.args = ["x", "{size}", "y{size}"]\n[values.mode.b.env]')
        .replace("a.args", "[values.mode]\na.args")
        .replace('["echo", "{size}", ', '["echo", "{mode}", ')
    )
    nested += '[values.size]\n1.args = ["--one", "1"]\n'
    found = all_points(described(tmp_path, nested), places(tmp_path))
    assert found[0].command == ["echo", "x", "--one", "1", "y1", "--n=1"]
    assert found[1].command == ["echo", "b", "--n=1"]
    circular = nested.replace('1.args = ["--one", "1"]', '1.args = ["{mode}"]')
    with pytest.raises(LullError, match="contain themselves"):
        all_points(described(tmp_path, circular), places(tmp_path))


def test_a_comparison_is_made_for_each_value_of_what_is_held_fixed(tmp_path: Path) -> None:
    study = described(tmp_path, MINIMAL)
    assert pairs(study, study.compare[0]) == [
        ({"size": size}, {"size": size, "mode": "a"}, {"size": size, "mode": "b"}) for size in (1, 2.5)
    ]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('title = "t"', 'titel = "t"', "no key 'titel' here, did you mean title?"),
        ("for_each", "for_eahc", "compare.0: no key 'for_eahc' here, did you mean for_each?"),
        ('["size"]', '["sise"]', "no factor 'sise', did you mean size?"),
        ('for_each = ["size"]', "", "it does not say at which size"),
        ('"{size}"', '"{sise}"', "no placeholder 'sise', did you mean size?"),
        ('"{size}"', '"{prepared:x}"', "nothing prepares 'x', there are none"),
        ("[values.mode.b.env]", "[values.mode.b.evn]", "values.mode.b: no key 'evn' here, did you mean env?"),
        ("size = [1, 2.5]", "size = []", "factors.size: "),
        ("size = [1, 2.5]", "size = [true]", "factors.size.0"),
        ("size = [1, 2.5]", "here = [1]", "the placeholder here has another meaning"),
        ('title = "t"', "title = ", "it is not TOML"),
        ("[factors]", "[measure]\nruns = 0\n[factors]", "measure.runs"),
        ("[factors]", "[measure]\nmax_runs = 9\n[factors]", "max_runs is for until_ci"),
        ("[factors]", "[measure]\nuntil_ci = 2\nmax_runs = 5\n[factors]", "max_runs = 5 is too few: until_ci takes 10"),
        ("[factors]", "[quick.measure]\nrnus = 5\n[factors]", "no key 'rnus' here, did you mean runs?"),
        (
            "[factors]",
            '[[paper_results]]\nsays = "x"\nchecks = [{compare = "mode", quantity = "speedup", '
            'relation = "above", than = 1}]\n[factors]',
            "no comparison 'mode', did you mean modes?",
        ),
    ],
)
def test_a_mistake_in_the_description_is_one_line_that_says_where(
    tmp_path: Path, before: str, after: str, words: str
) -> None:
    assert before in MINIMAL
    with pytest.raises(LullError) as caught:
        described(tmp_path, MINIMAL.replace(before, after, 1))
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_two_points_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LullError, match="two points are both named"):
        all_points(described(tmp_path, MINIMAL.replace('["a", "b"]', '["a", "b", "a/", "a:"]')), places(tmp_path))


def test_the_studies_that_come_with_lull_are_well_formed() -> None:
    assert "aggregation" in installed.studies()
    for path in installed.studies().values():
        study = read_study(path)
        if not isinstance(study, StudyOfRuns):
            continue  # test_study_of_simulations.py, test_study_choices.py, test_study_published.py
        quick = study.made_quick()
        for comparison in quick.compare:
            named = (comparison.baseline | comparison.candidate).items()
            assert pairs(quick, comparison) or any(value not in quick.factors[name] for name, value in named)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('kind = "run"', "kind: there is no 'run'; did you mean runs?"),
        ("kind = 3", "kind: there is no 3"),
        ('kind = ["runs"]', "kind: there is no ['runs']"),
        ("[simulation]", 'it has the tables of a study of simulations; write kind = "simulations" at its top'),
        ("[[papers]]", 'it has the tables of a study of publications; write kind = "publications" at its top'),
        (
            "",
            "it says no kind, so it is read as a study of runs, which requires command, factors and compare; "
            'add them, or write kind = "simulations", "choices" or "publications" at its top',
        ),
        ("[measure]", 'add them, or write kind = "choices" at its top'),
        ('command = ["x"]\n[factors]', "compare: Field required"),
        ('kind = "runs"', "command: Field required"),
        ('kind = "runs"\n[simulation]', "no key 'simulation' here"),
        ("[simulatoin]", "no key 'simulatoin' here"),
    ],
)
def test_a_kind_that_does_not_fit_the_file_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f'title = "t"\nquestion = "q"\n{text}\n')
    with pytest.raises(LullError) as caught:
        read_study(path)
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


SONGS = '''
"""Studies of songs: every point is a song."""
from typing import Literal
from lull.experiment.conditions import Conditions
from lull.experiment.state import ExperimentState, take_up
from lull.study.file import Study
from lull.study.kind import RUNNING, StudyKind

class StudyOfSongs(Study):
    """A whole study of songs."""
    kind: Literal["songs"]
    songs: list[str]

def run(whole, request, results):
    now = Conditions(what="study", name="s", description="", settings={}, node="", points=whole.songs)
    with ExperimentState(request.folder, "study", results) as state:
        take_up(state, now, fresh=request.fresh)
        state.write(state.out / "songs.txt", "".join(whole.songs).encode())

KIND = StudyKind("songs", StudyOfSongs, RUNNING, run, results=("songs.txt",))
'''


def test_another_kind_takes_a_module_and_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kind_of_songs.py").write_text(SONGS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(KINDS, "songs", "kind_of_songs")
    file, out = tmp_path / "s.toml", tmp_path / "out"
    file.write_text('kind = "songs"\ntitle = "t"\nquestion = "q"\nsongs = ["a"]\n')
    run_study(Request(file, out=out))
    assert (out / "songs.txt").read_text() == "a"
    file.write_text(file.read_text().replace('"a"', '"b"'))
    (out / "choices.json").write_text("from a study of choices")
    run_study(Request(file, out=out, fresh=True))
    assert {path.name for path in out.iterdir()} == {".state", "songs.txt"}
    with pytest.raises(UsageError, match="--grid is not for studies of songs"):
        run_study(Request(file, out=out, grids=("x",)))
    file.write_text('title = "t"\nquestion = "q"\nsongs = ["a"]\n')
    with pytest.raises(LullError, match='write kind = "songs" at its top'):
        read_study(file)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_described_where_the_reference_looks_for_it(name: str) -> None:
    kind = study_kind(name)
    assert kind.name == name
    assert re.fullmatch(rf"Studies of {name}: \w[^\n]*\.", importlib.import_module(KINDS[name]).__doc__ or "")
    assert kind.description.__doc__


@pytest.mark.parametrize(
    ("relation", "low", "high", "verdict"),
    [
        ("above", 1.1, 1.3, REPRODUCES),
        ("above", 0.9, 1.3, UNDECIDED),
        ("above", 0.7, 0.9, DOES_NOT),
        ("below", 0.7, 0.9, REPRODUCES),
        ("below", 0.9, 1.1, UNDECIDED),
        ("below", 1.1, 1.3, DOES_NOT),
        ("above", None, None, UNDECIDED),
    ],
)
def test_a_claim_holds_only_when_its_whole_interval_does(
    relation: str, low: float | None, high: float | None, verdict: str
) -> None:
    check = Check.model_validate({"compare": "modes", "quantity": "greenup", "relation": relation, "than": 1.0})
    assert judge(check, ObservedRatio(1.0, low, high, EnergyKind.ESTIMATED)) == verdict


def compared(low: float, high: float, **fixed: int) -> StudyComparison:
    ratio = SimpleNamespace(value=(low + high) / 2, low=low, high=high)
    comparison = SimpleNamespace(speedup=ratio, greenup=ratio, powerup=ratio, kind=EnergyKind.ESTIMATED)
    return StudyComparison("modes", dict(fixed), "", comparison, None, None)


def claim(quantity: str, **only: list[int]) -> PaperResult:
    check = {"compare": "modes", "quantity": quantity, "relation": "above", "than": 1, "only": only}
    return PaperResult.model_validate({"says": "x", "checks": [check]})


def test_one_contrary_comparison_is_enough_not_to_reproduce() -> None:
    seen = [compared(1.5, 2, nodes=1), compared(0.5, 0.8, nodes=2)]
    assert find(claim("speedup"), seen, None).verdict == DOES_NOT
    assert find(claim("speedup", nodes=[1]), seen, None).verdict == REPRODUCES


def test_a_finding_about_energy_names_its_kind() -> None:
    found = find(claim("greenup"), [compared(1.5, 2)], None)
    assert "estimated energy" in found.words
    assert found.verdict == f"{REPRODUCES} in the estimate"
    assert "estimated" not in find(claim("speedup"), [compared(1.5, 2)], None).words


def test_a_claim_may_be_about_what_the_programs_report() -> None:
    less, more = (run(metrics={"node_joules": at}) for at in (40, 50))
    of_metric = {"compare": "modes", "metric": "node_joules", "relation": "below", "than": 0.9}
    result = PaperResult.model_validate({"says": "x", "checks": [of_metric]})
    found = find(result, [StudyComparison("modes", {}, "", SimpleNamespace(), more, less)], None)
    assert (found.verdict, found.words) == (REPRODUCES, "Ratio of node_joules 0.8 (0.8 to 0.8)")
    assert find(result, [StudyComparison("modes", {}, "", SimpleNamespace(), less, more)], None).verdict == DOES_NOT


def test_a_check_is_about_one_thing() -> None:
    for wrong in ({}, {"quantity": "speedup", "metric": "x"}):
        with pytest.raises(ValueError, match="either a quantity or a metric"):
            Check.model_validate({"compare": "modes", "relation": "above", "than": 1, **wrong})


def test_of_many_figures_the_least_and_the_greatest_are_told() -> None:
    seen = [compared(low, low + 0.1, nodes=place) for place, low in enumerate((1.5, 0.5, 9, 0.95, 3))]
    words = find(claim("speedup"), seen, None).words
    assert words == (
        "Speedup above 1 in 3 of 5, the contrary in 1, from Speedup 0.55 (0.5 to 0.6) to Speedup 9.05 (9 to 9.1)"
    )


def test_a_claim_about_points_outside_the_matrix_cannot_be_told() -> None:
    assert find(claim("speedup", nodes=[64]), [compared(1.5, 2, nodes=1)], None).verdict == UNDECIDED


def test_durations_are_said_as_a_person_does() -> None:
    assert [in_words(s) for s in (5.2, 130, 9000)] == ["about 5 s", "about 2 min", "about 2.5 h"]


def test_energy_on_the_wire_has_an_interval_only_from_enough_runs() -> None:
    few, enough = (wire_over_node(run("A", times, wire_bytes=1 << 40), None) for times in (TIMES[:5], TIMES))
    assert few is not None and few.low is None and few.high is None
    assert enough is not None and enough.low is not None and enough.high is not None
    energies = [run("A", [time], wire_bytes=1 << 40) for time in TIMES]
    ratios = [found.value for one in energies if (found := wire_over_node(one, None)) is not None]
    assert min(ratios) < enough.low < enough.value < enough.high < max(ratios)
