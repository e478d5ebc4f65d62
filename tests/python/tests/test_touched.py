"""`scripts/touched`: the sources that clang-tidy checks in `make lint`."""

import shutil
import subprocess
from pathlib import Path

import pytest

from places import TOP

SCRIPT = TOP / "scripts" / "touched"


class Checkout:
    """A repository with three rooms: c includes b's header, which includes a's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "scripts").mkdir()
        shutil.copy(SCRIPT, folder / "scripts")
        for room, above in (("a", ""), ("b", '#include "a/a.hpp"\n'), ("c", '#include "b/b.hpp"\n')):
            self.write(f"src/{room}/{room}.hpp", above)
            self.write(f"src/{room}/{room}.cpp", f'#include "{room}/{room}.hpp"\n')
        self.git("init", "-q", "-b", "main")
        self.commit()

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=one", "-c", "user.email=one@localhost")
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True)

    def commit(self) -> None:
        self.git("add", ".")
        self.git("commit", "-q", "-m", "change")

    def touched(self, *base: str) -> list[str]:
        command = [self.folder / "scripts" / "touched", *base]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_changed_header_concerns_all_that_include_it_directly_or_by_others(checkout: Checkout) -> None:
    checkout.write("src/b/b.hpp", '#include "a/a.hpp"\nint b();\n')
    checkout.commit()
    assert checkout.touched() == ["src/b/b.cpp", "src/c/c.cpp"]


def test_the_newest_change_comes_first_and_the_working_tree_is_newest(checkout: Checkout) -> None:
    for room in ("c", "a"):
        checkout.write(f"src/{room}/{room}.cpp", "int changed;\n")
        checkout.commit()
    checkout.write("src/b/new.cpp", "")
    assert checkout.touched("HEAD~2") == ["src/b/new.cpp", "src/a/a.cpp", "src/c/c.cpp"]


def test_a_branch_is_compared_with_the_commit_at_which_it_left_origin_main(checkout: Checkout) -> None:
    checkout.git("update-ref", "refs/remotes/origin/main", "HEAD")
    for room in ("a", "b"):
        checkout.write(f"src/{room}/{room}.cpp", "int changed;\n")
        checkout.commit()
    assert checkout.touched() == ["src/b/b.cpp", "src/a/a.cpp"]
    checkout.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert checkout.touched() == ["src/b/b.cpp"]


def test_without_a_commit_to_compare_with_all_sources_count(checkout: Checkout) -> None:
    assert checkout.touched() == ["src/a/a.cpp", "src/b/b.cpp", "src/c/c.cpp"]
    assert checkout.touched("nonsense") == checkout.touched()


def test_there_is_a_limit(checkout: Checkout) -> None:
    for number in range(99):
        checkout.write(f"src/c/c{number}.cpp", "")
    checkout.commit()
    assert len(checkout.touched()) == 60
