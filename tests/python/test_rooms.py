"""`make check ROOM=...`: every test is of a room, and what a room names is there."""

import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROOMS = tomllib.loads((TESTS / "rooms.toml").read_text())


def patterns(of: str) -> set[str]:
    return {pattern for room in ROOMS.values() for pattern in room.get(of, [])}


@pytest.mark.parametrize(
    ("of", "there"),
    [
        ("python", {path.name for path in (TESTS / "python").glob("test_*.py")}),
        ("run", {path.stem for path in (TESTS / "run").glob("*.c*") if path.stem != "slack"}),  # a measurement
    ],
)
def test_every_test_is_of_a_room_and_every_room_names_tests(of: str, there: set[str]) -> None:
    assert not {name for name in there if not any(fnmatch(name, pattern) for pattern in patterns(of))}
    assert not {pattern for pattern in patterns(of) if not any(fnmatch(name, pattern) for name in there)}


def test_unit_tests_are_those_of_rooms_that_say_so() -> None:
    calls = "".join(path.read_text() for path in (TESTS / "unit").rglob("*") if path.suffix in {".cmake", ".txt"})
    named = {line.partition("(")[2].split()[0] for line in calls.splitlines() if line.startswith("lull_unit_test(")}
    assert named == {name for name, room in ROOMS.items() if room.get("unit")}


@pytest.mark.parametrize("room", [[], ["kitchen"]])
def test_without_a_room_or_with_an_unknown_one_the_rooms_are_listed(room: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, TESTS.parent / "scripts" / "check", *room], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert all(name in line for name in ROOMS)
