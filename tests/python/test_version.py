"""The version is the same wherever it is written."""

import re
from pathlib import Path

import pytest

import lull

TOP = Path(__file__).parents[2]


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
