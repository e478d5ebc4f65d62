"""The cases of a product for `make test`: all pairs of values, every case in a year, the same for the same seed."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import run_cases
from covering import DAYS, cover, pairs, seed_of_today, share
from places import TESTS

WHOLE = run_cases.whole_product()
ALWAYS = run_cases.always()


@pytest.mark.parametrize("seed", [0, 1, 366])
def test_each_pair_of_values_is_met_by_few_cases(seed: int) -> None:
    chosen = run_cases.chosen(seed)
    assert pairs(chosen) == pairs(WHOLE)
    assert set(ALWAYS) <= chosen <= set(WHOLE)
    assert len(chosen) < len(WHOLE) / 10


def test_each_program_meets_each_value_that_it_can_run_with() -> None:
    def met(cases: Any) -> set[tuple[object, int, object]]:
        return {(case.program, factor, value) for case in cases for factor, value in enumerate(case)}

    assert met(run_cases.chosen(7)) == met(WHOLE)


def test_every_case_is_chosen_within_a_year() -> None:
    assert share(WHOLE, 7) <= run_cases.chosen(7)
    assert set().union(*(share(WHOLE, seed) for seed in range(1, DAYS + 1))) == set(WHOLE)


def test_the_seed_alone_decides() -> None:
    assert cover(WHOLE, 5) == cover(WHOLE, 5) != cover(WHOLE, 6)


@given(st.sets(st.tuples(*[st.integers(0, 3)] * 3), min_size=1), st.integers(0, 1000))
def test_pairs_of_any_part_of_a_product_are_met(cases: set[tuple[int, int, int]], seed: int) -> None:
    assert pairs(cover(sorted(cases), seed)) == pairs(cases)


def test_of_one_factor_all_values_are_taken() -> None:
    assert cover([("a",), ("b",)], 1) == {("a",), ("b",)}


def test_the_seed_is_the_variables_or_the_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEED", "12345")
    assert seed_of_today() == 12345
    monkeypatch.delenv("SEED")
    assert 1 <= seed_of_today() <= 366


def test_ctest_is_told_of_all_cases_and_which_are_left_for_another_day(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SEED", "3")
    run_cases.main(["lull-launch", "tests/run", "600"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("(")[1].split()[0] for line in lines[::2]] == [case.name for case in WHOLE]
    today = {line.split("(")[1].split()[0] for line in lines[1::2] if 'LABELS "rest"' not in line}
    assert today == {case.name for case in run_cases.chosen(3)}


@pytest.mark.parametrize("options", [[], ["--some"]])
def test_of_marked_tests_some_cases_are_taken(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "test_marked.py").write_text(
        "import pytest\n"
        "@pytest.mark.pairwise\n@pytest.mark.parametrize('a', range(4))\n@pytest.mark.parametrize('b', range(4))\n"
        "@pytest.mark.parametrize('c', range(4))\ndef test_pairs(a, b, c): pass\n"
        "@pytest.mark.in_turn(3)\n@pytest.mark.parametrize('a', range(9))\ndef test_turns(a): pass\n"
        "@pytest.mark.in_turn(3)\n@pytest.mark.parametrize('a', range(2))\ndef test_few(a): pass\n"
        "def test_always(): pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "--collect-only", "-q", "--rootdir=.", *options, "."],
        cwd=tmp_path,
        env={**os.environ, "SEED": "3", "PYTHONPATH": f"{TESTS / 'python'}:{TESTS / 'python' / 'support'}"},
        capture_output=True,
        text=True,
        check=True,
    )
    counts = Counter(line.split("::")[1].split("[")[0] for line in done.stdout.splitlines() if "::" in line)
    if not options:
        assert counts == {"test_pairs": 64, "test_turns": 9, "test_few": 2, "test_always": 1}
    else:
        assert 16 <= counts.pop("test_pairs") < 30
        assert counts == {"test_turns": 3, "test_few": 1, "test_always": 1}
