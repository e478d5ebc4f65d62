"""The version is the same wherever it is written, and in every process that Lull starts of itself."""

import re
import subprocess
from pathlib import Path

import pytest

import lull
from bounds import TIMEOUT_S
from lull.base import installed
from places import TOP


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CMakeLists.txt", r"project\(lull VERSION (\S+)"),
        ("pyproject.toml", r'(?m)^version = "(.+)"'),
        ("CITATION.cff", r"(?m)^version: (.+)$"),
        ("CHANGELOG.md", r"(?m)^## \[Unreleased\] \((.+)\)"),
    ],
)
def test_every_file_says_the_same_version(file: str, pattern: str) -> None:
    found = re.search(pattern, (TOP / file).read_text())
    assert found is not None and found[1] == lull.__version__


def test_a_module_runs_in_a_process_of_its_own_where_python_does_not_find_lull(tmp_path: Path) -> None:
    (tmp_path / "lull").mkdir()
    (tmp_path / "lull" / "__main__.py").write_text("print('another')")
    command = installed.module_command("lull", "--version")
    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == lull.__version__
