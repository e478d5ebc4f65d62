"""`lull help COMMAND`, which shows what COMMAND --help shows."""

import pytest

from conftest import Lull


@pytest.mark.parametrize("words", [[], ["measure"], ["wait"], ["list"], ["archive"], ["archive", "convert"]])
def test_help_of_a_command_is_that_of_its_option(lull: Lull, words: list[str]) -> None:
    done = lull.run("help", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == lull.run(*words, "--help").stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["measur"], "no command 'measur', did you mean measure; lull --help shows how"),
        (["archive", "open"], "No such command 'open'; lull archive --help shows how"),
        (["trace", "convert"], "lull trace has no command 'convert'; lull trace --help shows how"),
    ],
)
def test_a_command_that_is_not_there_is_said_in_one_line(lull: Lull, words: list[str], line: str) -> None:
    done = lull.run("help", *words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"lull: {line}\n")
