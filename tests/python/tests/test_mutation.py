"""`make mutation`: what a mutant is, how a sample is drawn, and that the checkout does not change."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import gone
from places import TESTS

FOLDER = TESTS / "mutation"
sys.path.insert(0, str(FOLDER))

import mutants as made  # noqa: E402
import mutation  # noqa: E402
from working_copy import CopyError, WorkingCopy  # noqa: E402


def changes(path: str, source: str) -> list[str]:
    return [mutant.change for mutant in made.mutants(path, source.encode())]


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.cpp", "bool f(int a) { return a < 3; }", ["< -> <=", "< -> >=", "3 -> (3 + 1)"]),
        ("a.cpp", "int f(int a, int b) { return std::min(a, b); }", ["min -> max"]),
        ("a.cpp", "double f() { return 0.0 + 1e-9; }", ["0.0 -> 1.0", "+ -> -", "1e-9 -> (2 * 1e-9)"]),
        ("a.cpp", "void f() { if (g()) h(); }", ["g() -> !(g())", "h(); -> ;"]),
        ("a.cpp", "bool f(bool a) { return !a; }", ["! ->"]),
        ("a.py", "x = a and not b\n", ["and -> or", "not ->"]),
        ("a.py", "if a:\n    f(b)\n", ["a -> not (a)", "f(b) -> pass"]),
        ("a.py", "x = f'{a / b:.2f} 100'\n", ["/ -> *"]),
        ("a.py", "x = 1 if a is None else b\n", ["1 -> (1 + 1)", "is -> is not"]),
    ],
)
def test_a_mutant_changes_an_operator_a_number_a_condition_or_a_statement(
    path: str, source: str, expected: list[str]
) -> None:
    assert changes(path, source) == expected


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.cpp", "// a < b + 1\n/* c - 2 */\n"),
        ("a.cpp", '#include "a-1.hpp"\n#define LEAST 3 + 4\n'),
        ("a.cpp", 'const char* f() { return "{:.1f} + 2"; }'),
        ("a.cpp", "std::vector<std::array<int, 3>> f(); static_assert(1 < 2);"),
        ("a.py", '"""a < b + 1"""\n# c - 2\nx: dict[str, int]\n'),
    ],
)
def test_comments_texts_directives_and_types_have_no_mutants(path: str, source: str) -> None:
    assert changes(path, source) == []


def test_each_mutant_is_one_change_of_the_source() -> None:
    source = b"int f(int a) {\n  return a + a + 1;\n}\n"
    found = made.mutants("a.cpp", source)
    assert [mutant.applied(source).decode().splitlines()[1].strip() for mutant in found] == [
        "return a - a + 1;",
        "return a + a - 1;",
        "return a + a + (1 + 1);",
    ]
    assert len({mutant.identity for mutant in found}) == 3
    assert [mutant.line for mutant in found] == [2, 2, 2]


def test_a_change_elsewhere_leaves_the_draw_as_it_is() -> None:
    source = "int f(int a) { return a * 3; }\n"
    before = made.mutants("a.cpp", source.encode())
    after = made.mutants("a.cpp", f"int g() {{ return 5; }}\n\n{source}".encode())[1:]
    assert [mutant.rank(1) for mutant in before] == [mutant.rank(1) for mutant in after]
    assert [mutant.rank(1) for mutant in before] != [mutant.rank(2) for mutant in before]


def test_the_sample_is_dealt_by_weight() -> None:
    rooms = [mutation.Room(name, [], [], [], weight=weight) for name, weight in (("a", 1), ("b", 1), ("c", 0.5))]
    assert mutation.shares(200, rooms) == {"a": 80, "b": 80, "c": 40}
    assert sum(mutation.shares(7, rooms).values()) == 7


def checkout(folder: Path) -> Path:
    folder.mkdir()
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / "a.txt").write_text("one")
    (folder / "b.txt").write_text("two")
    return folder


def test_the_copy_follows_the_checkout_and_writes_only_what_differs(tmp_path: Path) -> None:
    top = checkout(tmp_path / "checkout")
    copy = WorkingCopy(top, tmp_path / "tree", tmp_path / "build")
    copy.update()
    written = (copy.tree / "b.txt").stat().st_mtime_ns
    (copy.tree / "a.txt").write_text("a mutant")
    (top / "c.txt").write_text("three")
    copy.update()
    assert {path.name: path.read_text() for path in copy.tree.iterdir()} == {
        "a.txt": "one",
        "b.txt": "two",
        "c.txt": "three",
    }
    assert (copy.tree / "b.txt").stat().st_mtime_ns == written
    (top / "a.txt").unlink()
    copy.update()
    assert not (copy.tree / "a.txt").exists()


def test_a_folder_that_is_no_checkout_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(CopyError, match="run this in a checkout"):
        WorkingCopy(tmp_path, tmp_path / "tree", tmp_path / "build").update()


def test_two_calls_do_not_share_a_copy(tmp_path: Path) -> None:
    first = WorkingCopy(tmp_path, tmp_path / "tree", tmp_path / "build")
    with pytest.raises(CopyError, match="another call"):
        WorkingCopy(tmp_path, first.tree, first.build)


def test_what_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    copy = WorkingCopy(tmp_path, tmp_path / "tree", tmp_path / "build")
    assert copy.run(["sh", "-c", "sleep 600 & sleep 600"], cpu_limit_s=0.02).status is None
    assert gone(str(copy.tree))  # which is in their environment


def test_what_computes_without_end_is_ended(tmp_path: Path) -> None:
    copy = WorkingCopy(tmp_path, tmp_path / "tree", tmp_path / "build")
    assert copy.run(["sh", "-c", "while :; do :; done"], cpu_limit_s=1).status is None


def test_an_unknown_room_is_refused_in_a_line() -> None:
    done = subprocess.run(
        [sys.executable, FOLDER / "mutation.py", "--room", "kitchen"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    [line] = done.stderr.splitlines()
    assert "statistics" in line and "kitchen" in line
