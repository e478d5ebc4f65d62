"""The scenarios of tests/scenarios; its README describes the files."""

import re
import shlex
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

import records
from conftest import Lull
from places import TESTS

FOLDER = TESTS / "scenarios"


class Call(BaseModel):
    """A call of `lull` and what must hold after it."""

    model_config = ConfigDict(extra="forbid")

    says: str
    run: str
    exit: int = 0
    stdout: list[str] = []
    no_stdout: list[str] = []
    stderr: list[str] = []
    no_stderr: list[str] = []
    stdout_lines: int | None = None
    stderr_lines: int | None = None
    there: list[str] = []
    not_there: list[str] = []


class Scenario(BaseModel):
    """The initial state, and calls, each of which finds exactly that."""

    model_config = ConfigDict(extra="forbid")

    files: dict[str, str] = {}
    records: dict[str, dict[str, Any]] = {}
    env: dict[str, str] = {}
    before: list[str] = []
    call: list[Call]


def read(path: Path) -> Scenario:
    return Scenario.model_validate(tomllib.loads(path.read_text()))


def all_calls() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("*/*.toml")):
        name = f"{path.parent.name}/{path.stem}"
        try:
            scenario = read(path)
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            found.append(pytest.param(None, str(error), id=f"{name}: is not a scenario"))
            continue
        found += [pytest.param(scenario, call, id=f"{name}: {call.says}") for call in scenario.call]
    return found


def prepare(lull: Lull, scenario: Scenario) -> None:
    lull.env.update(scenario.env)
    for name, text in scenario.files.items():
        path = lull.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for number, (name, given) in enumerate(scenario.records.items()):
        words = {"label": name, "start": records.NOON + timedelta(seconds=30 * number), **given}
        renamed = {{"seconds": "times", "watts": "powers"}.get(key, key): value for key, value in words.items()}
        records.write(lull.folder / name, records.run(**renamed))
    for line in scenario.before:
        done = lull.run(*shlex.split(line))
        assert done.returncode == 0, f"before: lull {line}\n{done.stderr}"


def failures(lull: Lull, call: Call) -> tuple[list[str], str]:
    """The conditions that the call does not meet, and its output."""
    done = lull.run(*shlex.split(call.run))
    wrong = [f"exit code {done.returncode}, not {call.exit}"] if done.returncode != call.exit else []
    for name, text, wanted, unwanted, lines in (
        ("stdout", done.stdout, call.stdout, call.no_stdout, call.stdout_lines),
        ("stderr", done.stderr, call.stderr, call.no_stderr, call.stderr_lines),
    ):
        wrong += [f"not in {name}: {one}" for one in wanted if not re.search(one, text, re.MULTILINE)]
        wrong += [f"in {name}: {one}" for one in unwanted if re.search(one, text, re.MULTILINE)]
        if lines is not None and len(text.splitlines()) != lines:
            wrong.append(f"{name} has {len(text.splitlines())} lines, not {lines}")
    wrong += [f"not there: {one}" for one in call.there if not (lull.folder / one).exists()]
    wrong += [f"there: {one}" for one in call.not_there if (lull.folder / one).exists()]
    return wrong, f"--- stdout\n{done.stdout}--- stderr\n{done.stderr}"


@pytest.mark.parametrize(("scenario", "call"), all_calls())
def test_a_scenario_holds(lull: Lull, scenario: Scenario | None, call: Call | str) -> None:
    if scenario is None or isinstance(call, str):
        pytest.fail(str(call), pytrace=False)
    prepare(lull, scenario)
    wrong, printed = failures(lull, call)
    if wrong:
        pytest.fail(f"lull {call.run}\n" + "\n".join(wrong) + f"\n{printed}", pytrace=False)


def test_what_does_not_hold_is_named(lull: Lull) -> None:
    call = Call(says="", run="compare x", exit=0, stdout=["a table"], stderr_lines=0, there=["x"])
    wrong, printed = failures(lull, call)
    assert wrong == ["exit code 2, not 0", "not in stdout: a table", "stderr has 1 lines, not 0", "not there: x"]
    assert "one record alone" in printed
