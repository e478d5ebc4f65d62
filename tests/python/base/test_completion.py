"""The completions that shells request when a user presses the tabulator."""

import shutil
import subprocess

import pytest

from conftest import Lull
from lull.base.installed import applications, studies
from lull.cli import COMMANDS


def completed(lull: Lull, words: str) -> list[str]:
    """The completions that bash would offer for the last of the words."""
    lull.env |= {"_LULL_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = lull.cold.run()
    assert done.returncode == 0, done.stderr
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_commands_are_completed(lull: Lull) -> None:
    assert completed(lull, "lull ") == list(COMMANDS)
    assert completed(lull, "lull mea") == ["measure"]


def test_options_are_completed(lull: Lull) -> None:
    assert "--until-ci" in completed(lull, "lull measure --un")


def test_names_are_completed(lull: Lull) -> None:
    assert completed(lull, "lull study ") == list(studies())
    assert completed(lull, "lull help archive co") == ["convert"]
    assert completed(lull, "lull wait adap") == ["adaptive"]
    assert "fat-tree-4608" in completed(lull, "lull topology fat")
    assert completed(lull, "lull run hist") == [name for name in applications() if name.startswith("hist")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_is_one_that_it_reads(lull: Lull, shell: str) -> None:
    done = lull.run("completion", shell)
    assert done.returncode == 0 and "_LULL_COMPLETE" in done.stdout
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"there is no {shell}")
    read = subprocess.run([path, "-n"], input=done.stdout, capture_output=True, text=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")
