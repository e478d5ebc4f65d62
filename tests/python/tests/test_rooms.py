"""`make check ROOM=...`: every test belongs to a room, what a room names exists, and a room uses what it may."""

import re
import subprocess
import sys
import tomllib
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

import pytest

from places import TESTS

TOP = TESTS.parent
ROOMS = tomllib.loads((TESTS / "rooms.toml").read_text())


def patterns(of: str) -> set[str]:
    return {pattern for room in ROOMS.values() for pattern in room.get(of, [])}


def test_every_program_is_of_a_room_and_every_room_names_programs() -> None:
    there = {path.stem for path in (TESTS / "run").rglob("*.c*") if path.stem != "slack"}  # a measurement
    assert not {name for name in there if not any(fnmatch(name, pattern) for pattern in patterns("run"))}
    assert not {pattern for pattern in patterns("run") if not any(fnmatch(name, pattern) for name in there)}


def test_every_python_test_lies_in_the_folder_of_a_room() -> None:
    files = list((TESTS / "python").rglob("test_*.py"))
    folders = {path.relative_to(TESTS / "python").parts[0] for path in files}
    assert folders <= set(ROOMS)
    assert len({path.name for path in files}) == len(files), "pytest imports two of one name as one"
    assert not [pattern for pattern in patterns("also") if not list((TESTS / "python").glob(pattern))]
    empty = [name for name, room in ROOMS.items() if name not in folders and not room.keys() & {"unit", "run", "also"}]
    assert not empty, "rooms without a test"


def test_unit_tests_are_those_of_rooms_that_say_so() -> None:
    calls = "".join(path.read_text() for path in (TESTS / "unit").rglob("*") if path.suffix in {".cmake", ".txt"})
    made = [line.strip() for line in calls.splitlines() if line.strip().startswith("lull_unit_test(")]
    named = {line.partition("(")[2].split()[0] for line in made}
    assert named == {name for name, room in ROOMS.items() if room.get("unit")}


@pytest.mark.parametrize("room", [[], ["kitchen"]])
def test_without_a_room_or_with_an_unknown_one_the_rooms_are_listed(room: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, TOP / "scripts" / "check", *room], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert all(name in line for name in ROOMS)


def rooms_of_source() -> dict[str, set[str]]:
    """The rooms of src/ and what each may use, according to docs/explanation/what-is-where.md."""
    page = (TOP / "docs" / "explanation" / "what-is-where.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `src/(\w+)/` \|.*\| ([\w, ]*) ?\|$", page, re.MULTILINE)
    return {room: {used.strip() for used in uses.split(",") if used.strip()} for room, uses in rows}


def test_a_room_of_the_source_includes_only_what_the_page_allows() -> None:
    rooms = rooms_of_source()
    assert set(rooms) == {path.name for path in (TOP / "src").iterdir() if path.is_dir()}
    wrong = []
    for room, allowed in rooms.items():
        for path in sorted((TOP / "src" / room).rglob("*.[ch]pp")):
            for used in re.findall(r'^#include "(\w+)/', path.read_text(encoding="utf-8"), re.MULTILINE):
                if used in rooms and used != room and used not in allowed:
                    wrong.append(f"{path.relative_to(TOP)} includes {used}")
    assert wrong == []


def test_the_rooms_of_the_source_make_no_circle() -> None:
    rooms = rooms_of_source()
    while rooms:
        lowest = [room for room, uses in rooms.items() if not uses & rooms.keys()]
        assert lowest, f"these use each other in a circle: {', '.join(rooms)}"
        for room in lowest:
            del rooms[room]


def test_only_the_room_of_transports_includes_ucx() -> None:
    including = [
        path.relative_to(TOP).parts[1]
        for path in (TOP / "src").rglob("*.[ch]pp")
        if re.search(r"^#include <uc[pst]/", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert set(including) == {"transport"}


# The table of forms refers to the form of blocks, which are themselves files.
TOLERATED = {("stage", "files", "blocks")}


def test_the_folders_of_a_room_make_no_circle() -> None:
    for room in sorted(rooms_of_source()):
        uses: dict[str, set[str]] = {}
        for path in (TOP / "src" / room).glob("*/**/*"):
            if path.suffix not in {".c", ".h", ".cpp", ".hpp"}:
                continue
            folder = path.relative_to(TOP / "src" / room).parts[0]
            used = re.findall(rf'^#include "{room}/(\w+)/', path.read_text(encoding="utf-8"), re.MULTILINE)
            uses.setdefault(folder, set()).update(set(used) - {folder})
        for _, folder, other in (one for one in TOLERATED if one[0] == room):
            uses[folder].discard(other)
        while uses:
            lowest = [folder for folder, others in uses.items() if not others & uses.keys()]
            assert lowest, f"these folders of {room} include each other in a circle: {', '.join(uses)}"
            for folder in lowest:
                del uses[folder]


def test_no_folder_has_more_files_than_one_can_read() -> None:
    command = ["git", "ls-files", "src", "include", "python", "tests/run"]
    listed = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is no checkout")
    folders = Counter(str(Path(name).parent) for name in listed.stdout.splitlines())
    assert not {folder: count for folder, count in folders.items() if count > 27}  # some 25 are better


def test_the_build_finds_every_table_of_settings() -> None:
    tables = {str(path.relative_to(TOP / "src")) for path in (TOP / "src").rglob("settings.hpp")}
    assert all(len(Path(table).parts) == 2 for table in tables), "CMake looks for src/ROOM/settings.hpp"
