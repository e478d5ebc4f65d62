"""The state of an experiment: what belongs together, what is whole, who may work there, what is moved or removed."""

from pathlib import Path

import pytest

from lull import record
from lull.base.errors import LullError
from lull.experiment.conditions import Conditions, identified
from lull.experiment.repeats import keep_repeat, load_repeats
from lull.experiment.state import CONDITIONS, LOCK, STATE, ExperimentState, has_only_begun, take_up
from records import repeat

BEGUN = Conditions(what="study", name="e", description="d", settings={"A": "1"}, node="n", points=["p"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, []),
        ({"name": "f"}, ["it holds the study e"]),
        ({"options": ["--quick"], "description": "x"}, ["it was started without --quick"]),
        ({"description": "x"}, ["its description has changed"]),
        ({"settings": {"B": "2"}}, ["A was 1 and is empty", "B was empty and is 2"]),
        ({"node": "m"}, ["it ran on n"]),
        ({"programs": {"/bin/a": "program sha256 1"}}, ["a has been rebuilt"]),
        ({"programs": {"/made/by/a/run": "file sha256 1"}}, []),
        ({"runs_before": {"p": 3}}, []),
    ],
)
def test_what_differs_is_said_in_words(change: dict[str, object], words: list[str]) -> None:
    assert BEGUN.differences(BEGUN.model_copy(update=change)) == words


def test_a_folder_that_a_kill_has_left_before_the_conditions_holds_nothing(tmp_path: Path) -> None:
    out = tmp_path / "o"
    assert not has_only_begun(out)
    (out / STATE).mkdir(parents=True)
    (out / STATE / LOCK).touch()
    (out / STATE / f".{CONDITIONS}.aside").touch()
    assert has_only_begun(out)
    (out / STATE / CONDITIONS).touch()
    assert not has_only_begun(out)
    (out / STATE / CONDITIONS).unlink()
    (out / "thesis.tex").touch()
    assert not has_only_begun(out)


def test_files_are_known_by_their_content(tmp_path: Path) -> None:
    deck = tmp_path / "deck"
    deck.write_text("one")
    before = BEGUN.model_copy(update={"programs": identified([deck])})
    deck.write_text("two")
    assert before.differences(BEGUN.model_copy(update={"programs": identified([deck])})) == ["deck has changed"]


def test_a_run_is_there_once_all_its_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExperimentState(tmp_path, "study") as state:
        monkeypatch.setattr(ExperimentState, "write", lambda self, path, content: seen.append(path.name))
        seen: list[str] = []
        state.keep("p", 3, b"{}", {"parquet": b"", "log": b""})
    assert seen == ["003.parquet", "003.log", "003.json"]


def test_repeats_come_back_as_they_were(tmp_path: Path) -> None:
    repeats = [repeat(index, 1.0 + index, 5.0) for index in range(2)]
    with ExperimentState(tmp_path, "study") as state:
        for one in repeats:
            assert not state.has("p", one.index)
            keep_repeat(state, "p", one, record.SAMPLES_SCHEMA.empty_table())
            assert state.has("p", one.index)
        assert load_repeats(state, "p", 2)[0] == repeats
        state.path("p", 1).write_text("{")
        with pytest.raises(LullError, match="damaged"):
            load_repeats(state, "p", 2)


def test_another_process_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    with ExperimentState(tmp_path, "sweep"), pytest.raises(LullError, match="another process works on a sweep there"):
        ExperimentState(tmp_path, "sweep")
    ExperimentState(tmp_path, "sweep").close()


def test_runs_without_conditions_belong_to_nothing(tmp_path: Path) -> None:
    with ExperimentState(tmp_path, "study") as state:
        take_up(state, BEGUN)
        state.keep("p", 0, b"{}")
    (tmp_path / STATE / CONDITIONS).unlink()
    with ExperimentState(tmp_path, "study") as state:
        with pytest.raises(LullError, match=r"conditions.json is missing; --fresh starts again"):
            take_up(state, BEGUN)
        take_up(state, BEGUN, fresh=True)
        assert state.conditions == BEGUN and not state.has("p", 0)


def test_other_conditions_move_everything_aside(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ExperimentState(out, "study", lambda: ["table.csv"]) as state:
        take_up(state, BEGUN)
        state.keep("p", 0, b"{}")
        state.write(out / "table.csv", b"")
        (out / "mine").touch()
    with ExperimentState(out, "study", lambda: ["table.csv"]) as state:
        words = take_up(state, BEGUN.model_copy(update={"node": "m"}))
        assert words == f"the former content of {out} is now in {out}-1: it ran on n"
        assert not state.has("p", 0) and not (out / "table.csv").exists()
    assert (tmp_path / "out-1" / STATE / "p" / "000.json").exists() and (tmp_path / "out-1" / "table.csv").exists()
    assert (out / "mine").exists()


def test_a_folder_with_something_else_is_refused_unless_shared(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(LullError, match="something else is there"):
        ExperimentState(tmp_path, "study")
    with ExperimentState(tmp_path, "measurement", shared=True) as state:
        state.begin(BEGUN)
        state.end()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
