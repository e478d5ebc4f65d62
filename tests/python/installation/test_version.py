"""The version is the same in all places, and in every process that Lull starts by itself."""

import re
import subprocess
import sys
from importlib import metadata
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


@pytest.mark.parametrize("package", ["click", "pyarrow", "numpy"])
def test_a_package_that_is_not_installed_is_one_line(tmp_path: Path, package: str) -> None:
    hidden = f"import sys; sys.modules[{package!r}] = None; sys.argv = ['lull', 'measure', '--', 'true']"
    command = [sys.executable, "-c", f"{hidden}; from lull.start import main; main()"]
    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith(f"lull: start: Python package {package} is missing; ")


def test_the_installed_command_begins_where_that_is_said() -> None:
    [command] = metadata.entry_points(group="console_scripts", name="lull")
    assert command.value == "lull.start:main"
